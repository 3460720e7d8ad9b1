"""Reciprocal rank of each query, from the relevance at its ranks."""

from __future__ import annotations

from rankadapters.core.kernels import kernel
from rankadapters.core.kernels.in_numpy import ranking as in_numpy


@kernel(in_numpy=in_numpy.reciprocal_rank)
def reciprocal_rank(ranked, outptr, k, values):
    """1 / rank of the first relevant row at ranks 1..k, 0 without one."""
    for q in range(len(values)):
        start = outptr[q]
        values[q] = 0.0
        for r in range(min(k, outptr[q + 1] - start)):
            if ranked[start + r] > 0:
                values[q] = 1.0 / (r + 1)
                break


@kernel(tied="spans")
def expected_reciprocal_rank(ranked, ends, outptr, k, values):
    """Expectation over all orders of tied rows; `ranked` holds the relevant rows of each rank's tie.

    In the first tie with r > 0 relevant of its n rows, behind a rows: sum over j = 1..n - r + 1 with a + j <= k of
    C(n - j, r - 1) / C(n, r) / (a + j), the probability that its first relevant row is the j-th, by its rank.
    """
    for q in range(len(values)):
        start = outptr[q]
        size = min(k, outptr[q + 1] - start)
        first, total = 0, 0.0
        while first < size and ranked[start + first] == 0:
            first = ends[start + first]
        if first < size:
            n, r = ends[start + first] - first, ranked[start + first]
            chance = r / n
            for j in range(min(n, size - first)):
                total += chance / (first + j + 1)
                chance *= (n - r - j) / (n - j - 1) if j + 1 < n else 0.0
        values[q] = total
