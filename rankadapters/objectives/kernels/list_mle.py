"""Gradients of ListMLE, the likelihood of the list in the order of its labels."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import internal, kernel
from rankadapters.core.kernels.ranked_rows import ALL_FINITE
from rankadapters.objectives.kernels.queries import longest


@internal
def draw_backwards(scores, rows, shares, left):
    """Chance of each row to be drawn from itself and those behind it, and what of their sum is left without it.

    Sums are kept relative to the best row so far, so that none overflows.
    """
    best, total = -np.inf, 0.0
    for k in range(rows.size - 1, -1, -1):
        score = np.float64(scores[rows[k]])
        kept = total if score <= best else total * np.exp(best - score)
        best = max(best, score)
        own = np.exp(score - best)
        total = kept + own
        shares[k], left[k] = own / total, kept / total


@kernel
def list_mle_gradients(scores, order, indptr, grad, hess):
    """Gradients of each query, whose rows are listed in the order whose likelihood counts.

    Row i is drawn at place k <= i with the chance p_k = share_i x what is left of the sums between: its gradient is the
    sum of the p_k less 1, its hessian that of p_k (1 - p_k).
    """
    width = longest(indptr)
    shares, left = np.empty(width), np.empty(width)
    for q in range(indptr.size - 1):
        rows = order[indptr[q] : indptr[q + 1]]
        draw_backwards(scores, rows, shares, left)
        drawn, squares = 0.0, 0.0
        for i in range(rows.size):
            drawn, squares = drawn + 1.0, squares + 1.0
            p = shares[i] * drawn
            grad[rows[i]] = p - 1.0
            hess[rows[i]] = max(p - shares[i] * shares[i] * squares, 0.0)
            drawn *= left[i]
            squares *= left[i] * left[i]
    return ALL_FINITE
