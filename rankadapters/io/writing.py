"""Writing a file, for the command and the pytest plugin alike."""

from __future__ import annotations

from pathlib import Path

from rankadapters.core.errors import InputError
from rankadapters.io.text import AnyPath


def write_text(path: AnyPath, text: str) -> None:
    """Write a text file in the place of any there is; folders that are missing are made.

    Raises
    ------
    InputError
        It cannot be written.
    """
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}.\nHint: the path of a file in a folder of yours."
        raise InputError(msg) from None
