"""Standard input as a file: an argument `-` becomes the path of a temporary copy, which can be read more than once."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from rankadapters.core.errors import InputError

NAME = "standard input"  # name of the copy, and of the model whose scores it holds

_folders = ExitStack()  # removes the folder of the copy


def file(text: str) -> str:
    """Argparse type of a path or NAME=path; `-` becomes the path of a copy of standard input."""
    name, equals, path = text.rpartition("=")
    if path != "-" or "_ARGCOMPLETE" in os.environ:  # a completion must not wait for input
        return text
    try:
        return f"{name}{equals}{_copied()}"
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


@cache
def _copied() -> Path:
    """Copy standard input to a file, once, and return its path."""
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("standard input is closed.", hint="pipe a file into it, or name a file in place of '-'")
    path = Path(_folders.enter_context(TemporaryDirectory(prefix="rankadapters-")), NAME)
    with path.open("wb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
    return path


@contextmanager
def removing_copy() -> Iterator[None]:
    """Remove the copy of standard input when the block ends, however it ends."""
    try:
        yield
    finally:
        _folders.close()
        _copied.cache_clear()


def without_copy(message: str) -> str:
    """Return a message in which the copy is called `standard input`."""
    return message.replace(str(_copied()), NAME) if _copied.cache_info().currsize else message
