"""How a kernel runs: as plain Python and numpy at first, compiled where much is evaluated; both give the same bits.

Importing numba takes a third of a second and compiling takes several, while plain Python handles a ranked row in 60 to
200 ns, where machine code takes 10.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rankadapters.core.errors import InputError
from rankadapters.core.kernels import Kernel, Steps
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
    rows *= kernel.cost
    if _process.choice == NEVER or (_process.choice == LATER and _process.is_young(rows)):
        return _run_in_python(kernel, arguments)
    given = [
        writable(each) if isinstance(each, np.ndarray) and not each.flags.writeable else each for each in arguments
    ]
    if _process.choice == NOW:
        return kernel.compiled(*given)
    machine_code = _process.machine_code(kernel, given, rows)
    return _run_in_python(kernel, arguments) if machine_code is None else machine_code(*given)


def runs_compiled() -> bool:
    """Tell whether kernels run compiled by now, but for those that are not compiled yet."""
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
        lists = [each.tolist() if isinstance(each, np.ndarray) else each for each in arguments]
        result = kernel.plain(*lists)
    arguments[-1][:] = lists[-1]
    return result


def _kinds(arguments: list[Any]) -> Key:
    """What decides for which types numba compiles."""
    return tuple(
        [
            (each.dtype.char, each.ndim, each.flags.c_contiguous) if isinstance(each, np.ndarray) else type(each)
            for each in arguments
        ]
    )


class _Process:
    """What this process has ranked in numpy, and which kernels it has compiled or loaded."""

    def __init__(self, choice: str) -> None:
        self.choice = choice
        self.rows = 0
        self.ready: dict[Key, Callable[..., Any]] = {}
        self._looked_for: set[Key] = set()  # in the cache, which did not have it

    def is_young(self, rows: int) -> bool:
        """Tell whether there is too little work for any kernel, and count the rows."""
        if self.ready or self.rows + rows >= ROWS_BEFORE_LOADING:
            return False
        self.rows += rows
        return True

    def machine_code(self, kernel: Kernel | Steps, arguments: list[Any], rows: int) -> Callable[..., Any] | None:
        """Find the machine code for such arguments; None while there is too little work for loading or compiling it."""
        key = (kernel, *_kinds(arguments))
        if key not in self.ready:
            self.rows += rows
            if self.rows >= ROWS_BEFORE_COMPILING or (
                self.rows >= ROWS_BEFORE_LOADING and key not in self._looked_for and self._is_loaded(key, arguments)
            ):
                self.ready[key] = kernel.compiled
        return self.ready.get(key)

    def _is_loaded(self, key: Key, arguments: list[Any]) -> bool:
        from rankadapters.core.kernels.compiling import load

        self._looked_for.add(key)
        return bool(load(key[0], arguments))  # type: ignore[arg-type]  # the key begins with the kernel


def _chosen(choice: str) -> str:
    if choice not in {LATER, NOW, NEVER}:
        msg = (
            f"{SETTING}={choice!r}; allowed are {LATER!r}, {NOW!r} and {NEVER!r}.\n"
            f"Hint: leave it out for {LATER!r}, which compiles once much is evaluated."
        )
        raise InputError(msg)
    return choice


_process = _Process(_chosen(os.environ.get(SETTING, LATER)))


@contextmanager
def kernels(choice: str) -> Iterator[None]:
    """Choose for a while, in all threads: kernels `later` (after some work), `now` or `never`.

    >>> import rankadapters as ra
    >>> with kernels("never"):
    ...     ra.evaluate([1, 0], [0.5, 0.2], "textbook@1", group_sizes=[2]).value
    1.0
    """
    before, _process.choice = _process.choice, _chosen(choice)
    try:
        yield
    finally:
        _process.choice = before
