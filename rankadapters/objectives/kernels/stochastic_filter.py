"""StochasticFilter: gradients of the expected FilteredDCG if rows are kept or dropped at random by their scores."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import jit
from rankadapters.core.ranking.sorting import ALL_FINITE
from rankadapters.objectives.kernels.generators import BLOCKS, MULTIPLIER, block_started, real
from rankadapters.objectives.kernels.listwise import logistic
from rankadapters.objectives.kernels.queries import longest, row_at

SKIPPED_DRAWS = 10  # CatBoost skips this many draws at the start of each block


# All queries. `order` lists the rows of each query by rank; `gains` and `indptr` are in this order. `active` marks the
# queries with a gradient. FilteredDCG keeps the rows with a score of at least `border` or, if `strict`, above it.
Filtered = namedtuple(  # noqa: PYI024 - numba knows this kind
    "Filtered", "order indptr gains discounts active border strict"
)


@jit
def stochastic_filter_gradients(scores, queries, sigma, estimations, seed, first, last, grad, hess):
    """Write the gradients of queries `first` to `last - 1`.

    Each row's term of the sum is rounded to float32, as in CatBoost.
    """
    order, indptr, gains, discounts, active, border, strict = queries
    n_queries = indptr.size - 1
    size = (n_queries + BLOCKS - 1) // BLOCKS
    width = longest(indptr)
    chances, pulls, kept_minus_chance = np.empty(width), np.empty(width), np.empty(width)
    for q in range(first, last):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        for i in range(n):
            hess[row_at(order, start + i)] = 1.0
        if not active[q]:
            continue
        drawn_before = (start - indptr[q // size * size]) * estimations
        high, low, high_step, low_step = block_started(seed, q // size, SKIPPED_DRAWS + drawn_before)
        baseline, n_kept = 0.0, 0
        for i in range(n):
            score = np.float64(scores[row_at(order, start + i)])
            chances[i] = logistic(sigma * (score - border))
            pulls[i] = 0.0
            if score > border or (score == border and not strict):
                baseline += np.float32(gains[start + i] * discounts[n_kept])
                n_kept += 1
        for _ in range(estimations):
            total, n_kept = 0.0, 0
            for i in range(n):
                high, low = high * MULTIPLIER + high_step, low * MULTIPLIER + low_step
                is_kept = chances[i] >= real(high, low)
                total += np.float32(gains[start + i] * discounts[n_kept]) if is_kept else 0.0
                n_kept += is_kept
                kept_minus_chance[i] = 1.0 - chances[i] if is_kept else -chances[i]
            for i in range(n):
                pulls[i] += kept_minus_chance[i] * (total - baseline) / estimations
        for i in range(n):
            grad[row_at(order, start + i)] = -pulls[i]
    return ALL_FINITE
