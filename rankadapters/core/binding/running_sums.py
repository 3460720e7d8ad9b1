"""Sums at every cutoff from one pass over the ranks, to the last bit those of a kernel at each of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def by_rank(column: Floats, outptr: NDArray[np.int64], depth: int) -> Floats:
    """Bring a column in rank order, query by query, into the shape (depth, n_queries), 0 beyond a query's rows.

    >>> by_rank(np.array([5.0, 4.0, 3.0]), np.array([0, 2, 3]), 2).tolist()
    [[5.0, 3.0], [4.0, 0.0]]
    """
    places = outptr[:-1] + np.arange(depth)[:, None]
    found: Floats = np.append(column, 0.0)[np.where(places < outptr[1:], places, column.size)]
    return found


def running_sums(terms: Floats) -> Floats:
    """Add up the terms of each rank, shape (n_ranks, n_queries), in place, in the order in which a kernel does."""
    terms[:1] += 0.0  # a kernel begins with 0, which makes -0.0 the same
    for rank in range(1, len(terms)):
        np.add(terms[rank - 1], terms[rank], out=terms[rank])
    return terms


def running_dcg(ranked: Floats, outptr: NDArray[np.int64], discounts: Floats) -> Floats:
    """DCG of each query at the cutoffs 1, 2, ..., shape (n_discounts, n_queries).

    >>> running_dcg(np.array([1.0, 1.0, 3.0]), np.array([0, 2, 3]), np.array([1, 0.5])).tolist()
    [[1.0, 3.0], [1.5, 3.0]]
    """
    return running_sums(by_rank(ranked, outptr, discounts.size) * discounts[:, None])
