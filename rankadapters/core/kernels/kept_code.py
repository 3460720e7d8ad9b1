"""Machine code on disk: a file is whole and of these sources, or it is not read."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from rankadapters.core import __version__

FAILURES: list[Exception] = []  # why machine code could not be kept
SIGNATURE = 32  # bytes at the end of a file
BEING_WRITTEN = 60  # seconds: what has been written for longer was left by a process that is gone


LOCATORS = CompileResultCacheImpl._locator_classes  # noqa: SLF001 - which differ by release, and in their names too
UserWide: Any = next(each for each in LOCATORS if each.__name__.endswith("UserWideCacheLocator"))


class InAHome(UserWide):  # type: ignore[misc]
    """The user's cache folder; none where the system knows no home, for which numba would make a folder named `~`."""

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        """Find it, or None."""
        return (
            super().from_function(function, file) if Path(cls(function, file).get_cache_path()).is_absolute() else None
        )


class Places(CompileResultCacheImpl):
    """Where machine code can be kept, the best first."""

    _locator_classes = [InAHome if each is UserWide else each for each in LOCATORS]  # noqa: RUF012 - as numba has it


class KeptCode(FunctionCache):
    """numba's cache of a function, for which a disk that is full or files that are broken are no reason to stop."""

    _impl_class = Places

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        base = self._impl.filename_base
        self._cache_file = WholeFiles(self.cache_path, base, self._impl.locator.get_source_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the code for some types; None where there is none that can be read, which is then compiled."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - unpickling raises whatever it meets, such as a class that is gone
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code; where that fails it serves this process alone."""
        try:
            super().save_overload(sig, data)
        except Exception as error:  # noqa: BLE001 - a full disk, or code that Ctrl-C kept from numba's own bookkeeping
            if not FAILURES and sys.stderr is not None and sys.stderr.isatty():
                print(f"rankadapters: machine code cannot be kept: {error}; see NUMBA_CACHE_DIR", file=sys.stderr)  # noqa: T201
            FAILURES.append(error)


class WholeFiles(IndexDataCacheFile):
    """A file for each function and types, without an index.

    numba writes an index and then the file that it points to, and numbers the files. A process that is killed between
    the two leaves an index of today's sources that points to yesterday's machine code, and two processes that compile
    for different types at once take the same number. Here a name is made of all that the code depends on, and a
    checksum stands at the end, for what a machine loses that stops.
    """

    def __init__(self, folder: str, function: str, source_stamp: Any) -> None:
        super().__init__(folder, function, source_stamp)
        self._function = f"{function}."
        self._sources = f"{self._function}{_digest(numba.__version__, __version__, source_stamp)}."

    def save(self, key: Any, data: Any) -> None:
        """Write a file beside and rename it; remove what older sources, and processes that were killed, left."""
        self._save_data(self._name(key), data)
        for path in Path(self._cache_path).glob(f"{self._function}*"):
            with suppress(OSError):
                if not path.name.startswith(self._sources) or _is_abandoned(path):
                    path.unlink()

    def load(self, key: Any) -> Any:
        """Read a file; None where there is none, or not a whole one."""
        name = self._name(key)
        try:
            content = Path(self._data_path(name)).read_bytes()
        except OSError:
            return None
        return self._load_data(name) if _signed(content[:-SIGNATURE]) == content else None

    def _dump(self, obj: Any) -> bytes:
        return _signed(super()._dump(obj))  # unpickling passes over what stands behind

    def _name(self, key: Any) -> str:
        return f"{self._sources}{_digest(*key)}.nbc"


def _is_abandoned(path: Path) -> bool:
    return ".tmp." in path.name and time.time() - path.stat().st_mtime > BEING_WRITTEN


def _signed(content: bytes) -> bytes:
    return content + sha256(content).digest()


def _digest(*several: object) -> str:
    return sha256(repr(several).encode()).hexdigest()[:16]
