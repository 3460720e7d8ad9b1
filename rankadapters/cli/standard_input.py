"""Standard input and pipes as files: such an argument becomes the path of a temporary copy, to be read repeatedly."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rankadapters.core.errors import InputError

NAME = "standard input"  # name of the copy, and of the model whose scores it holds

_folders = ExitStack()  # removes the folders of the copies
_copies: dict[str, Path] = {}  # by the path on the command line


def file(text: str) -> str:
    """Argparse type of a path or NAME=path; `-` and a pipe, such as <(command), become the path of a copy."""
    from rankadapters.io.text import is_pipe

    if "_ARGCOMPLETE" in os.environ:  # a completion must not wait for input
        return text
    name, equals, path = ("", "", text) if is_pipe(text) else text.rpartition("=")
    if path != "-" and not is_pipe(path):
        return text
    try:
        return f"{name}{equals}{_copied(path)}"
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _copied(path: str) -> Path:
    """Copy standard input or a pipe to a file, once, and return its path."""
    from rankadapters.io.text import copied

    if path not in _copies:
        _copies[path] = _copy_of_standard_input() if path == "-" else _folders.enter_context(copied(path))
    return _copies[path]


def _copy_of_standard_input() -> Path:
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("standard input is closed.", hint="pipe a file into it, or name a file in place of '-'")
    path = Path(_folders.enter_context(TemporaryDirectory(prefix="rankadapters-")), NAME)
    with path.open("wb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
    return path


@contextmanager
def removing_copies() -> Iterator[None]:
    """Remove the copies when the block ends, however it ends."""
    try:
        yield
    finally:
        _folders.close()
        _copies.clear()


def without_copies(message: str) -> str:
    """Return a message that names `standard input` and the pipes in place of their copies."""
    for path, copy in _copies.items():
        message = message.replace(str(copy), NAME if path == "-" else path)
    return message
