"""NDCG and DCG of each query, from the gains at its ranks."""

from __future__ import annotations

import numpy as np

from rankadapters.core._kernels import COMPUTE, FEW, FIXED, kernel
from rankadapters.core._kernels.ranked_rows import ALL_FINITE, first_non_finite


@kernel
def discounted_sums(ranked, outptr, k, discounts, ideal, status, fixed, values):
    """Value of each query: sum of gain x discount over the first k ranks, by the ideal DCG, or as its status says."""
    for q in range(values.size):
        if status[q] != COMPUTE:
            values[q] = fixed[q] if status[q] == FIXED else np.nan
            continue
        start = outptr[q]
        total = 0.0
        for r in range(min(k, outptr[q + 1] - start)):
            total += ranked[start + r] * discounts[r]
        values[q] = total / ideal[q]


@kernel
def discounted_sums_of_few(scores, order, indptr, gains, k, discounts, ideal, status, fixed, values):
    """As `discounted_sums` of what `ranked_columns` gives, for queries of at most FEW rows, in one pass.

    Returns the first row whose score is not finite, else -1.
    """
    own, ranked = np.empty(FEW, scores.dtype), np.empty(FEW)
    for q in range(values.size):
        first, n = indptr[q], np.uint64(indptr[q + 1] - indptr[q])  # unsigned, since numba would test for wraparound
        broken = False
        for i in range(n):
            place = np.uint64(first) + i
            own[i] = scores[np.uint64(order[place]) if order.size else place]
            broken |= own[i] - own[i] != 0
        if broken:
            return first_non_finite(scores, order, first, indptr[q + 1])
        for i in range(n):
            rank = np.uint64(0)
            for j in range(i):
                rank += np.uint64(own[j] >= own[i])
            for j in range(i + np.uint64(1), n):
                rank += np.uint64(own[j] > own[i])
            ranked[rank] = gains[np.uint64(first) + i]
        total = 0.0
        for r in range(min(np.uint64(k), n)):
            total += ranked[r] * discounts[r]
        if status[q] == COMPUTE:
            values[q] = total / ideal[q]
        else:
            values[q] = fixed[q] if status[q] == FIXED else np.nan
    return ALL_FINITE
