"""Reciprocal rank of each query, from the relevance at its ranks."""

from __future__ import annotations

from rankadapters.core.kernels import kernel
from rankadapters.core.kernels.in_numpy import ranking as in_numpy


@kernel(in_numpy=in_numpy.reciprocal_rank)
def reciprocal_rank(gains_by_rank, outptr, k, values):
    """1 / rank of the first relevant row at ranks 1..k, 0 if there is none."""
    for q in range(len(values)):
        start = outptr[q]
        values[q] = 0.0
        for r in range(min(k, outptr[q + 1] - start)):
            if gains_by_rank[start + r] > 0:
                values[q] = 1.0 / (r + 1)
                break


@kernel(tied="spans")
def expected_reciprocal_rank(gains_by_rank, ends, outptr, k, values):
    """Expected reciprocal rank over all orders of tied rows; `gains_by_rank` counts the relevant rows of each tie.

    The first tie with relevant rows has n rows, r of them relevant, and a rows above it. The value is the sum over
    j = 1..n - r + 1 with a + j <= k of C(n - j, r - 1) / C(n, r) / (a + j): P(first relevant row is the j-th) / rank.
    """
    for q in range(len(values)):
        start = outptr[q]
        size = min(k, outptr[q + 1] - start)
        first, total = 0, 0.0
        while first < size and gains_by_rank[start + first] == 0:
            first = ends[start + first]
        if first < size:
            n, r = ends[start + first] - first, gains_by_rank[start + first]
            chance = r / n
            for j in range(min(n, size - first)):
                total += chance / (first + j + 1)
                chance *= (n - r - j) / (n - j - 1) if j + 1 < n else 0.0
        values[q] = total
