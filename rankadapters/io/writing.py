"""Writing a file, for the command and the pytest plugin alike: it is there whole, or as it was before."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, ELOOP
from pathlib import Path

from rankadapters.core.errors import InputError
from rankadapters.io.text import AnyPath

OPEN_FILES = ("/dev/", "/proc/")  # where paths lead to what a process has open, such as its standard output
MOST_LINKS = 40  # that Linux follows


def write_text(path: AnyPath, text: str) -> None:
    """Write a text file in the place of any there is; folders that are missing are made.

    It is written beside, in a hidden file, and then renamed, so that one that ends early, by a disk that is full or a
    signal, changes nothing. Pipes and devices are written as they are, and a link stays one.

    Raises
    ------
    InputError
        It cannot be written.
    """
    with _told(path):
        _folder(path)
        _write(Path(path), text.encode(errors="backslashreplace"))


def require_writable(path: AnyPath) -> None:
    """Make a file's folder, and raise where the file could not be written, without changing it.

    Raises
    ------
    InputError
        It cannot be written.
    """
    with _told(path):
        _folder(path)
        target = Path(path)
        if target.exists():
            target.open("ab").close()
        else:
            _beside(target).unlink()


@contextmanager
def _told(path: AnyPath) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}.\nHint: the path of a file in a folder of yours."
        raise InputError(msg) from None


def _folder(path: AnyPath) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)


def _write(path: Path, data: bytes) -> None:
    target = Path(os.path.realpath(path))
    exists = path.exists()
    if exists and (not path.is_file() or _is_open_file(path)):
        path.write_bytes(data)
        return
    if target.is_symlink():  # one of a circle
        raise OSError(ELOOP, os.strerror(ELOOP))
    if exists and not os.access(target, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES))
    try:
        beside = _beside(target)
    except PermissionError:
        if not exists:
            raise
        target.write_bytes(data)  # a file of ours in a folder of another's, where nothing can stand beside it
        return
    try:
        _fill(beside, data)
        if exists:
            _like(beside, target)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _is_open_file(path: Path) -> bool:
    """Tell whether a path leads to a file by way of what is open, which renaming another file would not change."""
    place = os.path.normpath(path.absolute())
    for _ in range(MOST_LINKS):
        if place.startswith(OPEN_FILES):
            return True
        if not Path(place).is_symlink():
            return False
        place = os.path.normpath(Path(place).parent / Path(place).readlink())
    return True


def _beside(target: Path) -> Path:
    """Make an empty hidden file with the permissions of a new one."""
    beside = target.with_name(f".rankadapters-{secrets.token_hex(8)}")
    beside.open("xb").close()
    return beside


def _fill(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _like(beside: Path, target: Path) -> None:
    """Give a file the permissions, and where that is allowed the owner, of the one that it replaces."""
    was = target.stat()
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(beside, was.st_uid, was.st_gid)
    shutil.copymode(target, beside)
