"""`_kernels.lanes`, which is machine code, in numpy: with NUMBA_DISABLE_JIT=1 kernels run as they are written."""

from __future__ import annotations

from typing import Any

import numpy as np

LANES = 4


def same(number: float) -> Any:
    return np.full(LANES, number)


def load(array: Any, row: int) -> Any:
    return array[int(row) : int(row) + LANES].copy()


def store(array: Any, row: int, values: Any) -> None:
    array[int(row) : int(row) + LANES] = values


def pick(array: Any, rows: Any, first: int) -> Any:
    return array[rows[int(first) : int(first) + LANES]]


def at(values: Any, lane: int) -> float:
    return values[lane]


def magnitude(values: Any) -> Any:
    return np.abs(values)


def where_greater(a: Any, b: Any, chosen: Any, other: Any) -> Any:
    return np.where(a > b, chosen, other)


def only_at(number: float, lane: int) -> Any:
    return np.where(np.arange(LANES) == lane, number, 0.0)


def only_first(values: Any, count: int) -> Any:
    return np.where(np.arange(LANES) < count, values, 0.0)


def put_in_place() -> None:
    """Before any kernel is imported; and let numbers overflow in silence, as machine code does."""
    np.seterr(all="ignore")
    from rankadapters.objectives.kernels import lanes

    for each in (same, load, store, pick, at, magnitude, where_greater, only_at, only_first):
        setattr(lanes, each.__name__, each)
