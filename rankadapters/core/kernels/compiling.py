"""Compile, load and keep machine code, announce compiling, and count what was compiled."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import current_thread, main_thread
from types import FunctionType
from typing import Any, NamedTuple

from numba import config, njit, typeof
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from rankadapters.core.kernels import Kernel, Steps
from rankadapters.core.kernels.kept_code import KeptCode

PACKAGE = __name__.partition(".")[0]
ONCE = "rankadapters: compiling, once on this machine"
EVERY_TIME = (
    "rankadapters: compiling, in every process anew, since no folder for the machine code can be written; set "
    "NUMBA_CACHE_DIR to one that can"
)

KERNELS: list[Any] = []  # numba's dispatchers of the kernels whose machine code is kept


class Compiled(NamedTuple):
    """Numbers of kernels that this process compiled or loaded; each combination of argument types counts as one."""

    compiled: int
    found: int


@contextmanager
def ctrl_c_waits() -> Iterator[None]:
    """Delay a Ctrl-C until the end of the block, unless other code handles Ctrl-C.

    If a Ctrl-C interrupts numba while it compiles, later compilations can fail or crash the process.
    """
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    pressed = list[int]()
    signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if pressed:
            raise KeyboardInterrupt


def machine_code(kernel: Kernel) -> Any:
    """Return a kernel as machine code; the caller must hold numba's compiler lock."""
    announce_compiling()
    if config.DISABLE_JIT:  # type: ignore[attr-defined]  # numba reads it from the environment
        return kernel.plain
    text = kernel.text()
    if not isinstance(text, FunctionType):  # an intrinsic
        return text
    dispatcher = njit(**kernel.options)(text)
    if kernel.kept:
        keep(dispatcher)
        KERNELS.append(dispatcher)
    return dispatcher


def keep(dispatcher: Any) -> None:
    """Delay Ctrl-C while a kernel compiles, and keep its machine code if a folder is writable."""
    dispatcher.compile = ctrl_c_waits()(dispatcher.compile)
    with suppress(RuntimeError):  # "cannot cache function": neither the package nor the user's cache is writable
        dispatcher._cache = KeptCode(dispatcher.py_func)  # noqa: SLF001 - numba has no public way to set the cache


def compiled() -> Compiled:
    """Return how many kernels this process compiled, and how many it loaded from the cache."""
    counts = [dispatcher.stats for dispatcher in KERNELS]
    misses = sum(sum(stats.cache_misses.values()) for stats in counts)
    return Compiled(misses, sum(sum(stats.cache_hits.values()) for stats in counts))


def cache_folder() -> Path | None:
    """Return the folder for machine code; None if no folder is writable."""
    from rankadapters.core.kernels.exact import add_exactly

    path = add_exactly.compiled.stats.cache_path
    return None if path is None else Path(path)


@ctrl_c_waits()
@global_compiler_lock
def load(kernel: Kernel | Steps, arguments: Sequence[Any]) -> bool:
    """Load a kernel for arguments of these types from the cache; return False if the cache lacks it.

    It holds the compiler lock, since numba's registries are not thread-safe.
    """
    if isinstance(kernel, Steps):
        loaded = [load(*call) for call in kernel.calls(*arguments)]  # tries all, even if some are missing
        return all(loaded)
    types, dispatcher = tuple(map(typeof, arguments)), kernel.compiled
    # numba has no public way to look into the cache without compiling.
    if dispatcher._cache.load_overload(types, dispatcher.targetctx) is None:  # noqa: SLF001
        return False
    dispatcher.compile(types)
    return True


def compile_for(kernel: Kernel, arguments: Sequence[Any]) -> None:
    """Compile a kernel for arguments of these types, or load it from the cache."""
    kernel.compiled.compile(tuple(map(typeof, arguments)))


class CompilingNotice(event.Listener):
    """Prints on a terminal, once per process, that kernels are being compiled."""

    def __init__(self) -> None:
        self._announced = False

    def on_start(self, event: Any) -> None:
        """Print the notice for the first kernel of this package."""
        dispatcher = event.data["dispatcher"]
        if self._announced or not str(dispatcher.py_func.__module__).startswith(PACKAGE):
            return
        self._announced = True
        if sys.stderr is not None and sys.stderr.isatty():
            print(EVERY_TIME if dispatcher.stats.cache_path is None else ONCE, file=sys.stderr)  # noqa: T201

    def on_end(self, event: Any) -> None:
        """Do nothing."""


@cache
def announce_compiling() -> None:
    """Register the notice with numba, once."""
    event.register("numba:compile", CompilingNotice())
