"""Which form of a kernel runs: the one in numpy at first, the compiled one where much is evaluated; both give the same.

Every kernel of evaluation, `kernels.dcg.discounted_sums` for one, stands a second time in `kernels.in_numpy` by the
same name and for the same arrays. That form needs no numba, whose import takes a third of a second and whose compiling
takes several, and handles a row in 100 to 200 ns, where machine code takes 10.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from rankadapters.core.errors import InputError
from rankadapters.core.kernels.views import writable

SETTING = "RANKADAPTERS_KERNELS"
LATER, NOW, NEVER = "later", "now", "never"

# Rows that a process ranks in numpy before it imports numba and loads what its cache has, and before it compiles the
# rest: by then they took about as long as loading (0.5 to 1 s) or compiling (3 to 8 s) does, so that nobody waits more
# than twice as long as with the better choice. It compiles where it is: a thread beside the evaluations is not safe,
# since a process forked meanwhile inherits the locks of numba and logging, and no thread to open them.
ROWS_BEFORE_LOADING = 8_000_000
ROWS_BEFORE_COMPILING = 40_000_000

Kernel = Callable[..., Any]
Key = tuple[object, ...]


def run(name: str, *arguments: Any, rows: int = 0) -> Any:
    """Run a kernel by its module and name, such as 'dcg.discounted_sums', in the form that is at hand.

    Parameters
    ----------
    name : str
        Module and function, in `kernels` and in `kernels.in_numpy`.
    *arguments
        Arrays and numbers; the last arrays are written to.
    rows : int
        How many rows it ranks, which counts towards compiling it.
    """
    if _process.choice == NEVER or (_process.choice == LATER and _process.is_young(rows)):
        return _run_in_numpy(name, arguments)
    given = [
        writable(each) if isinstance(each, np.ndarray) and not each.flags.writeable else each for each in arguments
    ]
    if _process.choice == NOW:
        return compiled(name)(*given)
    kernel = _process.kernel(name, given, rows)
    return _run_in_numpy(name, arguments) if kernel is None else kernel(*given)


def foresee(rows: int) -> None:
    """Count rows that are going to be ranked as if they had been, so that what is worth compiling is compiled first."""
    _process.rows += rows


def _run_in_numpy(name: str, arguments: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"):  # as machine code does; what is not finite is refused where it is summed
        return in_numpy(name)(*arguments)


@cache
def compiled(name: str) -> Kernel:
    """Find a kernel, which numba compiles at its first call; the modules of others are not even imported."""
    return _function("rankadapters.core.kernels", name)


@cache
def in_numpy(name: str) -> Kernel:
    """Find the numpy form of a kernel."""
    return _function("rankadapters.core.kernels.in_numpy", name)


def _function(package: str, name: str) -> Kernel:
    module, _, function = name.partition(".")
    return getattr(import_module(f"{package}.{module}"), function)  # type: ignore[no-any-return]


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
        self.ready: dict[Key, Kernel] = {}
        self._looked_for: set[Key] = set()  # in the cache, which did not have it

    def is_young(self, rows: int) -> bool:
        """Tell whether there is too little work for any kernel, and count the rows."""
        if self.ready or self.rows + rows >= ROWS_BEFORE_LOADING:
            return False
        self.rows += rows
        return True

    def kernel(self, name: str, arguments: list[Any], rows: int) -> Kernel | None:
        """Find a kernel for such arguments; None while there is too little work for loading or compiling it."""
        key = (name, *_kinds(arguments))
        if key not in self.ready:
            self.rows += rows
            if self.rows >= ROWS_BEFORE_COMPILING or (
                self.rows >= ROWS_BEFORE_LOADING and key not in self._looked_for and self._is_loaded(key, arguments)
            ):
                self.ready[key] = compiled(name)
        return self.ready.get(key)

    def _is_loaded(self, key: Key, arguments: list[Any]) -> bool:
        from rankadapters.core.kernels.compiling import load

        self._looked_for.add(key)
        return bool(load(compiled(str(key[0])), arguments))


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
