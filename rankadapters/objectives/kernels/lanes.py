"""Four numbers at once: what a kernel does with them becomes packed instructions, in the order in which it says so.

LLVM packs loops by itself, but only from some number of rounds on, after testing whether arrays overlap, and where sums
may be reordered at its own choice. Here a sum has the same bits on every machine. In plain Python the four are a numpy
array; `lanes_in_llvm` has what they are for numba.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from rankadapters.core.kernels import Spelled

LANES = 4


def packed(function: Callable[..., Any]) -> Spelled:
    """Make a kernel whose machine code is the intrinsic of the same name."""
    return Spelled(function, lambda: getattr(import_module(f"{__name__}_in_llvm"), function.__name__))


@packed
def same(number):
    """Return one number four times."""
    return np.full(LANES, number)


@packed
def load(array, row):
    """Return array[row : row + 4]."""
    return array[int(row) : int(row) + LANES].copy()


@packed
def store(array, row, values):
    """Let array[row : row + 4] be these."""
    array[int(row) : int(row) + LANES] = values


@packed
def pick(array, rows, first):
    """Return the array's entries at rows[first : first + 4]."""
    return array[rows[int(first) : int(first) + LANES]]


@packed
def at(values, lane):
    """Return one of the four."""
    return values[lane]


@packed
def magnitude(values):
    """Return absolute values."""
    return np.abs(values)


@packed
def where_greater(a, b, chosen, other):
    """Take `chosen` where a > b, else `other`."""
    return np.where(a > b, chosen, other)


@packed
def only_at(number, lane):
    """Return a number in one lane and 0 in the others."""
    return np.where(np.arange(LANES) == lane, number, 0.0)


@packed
def only_first(values, count):
    """Keep the first so many of the four, and let the others be 0."""
    return np.where(np.arange(LANES) < count, values, 0.0)
