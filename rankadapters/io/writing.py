"""Writing a file, for the command and the pytest plugin alike: it is there whole, or as it was before."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES
from pathlib import Path
from stat import S_IMODE, S_ISREG

from rankadapters.core.errors import InputError
from rankadapters.io.text import AnyPath


def write_text(path: AnyPath, text: str) -> None:
    """Write a text file, in place of the one that is there; missing folders are made.

    The text is written to a hidden file in the same folder, which then replaces the file, so that a full disk or a
    signal changes nothing. Pipes, devices and our standard output are written as they are, and a link stays a link.

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
        if _status(target) is None:
            _beside(target).unlink()
        else:
            target.open("ab").close()


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
    status = _status(path)
    if status is not None and not _may_be_replaced(status):
        path.write_bytes(data)
        return
    if status is not None and not os.access(path, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES))
    target = Path(os.path.realpath(path))
    try:
        beside = _beside(target)
    except PermissionError:
        if status is None:
            raise
        target.write_bytes(data)  # a file of ours in a folder of another user, where nothing can be made beside it
        return
    try:
        _fill(beside, data)
        if status is not None:
            _set_like(beside, status)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _may_be_replaced(status: os.stat_result) -> bool:
    """Tell a file from pipes and devices, and from our own standard output, which replacing it would not change."""
    standard = [os.fstat(number) for number in (1, 2) if _is_open(number)]
    return S_ISREG(status.st_mode) and not any(os.path.samestat(status, output) for output in standard)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
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


def _set_like(beside: Path, status: os.stat_result) -> None:
    """Set the permissions and, where that is allowed, the owner of the file that is replaced."""
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(beside, status.st_uid, status.st_gid)
    beside.chmod(S_IMODE(status.st_mode))
