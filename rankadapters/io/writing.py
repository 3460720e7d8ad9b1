"""Write files for the command: a failed write leaves the old file unchanged."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

from rankadapters.core.errors import InputError
from rankadapters.io.text import AnyPath


def write_text(path: AnyPath, text: str) -> None:
    """Write a text file; make missing folders.

    The text is written to a hidden file in the same folder, which then replaces the file, so that a full disk or a
    signal changes nothing. Pipes, devices and our standard output are written directly, and a link stays a link.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    data, target = text.encode(errors="backslashreplace"), Path(os.path.realpath(path))
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if _is_fixed(path, target.parent):
            Path(path).write_bytes(data)
            return
        hidden = target.with_name(f".rankadapters-{secrets.token_hex(8)}")
        try:
            hidden.write_bytes(data)
            with suppress(FileNotFoundError):  # a new file has the permissions of the umask
                shutil.copymode(target, hidden)
            hidden.replace(target)
        finally:
            hidden.unlink(missing_ok=True)
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}."
        raise InputError(msg, hint="the path of a file in a folder of yours") from None


def _is_fixed(path: AnyPath, folder: Path) -> bool:
    """Return whether a path may not be replaced: a pipe, a device, our stdout or stderr, or without permission."""
    try:
        status = Path(path).stat()
    except FileNotFoundError:
        return False
    for stream in (1, 2):
        with suppress(OSError):  # of a closed stream
            if os.path.samestat(status, os.fstat(stream)):
                return True
    return not (S_ISREG(status.st_mode) and os.access(path, os.W_OK) and os.access(folder, os.W_OK))
