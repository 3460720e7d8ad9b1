"""Machine code on disk: only complete files compiled from the current sources are loaded."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from rankadapters.core import __version__

FAILURES: list[Exception] = []  # errors that prevented keeping machine code
SIGNATURE = 32  # bytes of the checksum at the end of a file
BEING_WRITTEN = 60  # seconds; an older temporary file was left by a process that ended
PACKAGE = Path(__file__).parents[2]


LOCATORS = CompileResultCacheImpl._locator_classes  # noqa: SLF001 - their number and names differ between releases
UserWide: Any = next(locator for locator in LOCATORS if locator.__name__.endswith("UserWideCacheLocator"))


class HomeLocator(UserWide):  # type: ignore[misc]
    """The user's cache folder; without a home folder, numba would create one named `~`."""

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        """Return a locator, or None without a home folder."""
        return (
            super().from_function(function, file) if Path(cls(function, file).get_cache_path()).is_absolute() else None
        )


class CacheLocations(CompileResultCacheImpl):
    """Folders where machine code can be kept, best first."""

    _locator_classes = [HomeLocator if locator is UserWide else locator for locator in LOCATORS]  # noqa: RUF012 - as in numba


class KeptCode(FunctionCache):
    """numba's cache of a function; a full disk or broken files raise no error."""

    _impl_class = CacheLocations

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        base = self._impl.filename_base
        self._cache_file = CheckedFiles(self.cache_path, base, self._impl.locator.get_source_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the code for argument types; None if there is no readable code, so that numba compiles it."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - unpickling can raise any error, such as for a removed class
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code; if that fails, only this process uses it."""
        try:
            super().save_overload(sig, data)
        except Exception as error:  # noqa: BLE001 - such as a full disk, or a Ctrl-C during numba's bookkeeping
            if not FAILURES and sys.stderr is not None and sys.stderr.isatty():
                print(f"rankadapters: machine code cannot be kept: {error}; see NUMBA_CACHE_DIR", file=sys.stderr)  # noqa: T201
            FAILURES.append(error)


class CheckedFiles(IndexDataCacheFile):
    """One file per function and argument types, without an index.

    numba writes an index and then a numbered file that it points to. A process killed in between leaves an index of new
    sources that points to old machine code, and two processes that compile at the same time can take the same number.
    Here the file name is a hash of all that the code depends on, and the file ends with a checksum, which detects files
    cut short by a crash.
    """

    def __init__(self, folder: str, function: str, source_stamp: Any) -> None:
        super().__init__(folder, function, source_stamp)
        self._function = f"{function}."
        self._sources = f"{self._function}{_digest(numba.__version__, __version__, kernel_sources(), source_stamp)}."

    def save(self, key: Any, data: Any) -> None:
        """Write a temporary file and rename it; remove files of older sources and of killed processes."""
        self._save_data(self._name(key), data)
        for path in Path(self._cache_path).glob(f"{self._function}*"):
            with suppress(OSError):
                if not path.name.startswith(self._sources) or _is_abandoned(path):
                    path.unlink()

    def load(self, key: Any) -> Any:
        """Read a file; None if it is missing or incomplete."""
        name = self._name(key)
        try:
            content = Path(self._data_path(name)).read_bytes()
        except OSError:
            return None
        return self._load_data(name) if _signed(content[:-SIGNATURE]) == content else None

    def _dump(self, obj: Any) -> bytes:
        return _signed(super()._dump(obj))  # unpickling ignores the checksum at the end

    def _name(self, key: Any) -> str:
        return f"{self._sources}{_digest(*key)}.nbc"


@cache
def kernel_sources() -> str:
    """Return a digest of all files of kernels: a kernel's machine code contains the kernels that it calls."""
    files = sorted(PACKAGE.glob("*/kernels/**/*.py"))
    return _digest(*((file.relative_to(PACKAGE).as_posix(), sha256(file.read_bytes()).digest()) for file in files))


def _is_abandoned(path: Path) -> bool:
    return ".tmp." in path.name and time.time() - path.stat().st_mtime > BEING_WRITTEN


def _signed(content: bytes) -> bytes:
    return content + sha256(content).digest()


def _digest(*values: object) -> str:
    return sha256(repr(values).encode()).hexdigest()[:16]
