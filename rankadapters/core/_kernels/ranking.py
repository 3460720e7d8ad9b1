"""From scores to the gains in rank order, and from those to one value per query."""

from __future__ import annotations

import numpy as np

from rankadapters.core._kernels import inlined, kernel
from rankadapters.core._kernels.selection import make_scratch, rank_top

ALL_FINITE = -1
COMPUTE, FIXED, SKIP = 0, 1, 2  # how a query gets its value


@inlined
def all_finite(scores):
    """Tell whether no score is NaN or infinite; without a branch, so that it becomes packed instructions."""
    broken = False
    for i in range(scores.size):
        broken |= scores[i] - scores[i] != 0
    return not broken


@kernel
def first_non_finite(scores, order, first, last):
    """Row in the caller's order of the first score that is not finite."""
    for i in range(first, last):
        row = order[i] if order.size else i
        if not np.isfinite(scores[row]):
            return row
    return ALL_FINITE


@kernel
def write_tie_means(scores, ranked, gains, out):
    """Give each of the first out.size ranks the mean gain of the rows that tie there; `ranked` holds whole ties."""
    first = 0
    while first < out.size:
        score = scores[ranked[first]]
        low = high = np.float64(gains[ranked[first]])
        total, last = 0.0, first
        while last < ranked.size and scores[ranked[last]] == score:
            gain = np.float64(gains[ranked[last]])
            low, high = min(low, gain), max(high, gain)
            total += gain
            last += 1
        # Equal gains need no division, so that the ideal order reaches exactly the ideal DCG.
        mean = low if low == high else total / (last - first)
        for r in range(first, min(last, out.size)):
            out[r] = mean
        first = last


@kernel
def ranked_gains(scores, order, indptr, k, tie_means, gains, outptr, out):
    """Write the gains at ranks 1..min(k, n) of each query, for each row of `gains`.

    Returns the first row whose score is not finite, else -1. `order` (empty for row order) lists the rows of each query
    in the order that ties keep; `gains` follows it.
    """
    width = 0
    for q in range(indptr.size - 1):
        width = max(width, indptr[q + 1] - indptr[q])
    scratch = make_scratch(width, scores)
    gathered = np.empty(width if order.size else 0, scores.dtype)
    for q in range(indptr.size - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        if n == 0:
            continue
        if order.size:
            places = order[start : start + n]
            query_scores = gathered[:n]
            for i in range(n):
                query_scores[i] = scores[places[i]]
        else:
            query_scores = scores[start : start + n]
        if not all_finite(query_scores):
            return first_non_finite(scores, order, start, start + n)
        count = rank_top(query_scores, k, scratch)
        for g in range(gains.shape[0]):
            query_gains = gains[g, start : start + n]
            query_out = out[g, outptr[q] : outptr[q + 1]]
            if tie_means:
                write_tie_means(query_scores, scratch.ranked[:count], query_gains, query_out)
            else:
                for r in range(query_out.size):
                    query_out[r] = query_gains[np.uint64(scratch.ranked[r])]
    return ALL_FINITE


@kernel
def query_values(ranked, outptr, k, discounts, ideal, status, fixed, values):
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
