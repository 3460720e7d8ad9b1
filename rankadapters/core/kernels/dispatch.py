"""How a kernel runs: in Python and numpy at first, compiled where much is evaluated. Both give the same bits.

Importing numba takes a third of a second and compiling takes several, while Python handles a ranked row in 60 to 200
ns, where machine code takes 10. Where numba cannot be imported, every kernel runs in Python.
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

# Rows that a process ranks in numpy before it imports numba and loads what its cache has, and before it compiles the
# rest: by then they took about as long as loading (0.5 to 1 s) or compiling (3 to 8 s) does, so that nobody waits more
# than twice as long as with the better choice. It compiles where it is: a thread beside the evaluations is not safe,
# since a process forked meanwhile inherits the locks of numba and logging, and no thread to open them.
ROWS_BEFORE_LOADING = 8_000_000
ROWS_BEFORE_COMPILING = 40_000_000

Key = tuple[object, ...]


def run(kernel: Kernel | Steps, *arguments: Any, rows: int = 0) -> Any:
    """Run a kernel in the form that pays.

    Parameters
    ----------
    kernel : Kernel or Steps
        What to run.
    *arguments
        Arrays and numbers. The last array is written to; of a kernel with a form in numpy, several may be.
    rows : int
        How many rows it ranks, which counts towards compiling it.
    """
    if not _process.has_machine_code(kernel, arguments, rows * kernel.cost):
        return _run_in_python(kernel, arguments)
    return kernel(*_as_taken(arguments))


def _as_taken(arguments: tuple[Any, ...]) -> list[Any]:
    return [writable(value) if isinstance(value, np.ndarray) else value for value in arguments]


def runs_compiled() -> bool:
    """Tell whether some kernel runs compiled by now."""
    return _process.choice == NOW or (_process.choice == LATER and bool(_process.ready))


def expect_rows(rows: int) -> None:
    """Count rows that are going to be ranked as if they had been, so that what is worth compiling is compiled first."""
    _process.rows += rows


def _run_in_python(kernel: Kernel | Steps, arguments: tuple[Any, ...]) -> Any:
    """Run a kernel in numpy where it can, else on lists, whose numbers Python reads three times as fast."""
    if isinstance(kernel, Steps):
        return kernel.run(arguments, _run_in_python)
    with np.errstate(all="ignore"):  # as machine code does; what is not finite is refused where it is summed
        if kernel.in_numpy is not None:
            return kernel.in_numpy(*arguments)
        lists = [value.tolist() if isinstance(value, np.ndarray) else value for value in arguments]
        result = kernel.plain(*lists)
    arguments[-1][:] = lists[-1]
    return result


def _kind(value: Any) -> object:
    """Return what decides for which type of an argument numba compiles, and which kernels steps call."""
    if isinstance(value, np.ndarray):
        return value.dtype.char, value.ndim, value.flags.c_contiguous
    return value if isinstance(value, str) or value is None else type(value)


class _Process:
    """What this process has ranked in Python, and which kernels it has compiled or loaded."""

    def __init__(self, choice: str) -> None:
        self.choice = choice
        self.rows = 0
        self.ready: set[Key] = set()
        self._looked_for: set[Key] = set()  # in the cache, which did not have it

    def has_machine_code(self, kernel: Kernel | Steps, arguments: tuple[Any, ...], rows: int) -> bool:
        """Tell whether a kernel runs compiled for such arguments: there was enough work to load or to compile it."""
        if self.choice != LATER:
            return self.choice == NOW
        if not self.ready and (self.rows + rows < ROWS_BEFORE_LOADING or why_no_numba() is not None):
            self.rows += rows
            return False
        key = (kernel, *map(_kind, arguments))
        if key not in self.ready:
            self.rows += rows
            if self.rows >= ROWS_BEFORE_COMPILING or (
                self.rows >= ROWS_BEFORE_LOADING and key not in self._looked_for and self._is_loaded(key, arguments)
            ):
                self.ready.add(key)
        return key in self.ready

    def _is_loaded(self, key: tuple[Any, ...], arguments: tuple[Any, ...]) -> bool:
        from rankadapters.core.kernels.compiling import load

        self._looked_for.add(key)
        return bool(load(key[0], _as_taken(arguments)))


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
    """Choose for a while, in all threads: kernels `later` (after some work), `now` or `never`.

    >>> import rankadapters as ra
    >>> with kernels("never"):
    ...     ra.evaluate([1, 0], [0.5, 0.2], "textbook@1", group_sizes=[2]).value
    1.0
    """
    before, _process.choice = _process.choice, _checked(choice)
    try:
        yield
    finally:
        _process.choice = before
