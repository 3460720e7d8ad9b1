"""What there is to tell of compiling: that it goes on, how much was compiled, and where the machine code is kept."""

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
    """How many kernels, each for some types of its arguments, this process compiled, and how many it found compiled."""

    compiled: int
    found: int


@contextmanager
def ctrl_c_waits() -> Iterator[None]:
    """Let a Ctrl-C wait for the end of the block, unless somebody else handles it.

    If a Ctrl-C stops numba inside a compilation, the process may compile nothing more, or crash.
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
    """Hand a kernel to numba; the caller holds the lock that numba's registries need."""
    tell_of_compiling()
    if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when numba is imported
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
    """Let a kernel be compiled without interruption, and keep its machine code, where some folder can be written."""
    dispatcher.compile = ctrl_c_waits()(dispatcher.compile)
    with suppress(RuntimeError):  # "cannot cache function": neither the package nor the user's cache is writable
        dispatcher._cache = KeptCode(dispatcher.py_func)  # noqa: SLF001 - numba does not ask which cache it is


def compiled() -> Compiled:
    """Count what this process compiled, and what it found in the cache."""
    counts = [dispatcher.stats for dispatcher in KERNELS]
    misses = sum(sum(stats.cache_misses.values()) for stats in counts)
    return Compiled(misses, sum(sum(stats.cache_hits.values()) for stats in counts))


def cache_folder() -> Path | None:
    """Return the folder that machine code is kept in; None where none can be written."""
    from rankadapters.core.kernels.exact import add_exactly

    path = add_exactly.compiled.stats.cache_path
    return None if path is None else Path(path)


@ctrl_c_waits()
@global_compiler_lock
def load(kernel: Kernel | Steps, arguments: Sequence[Any]) -> bool:
    """Load a kernel for arguments of these types from the cache; False where it was not compiled on this machine.

    One thread at a time, as when numba compiles: its registries are not safe in more.
    """
    if isinstance(kernel, Steps):
        loaded = [load(*call) for call in kernel.calls(*arguments)]  # what there is, even if not all
        return all(loaded)
    types, dispatcher = tuple(map(typeof, arguments)), kernel.compiled
    # numba says only of what it compiled or loaded whether it was in the cache, hence the look inside.
    if dispatcher._cache.load_overload(types, dispatcher.targetctx) is None:  # noqa: SLF001
        return False
    dispatcher.compile(types)
    return True


def compile_for(kernel: Kernel, arguments: Sequence[Any]) -> None:
    """Compile a kernel for arguments of these types, or load it from the cache."""
    kernel.compiled.compile(tuple(map(typeof, arguments)))


class Teller(event.Listener):
    """Says on a terminal, once in a process, that kernels are being compiled; a cache that is warm compiles none."""

    def __init__(self) -> None:
        self._told = False

    def on_start(self, event: Any) -> None:
        """Tell of the first of our kernels."""
        dispatcher = event.data["dispatcher"]
        if self._told or not str(dispatcher.py_func.__module__).startswith(PACKAGE):
            return
        self._told = True
        if sys.stderr is not None and sys.stderr.isatty():
            print(EVERY_TIME if dispatcher.stats.cache_path is None else ONCE, file=sys.stderr)  # noqa: T201

    def on_end(self, event: Any) -> None:
        """Ignore the end."""


@cache
def tell_of_compiling() -> None:
    """Let numba call the teller, from the first kernel on that it is handed."""
    event.register("numba:compile", Teller())
