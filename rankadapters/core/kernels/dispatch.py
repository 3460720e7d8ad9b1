"""Run kernels: in Python and numpy at first, compiled after enough work. Results are bit-identical.

Importing numba takes a third of a second, compiling several seconds. Ranking a row takes 60 to 200 ns in Python, and
10 ns compiled. If numba cannot be imported, all kernels run in Python.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rankadapters.core.errors import InputError
from rankadapters.core.kernels import Kernel, Steps, why_no_numba
from rankadapters.core.kernels.views import writable

SETTING = "RANKADAPTERS_KERNELS"
LATER, NOW, NEVER = "later", "now", "never"

# A process ranks this many rows in numpy before it loads cached machine code, and before it compiles missing kernels.
# Ranking them takes about as long as loading (0.5 to 1 s) or compiling (3 to 8 s), so that the total time is at most
# twice that of the better choice. Compiling in a background thread is unsafe: a process forked meanwhile would inherit
# locks of numba and logging that nobody releases.
ROWS_BEFORE_LOADING = 8_000_000
ROWS_BEFORE_COMPILING = 40_000_000

Key = tuple[object, ...]


def run(kernel: Kernel | Steps, *arguments: Any, rows: int = 0) -> Any:
    """Run a kernel compiled if enough rows have been ranked, else in Python or numpy.

    Parameters
    ----------
    kernel : Kernel or Steps
        The kernel.
    *arguments
        Arrays and numbers. The kernel writes to the last array; one with a form in numpy may write to more.
    rows : int
        Number of rows it ranks, which counts towards compiling it.
    """
    if not _process.has_machine_code(kernel, arguments, rows * kernel.cost):
        return _run_in_python(kernel, arguments)
    return kernel(*_as_arguments(arguments))


def _as_arguments(arguments: tuple[Any, ...]) -> list[Any]:
    return [writable(value) if isinstance(value, np.ndarray) else value for value in arguments]


def runs_compiled() -> bool:
    """Return whether this process uses compiled kernels by now."""
    return _process.choice == NOW or (_process.choice == LATER and bool(_process.ready))


def expect_rows(rows: int) -> None:
    """Count rows before they are ranked, so that kernels are compiled at once if much work is ahead."""
    _process.rows += rows


def _run_in_python(kernel: Kernel | Steps, arguments: tuple[Any, ...]) -> Any:
    """Run a kernel's form in numpy, or else in Python on lists, which Python reads three times as fast as arrays."""
    if isinstance(kernel, Steps):
        return kernel.run(arguments, _run_in_python)
    with np.errstate(all="ignore"):  # machine code does not warn either; `exact_sum` checks for non-finite values
        if kernel.in_numpy is not None:
            return kernel.in_numpy(*arguments)
        lists = [value.tolist() if isinstance(value, np.ndarray) else value for value in arguments]
        result = kernel.plain(*lists)
    arguments[-1][:] = lists[-1]
    return result


def _type_key(value: Any) -> object:
    """Return an argument's type for numba; for strings and None, by which `Steps` choose kernels, the value itself."""
    if isinstance(value, np.ndarray):
        return value.dtype.char, value.ndim, value.flags.c_contiguous
    return value if isinstance(value, str) or value is None else type(value)


class _Process:
    """The number of rows this process has ranked in Python, and the kernels it has compiled or loaded."""

    def __init__(self, choice: str) -> None:
        self.choice = choice
        self.rows = 0
        self.ready: set[Key] = set()
        self._not_cached: set[Key] = set()

    def has_machine_code(self, kernel: Kernel | Steps, arguments: tuple[Any, ...], rows: int) -> bool:
        """Return whether to run a kernel compiled; once enough rows have been ranked, it is loaded or compiled."""
        if self.choice != LATER:
            return self.choice == NOW
        if not self.ready and (self.rows + rows < ROWS_BEFORE_LOADING or why_no_numba() is not None):
            self.rows += rows
            return False
        key = (kernel, *map(_type_key, arguments))
        if key not in self.ready:
            self.rows += rows
            if self.rows >= ROWS_BEFORE_COMPILING or (
                self.rows >= ROWS_BEFORE_LOADING and key not in self._not_cached and self._is_loaded(key, arguments)
            ):
                self.ready.add(key)
        return key in self.ready

    def _is_loaded(self, key: tuple[Any, ...], arguments: tuple[Any, ...]) -> bool:
        from rankadapters.core.kernels.compiling import load

        self._not_cached.add(key)  # looked up only once
        return bool(load(key[0], _as_arguments(arguments)))


def _checked(choice: str) -> str:
    if choice not in {LATER, NOW, NEVER}:
        raise InputError(
            f"{SETTING}={choice!r}; allowed are {LATER!r}, {NOW!r} and {NEVER!r}.",
            hint=f"leave it out for {LATER!r}, which compiles once much is evaluated",
        )
    if choice == NOW and why_no_numba() is not None:
        raise InputError(
            f"{SETTING}={NOW!r} and warmup compile kernels, but numba cannot be imported ({why_no_numba()}).",
            hint=f"pip install numba; with {SETTING}={LATER!r} kernels run in Python, without it",
        )
    return choice


_process = _Process(_checked(os.environ.get(SETTING, LATER)))


@contextmanager
def kernels(choice: str) -> Iterator[None]:
    """Use compiled kernels `later` (after some work), `now` or `never`, in all threads, until the block ends.

    >>> import rankadapters as ra
    >>> with kernels("never"):
    ...     ra.evaluate([1, 0], [0.5, 0.2], "textbook@1", group_sizes=[2]).value
    1.0
    """
    previous, _process.choice = _process.choice, _checked(choice)
    try:
        yield
    finally:
        _process.choice = previous
