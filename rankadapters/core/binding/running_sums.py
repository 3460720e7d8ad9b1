"""Sums at every cutoff in one pass over the ranks, bit-identical to running a kernel at each cutoff."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def by_rank(column: Floats, outptr: NDArray[np.int64], depth: int) -> Floats:
    """Reshape a column in rank order to (depth, n_queries), with 0 after a query's last row.

    >>> by_rank(np.array([5.0, 4.0, 3.0]), np.array([0, 2, 3]), 2).tolist()
    [[5.0, 3.0], [4.0, 0.0]]
    """
    positions = outptr[:-1] + np.arange(depth)[:, None]
    matrix: Floats = np.append(column, 0.0)[np.where(positions < outptr[1:], positions, column.size)]
    return matrix


def running_sums(terms: Floats) -> Floats:
    """Add up terms of shape (n_ranks, n_queries) over the ranks, in place, in the order of a kernel's loop."""
    terms[:1] += 0.0  # a kernel starts from 0.0, so that -0.0 becomes 0.0
    for rank in range(1, len(terms)):
        np.add(terms[rank - 1], terms[rank], out=terms[rank])
    return terms


def running_dcg(sorted_gains: Floats, outptr: NDArray[np.int64], discounts: Floats) -> Floats:
    """Return the DCG of each query at the cutoffs 1, 2, ..., shape (n_discounts, n_queries).

    >>> running_dcg(np.array([1.0, 1.0, 3.0]), np.array([0, 2, 3]), np.array([1, 0.5])).tolist()
    [[1.0, 3.0], [1.5, 3.0]]
    """
    return running_sums(by_rank(sorted_gains, outptr, discounts.size) * discounts[:, None])
