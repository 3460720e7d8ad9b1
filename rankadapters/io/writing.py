"""Write files atomically, for the command: a failed write leaves the old file unchanged."""

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
    data = text.encode(errors="backslashreplace")
    with _input_errors(path) as status:
        target = Path(os.path.realpath(path))
        if status is not None and not _may_be_replaced(status):
            Path(path).write_bytes(data)
        elif status is not None and not os.access(path, os.W_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
        elif status is not None and not os.access(target.parent, os.W_OK):
            target.write_bytes(data)
        else:
            _replace(target, data, status)


@contextmanager
def _input_errors(path: AnyPath) -> Iterator[os.stat_result | None]:
    """Make the file's folder and yield the status of the file; None if there is no file yet."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        try:
            status = Path(path).stat()
        except FileNotFoundError:
            status = None
        yield status
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}."
        raise InputError(msg, hint="the path of a file in a folder of yours") from None


def _may_be_replaced(status: os.stat_result) -> bool:
    """Return whether a file may be replaced: pipes, devices, and our stdout and stderr must be written in place."""
    if not S_ISREG(status.st_mode):
        return False
    for number in (1, 2):
        with suppress(OSError):  # of a closed stream
            if os.path.samestat(status, os.fstat(number)):
                return False
    return True


def _replace(target: Path, data: bytes, status: os.stat_result | None) -> None:
    """Write a hidden file, with the permissions of the file that it replaces."""
    hidden = _hidden_file(target)
    try:
        hidden.write_bytes(data)
        if status is not None:
            hidden.chmod(S_IMODE(status.st_mode))
        hidden.replace(target)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise


def _hidden_file(target: Path) -> Path:
    """Make an empty hidden file in the target's folder, with default permissions."""
    hidden = target.with_name(f".rankadapters-{secrets.token_hex(8)}")
    hidden.open("xb").close()
    return hidden
