"""A folder for large temporary files, of which nothing stays, however the process ends."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where nothing tells a folder in use from one that a killed process left
    fcntl = None  # type: ignore[assignment]

PREFIX = "rankadapters-scratch-"
_LOCK = "in-use"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder in the system's place for temporary files, which `TMPDIR` names, and remove it at the end.

    While it is in use a file in it is locked, by the system and not by its content. A lock goes with its process, so
    that the next call finds and removes what a killed one left.
    """
    _remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = _locked(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _locked(folder: Path) -> int:
    """Lock a file before it gets the name by which others look for it."""
    early = folder / f"{_LOCK}-soon"
    lock = os.open(early, os.O_CREAT | os.O_RDWR)
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)
    early.rename(folder / _LOCK)
    return lock


def _remove_abandoned() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    """Tell whether no process holds the lock; where that cannot be told, as with another user's folder, it stays."""
    if fcntl is None:
        return False
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
