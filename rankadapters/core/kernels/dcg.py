"""NDCG and DCG of each query, from the gains at its ranks."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import COMPUTE, FEW, FIXED, internal, kernel
from rankadapters.core.kernels.ranked_rows import ALL_FINITE, first_non_finite


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
def discounted_sums_of_top(ranked, outptr, k, discounts, status, fixed, values):
    """As `discounted_sums`, by the DCG of the same k rows in their best order; 0 where that is not positive."""
    for q in range(values.size):
        if status[q] != COMPUTE:
            values[q] = fixed[q] if status[q] == FIXED else np.nan
            continue
        start = outptr[q]
        top = ranked[start : start + min(k, outptr[q + 1] - start)]
        best = np.sort(top)
        total, ideal = 0.0, 0.0
        for r in range(top.size):
            total += top[r] * discounts[r]
            ideal += best[top.size - 1 - r] * discounts[r]
        values[q] = total / ideal if ideal > 0 else 0.0


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


@internal
def spread(column):
    """Tell whether a column has different values."""
    differs = False
    for i in range(column.size):
        differs |= column[i] != column[0]
    return differs


@internal
def move(scores, column, step, moved):
    """Write scores + step x column; tell whether all are finite."""
    broken = False
    for i in range(moved.size):
        moved[i] = scores[i] + step * column[i]
        broken |= moved[i] - moved[i] != 0
    return not broken


@internal
def mean_of_tie(own, rows, worth, score, size):
    """Mean gain of the rows that have this score, `size` of them, of which those of another gain than 0 are listed."""
    total, equal, count, first = 0.0, True, 0, 0.0
    for f in range(rows.size):
        if own[rows[f]] == score:
            first = worth[f] if count == 0 else first
            equal &= worth[f] == first
            total += worth[f]
            count += 1
    return first if equal and count == size else total / size


@internal
def place_found(own, rows, worth, means, ranked):
    """Write each listed gain at its rank, where there is room for it."""
    for f in range(rows.size):
        row = np.uint64(rows[f])
        score, above, not_below = own[row], 0, 0
        for j in range(own.size):
            above += own[j] > score
            not_below += own[j] >= score
        if above >= ranked.size:
            continue
        if not_below == above + 1:
            ranked[above] = worth[f]
        elif means:
            mean = mean_of_tie(own, rows, worth, score, not_below - above)
            for r in range(above, min(not_below, ranked.size)):
                ranked[r] = mean
        else:
            for j in range(row):
                above += own[j] == score
            if above < ranked.size:
                ranked[above] = worth[f]


@kernel
def discounted_sums_along(
    scores, column, steps, indptr, found, foundptr, gains, k, means, discounts, ideal, status, fixed, values
):
    """As `discounted_sums` at scores + step x column, for each step and query; only gains other than 0 are looked for.

    `found` holds the rows of such gains, counted from the first of their query, and `foundptr` where each query's
    begin. A row's rank is the number of scores above its own, so that nothing is sorted. With `means` each rank gets
    the mean of its tie. Where the column is constant in a query, nothing moves. Returns the first row of a query with a
    score that is not finite, else -1.
    """
    width = 0
    for q in range(indptr.size - 1):
        width = max(width, indptr[q + 1] - indptr[q])
    own, ranked = np.empty(width), np.zeros(width)
    for q in range(indptr.size - 1):
        first, n = indptr[q], indptr[q + 1] - indptr[q]
        base, moves = scores[first : first + n], column[first : first + n]
        rows, worth = found[foundptr[q] : foundptr[q + 1]], gains[foundptr[q] : foundptr[q + 1]]
        if status[q] != COMPUTE:
            for t in range(steps.size):
                values[t, q] = fixed[q] if status[q] == FIXED else np.nan
            continue
        moving = spread(moves)
        for t in range(steps.size if moving else 1):
            step = steps[t] if moving else 0.0
            if not move(base, moves, step, own[:n]):
                return first
            place_found(own[:n], rows, worth, means, ranked[: min(k, n)])
            total = 0.0
            for r in range(min(k, n)):
                total += ranked[r] * discounts[r]
                ranked[r] = 0.0
            values[t, q] = total / ideal[q]
        if not moving:
            for t in range(1, steps.size):
                values[t, q] = values[0, q]
    return ALL_FINITE
