"""Compiled kernels: arrays and integers in, arrays out; serial, without the GIL; they know no convention.

`core.forms` finds them, and their numpy forms in `in_numpy`, by module and name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

COMPUTE, FIXED, SKIP = 0, 1, 2  # how a query gets its value
FEW = 8  # rows of a query that may be ranked and summed up at once
LIMBS, LIMB_BITS = 66, 32  # of an exact sum, from 2^-1074 to beyond the largest float64

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile into each caller: a call per query with a dozen arrays costs as much as ranking a short query."""
    from numba import njit

    return njit(inline="always", **_OPTIONS)(function)


def kernel(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile at the first call, and keep the machine code on disk where some directory can be written."""
    from numba import njit

    from rankadapters.core.kernels.compiling import KERNELS, keep

    made = njit(**_OPTIONS, **options)(function)
    keep(made)
    KERNELS.append(made)
    return made


def internal(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile for kernels only: what Python never calls needs no wrapper for it, and lies in its callers' cache."""
    from numba import njit

    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # which numba's types leave out
    return njit(**options, **_OPTIONS)(function)


def merged(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `kernel`, its machine code in the caller's: for what is called once a row, with many arrays."""
    return kernel(function, forceinline=True)


def contracting(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `kernel`; a product and a sum may be one instruction that rounds once, as in the C library's own code."""
    return kernel(function, fastmath={"contract"})


class steps:  # noqa: N801 - a decorator
    """Make one kernel of several that are called in turn: what yields them and their arguments.

    A row that one of them returns, since its score is not finite, ends it. So code that many need is compiled once.
    """

    def __init__(self, function: Callable[..., Iterator[tuple[Any, tuple[Any, ...]]]]) -> None:
        self.several = function
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> int:
        """Call the kernels; return the row that one of them refused, else -1."""
        for each, given in self.several(*arguments):
            bad = each(*given)
            if bad is not None and bad >= 0:
                return int(bad)
        return -1
