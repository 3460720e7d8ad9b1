"""SIMD operations on four numbers at once, with a fixed order of additions.

LLVM vectorizes only long loops, after testing whether arrays overlap, and only where it may reorder sums. With these
operations a sum has the same bits on every machine. In plain Python the four numbers are a numpy array; `lanes_in_llvm`
defines them for numba.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from rankadapters.core.kernels import Spelled

LANES = 4


def packed(function: Callable[..., Any]) -> Spelled:
    """Make a kernel whose machine code is the intrinsic of the same name in `lanes_in_llvm`."""
    in_llvm = "rankadapters.objectives.kernels.lanes_in_llvm"
    return Spelled(function, lambda: getattr(import_module(in_llvm), function.__name__))


@packed
def same(number):
    """Return four copies of one number."""
    return np.full(LANES, number)


@packed
def load(array, row):
    """Return array[row : row + 4]."""
    return array[int(row) : int(row) + LANES].copy()


@packed
def store(array, row, values):
    """Write four values to array[row : row + 4]."""
    array[int(row) : int(row) + LANES] = values


@packed
def pick(array, rows, first):
    """Return the entries of an array at rows[first : first + 4]."""
    return array[rows[int(first) : int(first) + LANES]]


@packed
def at(values, lane):
    """Return the number in one lane."""
    return values[lane]


@packed
def magnitude(values):
    """Return absolute values."""
    return np.abs(values)


@packed
def where_greater(a, b, chosen, alternative):
    """Return `chosen` in the lanes where a > b, else `alternative`."""
    return np.where(a > b, chosen, alternative)


@packed
def only_at(number, lane):
    """Return `number` in one lane, and 0 in the other lanes."""
    return np.where(np.arange(LANES) == lane, number, 0.0)


@packed
def only_first(values, count):
    """Return four values, with 0 in place of all but the first `count`."""
    return np.where(np.arange(LANES) < count, values, 0.0)
