"""RankLib's selection sort, whose swaps order ties differently from any stable sort."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def selection_ranks(scores: Floats, indptr: NDArray[np.int64], k: int | None) -> Floats:
    """Return scores in the order of a selection sort: for i = 0, 1, ... swap the first maximum from i on to i.

    Only the first k ranks are in that order, which is enough for a measure with cutoff k.

    >>> selection_ranks(np.array([1.0, 1.0, 2.0]), np.array([0, 3]), None).argsort().tolist()  # worst row first
    [0, 1, 2]
    """
    sizes = np.diff(indptr)
    width = int(sizes.max())
    inside = np.arange(width) < sizes[:, None]
    values, rows = np.full(inside.shape, -np.inf), np.full(inside.shape, -1)
    values[inside], rows[inside] = scores, np.arange(scores.size)
    queries = np.arange(sizes.size)
    for i in range(min(k or width, width)):
        best = i + values[:, i:].argmax(axis=1)
        for table in (values, rows):
            table[queries, i], table[queries, best] = table[queries, best], table[queries, i]
    negative_ranks = np.empty(scores.size)
    ranks = np.broadcast_to(np.arange(width), inside.shape)
    is_row = rows >= 0
    negative_ranks[rows[is_row]] = -ranks[is_row]
    return negative_ranks
