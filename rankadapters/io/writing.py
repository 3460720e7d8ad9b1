"""Write files atomically, for the command and the pytest plugin: a failed write leaves the old file unchanged."""

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
    """Write a text file, replacing an existing one; make missing folders.

    The text is written to a hidden file in the same folder, which then replaces the file, so that a full disk or a
    signal changes nothing. Pipes, devices and our standard output are written directly, and a link stays a link.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    with _input_errors(path):
        _make_folder(path)
        _write(Path(path), text.encode(errors="backslashreplace"))


def require_writable(path: AnyPath) -> None:
    """Create a file's folder, and raise an error if the file cannot be written; the file itself stays unchanged.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    with _input_errors(path):
        _make_folder(path)
        target = Path(path)
        if _status(target) is None:
            _make_hidden_file(target).unlink()
        else:
            target.open("ab").close()


@contextmanager
def _input_errors(path: AnyPath) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}.\nHint: the path of a file in a folder of yours."
        raise InputError(msg) from None


def _make_folder(path: AnyPath) -> None:
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
        hidden = _make_hidden_file(target)
    except PermissionError:
        if status is None:
            raise
        target.write_bytes(data)  # the file is writable, but its folder is not
        return
    try:
        _fill(hidden, data)
        if status is not None:
            _copy_permissions(hidden, status)
        hidden.replace(target)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _may_be_replaced(status: os.stat_result) -> bool:
    """Return whether a file may be replaced: pipes, devices, and our stdout and stderr must be written in place."""
    standard = [os.fstat(number) for number in (1, 2) if _is_open(number)]
    return S_ISREG(status.st_mode) and not any(os.path.samestat(status, output) for output in standard)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _make_hidden_file(target: Path) -> Path:
    """Make an empty hidden file in the target's folder, with default permissions."""
    hidden = target.with_name(f".rankadapters-{secrets.token_hex(8)}")
    hidden.open("xb").close()
    return hidden


def _fill(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _copy_permissions(hidden: Path, status: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(hidden, status.st_uid, status.st_gid)
    hidden.chmod(S_IMODE(status.st_mode))
