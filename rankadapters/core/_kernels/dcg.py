"""NDCG and DCG of each query, from the gains at its ranks."""

from __future__ import annotations

import numpy as np

from rankadapters.core._kernels import COMPUTE, FIXED, kernel


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
