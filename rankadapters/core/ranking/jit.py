"""Functions that numba compiles at their first call, with their machine code kept on disk.

Importing a jitted function does not import numba. The machine code is in a folder named by a digest of all kernel
files, since a function's machine code contains the functions that it calls.
"""

from __future__ import annotations

import logging
import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, update_wrapper
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import RLock
from typing import Any
from uuid import uuid4

import numpy as np

from rankadapters.core import __version__
from rankadapters.core.errors import MissingToolkitError

PACKAGE = Path(__file__).parents[2]
KERNELS = ("core/ranking/*.py", "objectives/kernels/**/*.py", "learners/kernels/**/*.py")  # files of jitted functions
PURPOSES = {"core": "rankings", "objectives": "gradients", "learners": "learners"}  # of kernels, by folder
UNCALLED: dict[str, Any] = {"no_cpython_wrapper": True}


_importing = RLock()  # held while a thread imports numba
_compiling: list[Any] = []  # the lock that numba holds while it compiles or loads machine code, once it is imported


def compiler_lock() -> Any:
    """Import numba and return its compiler lock.

    A forked process would inherit both locks from a thread that does not exist there, and wait for ever. So a fork
    waits until no thread imports numba, compiles or loads machine code, which each process does once.
    """
    if not _compiling:
        _let_forks_wait()
        with _importing:
            import numpy.ma  # noqa: F401 - numba imports it at its first call
            from numba.core.compiler_lock import global_compiler_lock

            _compiling[:] = [global_compiler_lock]
    return _compiling[0]


@cache
def _let_forks_wait() -> None:
    def acquire() -> None:
        _importing.acquire()
        for lock in _compiling:  # does not change while nobody imports
            lock.acquire()

    def release() -> None:
        for lock in (*_compiling, _importing):
            lock.release()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=acquire, after_in_parent=release, after_in_child=release)


class Lazy:
    """Something that numba makes when it is first needed, such as machine code; jitted functions can call it."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make, self._compiled = make, None

    @property
    def compiled(self) -> Any:
        """What numba has made: for a function, the dispatcher that compiles it for each combination of types.

        Raises
        ------
        MissingToolkitError
            numba is not installed.
        """
        try:
            lock = compiler_lock()
        except ModuleNotFoundError as error:
            raise MissingToolkitError.of("numba", "fast") from error
        with lock:
            if self._compiled is None:  # another thread may have made it meanwhile
                self._compiled = self._make()
        return self._compiled

    @property
    def _numba_type_(self) -> Any:
        """The type by which numba compiles calls inside other functions."""
        from numba.core.registry import cpu_target

        value = self.compiled
        cpu_target.target_context.refresh()  # knows what `compiled` may just have defined
        return cpu_target.typing_context.resolve_value_type(value)


class Jitted(Lazy):
    """A function that becomes machine code at its first call.

    Attributes
    ----------
    py_func, targetoptions
        The function and its options, by the names under which numba looks for them when it inlines.
    """

    __name__: str

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(lambda: _dispatcher(function, options))
        self.py_func, self.targetoptions = function, options
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        """Run the machine code."""
        return (self._compiled or self.compiled)(*arguments)

    def __reduce__(self) -> str:
        """Pickle by name in the module."""
        return self.__name__


class Internal(Jitted):
    """A function that only jitted functions call; its machine code has no entry for Python."""

    def __call__(self, *arguments: Any) -> Any:
        """Run the Python function, with NUMBA_DISABLE_JIT=1."""
        if self.compiled is not self.py_func:
            raise TypeError(f"only jitted functions can call {self.__name__}, not Python")
        return self.py_func(*arguments)


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function at its first call, by `numba.njit(nogil=True, error_model="numpy", **options)`.

    Machine code does not check array bounds, and a division by zero gives infinity or NaN.
    """
    if function is None:
        return lambda function: jit(function, **options)
    return Jitted(function, options)


def internal(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Jit a function that only jitted functions call: it compiles faster, and its code is kept with its callers'."""
    if function is None:
        return lambda function: internal(function, **options)
    return Internal(function, {**UNCALLED, **options})


def _dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return numba's dispatcher, which compiles at its first call; with NUMBA_DISABLE_JIT=1, the function itself."""
    from numba import njit

    always: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    dispatcher = njit(**always, **options)(function)
    if dispatcher is not function and not options.keys() & UNCALLED.keys():
        dispatcher._cache = KeptCode(folder(), function)  # noqa: SLF001 - numba has no public way to set the cache
    return dispatcher


def cached(function: Jitted, dtype: np.dtype[Any]) -> bool:
    """Return whether machine code of a function for a first array of this type is on disk, without importing numba."""
    path = folder()
    return path is not None and any(path.glob(f"{_file_name(function.py_func)}-{dtype}-*"))


class KeptCode:
    """numba's cache of one function: a file per combination of argument types and CPU; without a folder, it keeps none.

    numba's own cache compares the time of the function's file only, and two processes that compile at the same time
    can give different machine code the same number.
    """

    def __init__(self, path: Path | None, function: Callable[..., Any]) -> None:
        self.cache_path, self._name = path and str(path), _file_name(function)
        self._code = function.__code__.co_code, function.__code__.co_consts  # of functions outside the kernel files

    def load_overload(self, types: Any, context: Any) -> Any:
        """Return the machine code for argument types; None if it is missing or broken, so that numba compiles it."""
        from numba.core.compiler import CompileResult

        context.refresh()
        with suppress(Exception):  # unpickling a broken file can raise any error
            parts = pickle.loads(self._file(types, context).read_bytes())  # noqa: S301 - as numba itself does
            return CompileResult._rebuild(context, *parts)  # type: ignore[no-untyped-call]  # noqa: SLF001 - as above
        when = "in this process, since no folder for machine code can be written" if self.cache_path is None else ""
        _announce(PURPOSES.get(self._name.split(".")[1], "functions"), when or "once on this machine")
        return None

    def save_overload(self, types: Any, code: Any) -> None:
        """Write a temporary file and rename it, so that no process reads half a file."""
        from numba.core.serialize import dumps

        if self.cache_path is None or code.library.has_dynamic_globals:  # addresses of this process
            return
        file = self._file(types, code.target_context)
        temporary = file.with_suffix(f".{uuid4().hex}")
        with suppress(Exception):  # such as a full disk: only this process uses the code
            try:
                content: bytes = dumps(code._reduce())  # type: ignore[no-untyped-call]  # noqa: SLF001 - as above
                temporary.write_bytes(content)
                temporary.replace(file)
            finally:
                temporary.unlink(missing_ok=True)

    def _file(self, types: Any, context: Any) -> Path:
        key = sha256(repr((types, context.codegen().magic_tuple(), self._code)).encode()).hexdigest()[:16]
        dtypes = [str(array.dtype) for array in types[:1] if hasattr(array, "dtype")]  # `cached` asks for it
        return Path(str(self.cache_path), "-".join([self._name, *dtypes, f"{key}.code"]))


@cache
def _announce(purpose: str, when: str) -> None:
    """Log, once in a process, that kernels are compiled, which takes seconds.

    It is a warning because Python prints warnings on stderr where logging is not configured, as in most jobs.
    """
    logging.getLogger("rankadapters").warning("rankadapters: compiling %s, %s", purpose, when)


def _file_name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}".replace("<locals>.", "")


@cache
def folder() -> Path | None:
    """Return the folder for machine code; None if numba is not installed or no folder can be made.

    It is in NUMBA_CACHE_DIR if that is set, else in the package, else in the user's cache.
    """
    with suppress(PackageNotFoundError):
        name = f"rankadapters-{_digest()}"
        requested = os.environ.get("NUMBA_CACHE_DIR")
        for parent in [Path(requested)] if requested else [PACKAGE / "__pycache__", Path("~/.cache")]:
            with suppress(OSError, RuntimeError):  # `~` raises RuntimeError without a home directory
                path = parent.expanduser().resolve() / name
                path.mkdir(parents=True, exist_ok=True)
                return path
    return None


def _digest() -> str:
    """Return a digest of the kernel files and of the versions of this package, numba and Python."""
    content = sha256(repr((__version__, version("numba"), sys.version)).encode())
    for file in sorted(file for pattern in KERNELS for file in PACKAGE.glob(pattern)):
        content.update(file.name.encode() + b"\0" + file.read_bytes())
    return content.hexdigest()[:16]


def writable(array: Any) -> Any:
    """Return a writable view of an array, since numba would compile a function again for read-only arrays."""
    return array if array.flags.writeable else np.asarray(_Unlocked(array))


class _Unlocked:
    """The memory of an array without its read-only flag; jitted functions write only to their outputs."""

    def __init__(self, array: Any) -> None:
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}
        self.array = array  # keeps the memory alive as long as the view
