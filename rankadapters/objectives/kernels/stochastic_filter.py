"""StochasticFilter: rows that are kept by chance, and what a discounted sum of their gains learns of it."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import kernel
from rankadapters.core.kernels.ranked_rows import ALL_FINITE
from rankadapters.objectives.kernels.generators import BLOCKS, MULTIPLIER, block_started, real
from rankadapters.objectives.kernels.lambdas import longest
from rankadapters.objectives.kernels.listwise import logistic

FORGONE = 10  # draws that CatBoost passes over at the start of each block


@kernel
def stochastic_filter_gradients(
    scores, order, indptr, active, first, gains, discounts, border, strict, sigma, estimations, seed, grad
):
    """Write the gradients of the queries from `first` to before `first + active.size`, all others being there too.

    `order` lists rows as they stand; gains and `indptr` follow it. What a row adds is rounded to float32, as CatBoost
    has it.
    """
    n_queries = indptr.size - 1
    size = (n_queries + BLOCKS - 1) // BLOCKS
    width = longest(indptr)
    chances, pulls, sides = np.empty(width), np.empty(width), np.empty(width)
    for q in range(first, first + active.size):
        if not active[q - first]:
            continue
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        drawn_before = (start - indptr[q // size * size]) * estimations
        one, other, by_one, by_other = block_started(seed, q // size, FORGONE + drawn_before)
        baseline, kept = 0.0, 0
        for i in range(n):
            score = np.float64(scores[order[start + i] if order.size else start + i])
            chances[i] = logistic(sigma * (score - border))
            pulls[i] = 0.0
            if score > border or (score == border and not strict):
                baseline += np.float32(gains[start + i] * discounts[kept])
                kept += 1
        for _ in range(estimations):
            found, kept = 0.0, 0
            for i in range(n):
                one, other = one * MULTIPLIER + by_one, other * MULTIPLIER + by_other
                is_kept = chances[i] >= real(one, other)
                found += np.float32(gains[start + i] * discounts[kept]) if is_kept else 0.0
                kept += is_kept
                sides[i] = 1.0 - chances[i] if is_kept else -chances[i]
            for i in range(n):
                pulls[i] += sides[i] * (found - baseline) / estimations
        for i in range(n):
            grad[order[start + i] if order.size else start + i] = -pulls[i]
    return ALL_FINITE
