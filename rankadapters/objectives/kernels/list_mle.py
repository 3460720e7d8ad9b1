"""Gradients of ListMLE: the likelihood that rows are sampled without replacement in the order of their labels."""

from __future__ import annotations

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import ALL_FINITE
from rankadapters.objectives.kernels.queries import longest


@internal
def draw_backwards(scores, rows, shares, rests):
    """Write to `shares` each row's softmax probability among itself and the rows after it, and to `rests` 1 minus it.

    Sums are relative to the best score so far, so that they do not overflow.
    """
    best, total = -np.inf, 0.0
    for k in range(rows.size - 1, -1, -1):
        score = np.float64(scores[rows[k]])
        after = total if score <= best else total * np.exp(best - score)
        best = max(best, score)
        power = np.exp(score - best)
        total = after + power
        shares[k], rests[k] = power / total, after / total


@jit
def list_mle_gradients(scores, order, indptr, grad, hess):
    """Write the gradients of each query; `order` lists the query's rows by descending label.

    Row i is drawn at position k <= i with probability p_k = share_i x product of `rests` from k to i - 1. Its gradient
    is the sum of the p_k minus 1, and its hessian the sum of p_k (1 - p_k).
    """
    width = longest(indptr)
    shares, rests = np.empty(width), np.empty(width)
    for q in range(indptr.size - 1):
        rows = order[indptr[q] : indptr[q + 1]]
        draw_backwards(scores, rows, shares, rests)
        drawn, squares = 0.0, 0.0
        for i in range(rows.size):
            drawn, squares = drawn + 1.0, squares + 1.0
            p = shares[i] * drawn
            grad[rows[i]] = p - 1.0
            hess[rows[i]] = max(p - shares[i] * shares[i] * squares, 0.0)
            drawn *= rests[i]
            squares *= rests[i] * rests[i]
    return ALL_FINITE
