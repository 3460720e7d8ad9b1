"""StochasticFilter: rows that are kept by chance, and what a discounted sum of their gains learns of it."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.kernels import kernel
from rankadapters.core.kernels.ranked_rows import ALL_FINITE
from rankadapters.objectives.kernels.generators import BLOCKS, MULTIPLIER, block_started, real
from rankadapters.objectives.kernels.listwise import logistic
from rankadapters.objectives.kernels.queries import longest, row_at

FORGONE = 10  # draws that CatBoost passes over at the start of each block


# All queries, whose rows stand as they are ranked: `order` lists them, gains and `indptr` follow it. `active` queries
# have a gradient; the score `border` lets a row through or, if `strict`, must be passed.
Filtered = namedtuple(  # noqa: PYI024 - numba knows this kind
    "Filtered", "order indptr gains discounts active border strict"
)


@kernel
def stochastic_filter_gradients(scores, queries, sigma, estimations, seed, first, last, grad, hess):
    """Write the gradients of the queries from `first` to before `last`.

    What a row adds is rounded to float32, as CatBoost has it.
    """
    order, indptr, gains, discounts, active, border, strict = queries
    n_queries = indptr.size - 1
    size = (n_queries + BLOCKS - 1) // BLOCKS
    width = longest(indptr)
    chances, pulls, sides = np.empty(width), np.empty(width), np.empty(width)
    for q in range(first, last):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        for i in range(n):
            hess[row_at(order, start + i)] = 1.0
        if not active[q]:
            continue
        drawn_before = (start - indptr[q // size * size]) * estimations
        one, other, by_one, by_other = block_started(seed, q // size, FORGONE + drawn_before)
        baseline, kept = 0.0, 0
        for i in range(n):
            score = np.float64(scores[row_at(order, start + i)])
            chances[i] = logistic(sigma * (score - border))
            pulls[i] = 0.0
            if score > border or (score == border and not strict):
                baseline += np.float32(gains[start + i] * discounts[kept])
                kept += 1
        for _ in range(estimations):
            total, kept = 0.0, 0
            for i in range(n):
                one, other = one * MULTIPLIER + by_one, other * MULTIPLIER + by_other
                is_kept = chances[i] >= real(one, other)
                total += np.float32(gains[start + i] * discounts[kept]) if is_kept else 0.0
                kept += is_kept
                sides[i] = 1.0 - chances[i] if is_kept else -chances[i]
            for i in range(n):
                pulls[i] += sides[i] * (total - baseline) / estimations
        for i in range(n):
            grad[row_at(order, start + i)] = -pulls[i]
    return ALL_FINITE
