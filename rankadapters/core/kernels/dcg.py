"""NDCG and DCG of each query, from the gains at its ranks."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import FEW, internal, kernel, numbers, unsigned
from rankadapters.core.kernels.in_numpy import ranking as in_numpy
from rankadapters.core.kernels.ranked_rows import ALL_FINITE, first_non_finite, longest_of


@kernel(in_numpy=in_numpy.discounted_sums)
def discounted_sums(ranked, outptr, k, discounts, ideal, values):
    """Sum of gain x discount over the first k ranks of each query, by the ideal DCG."""
    for q in range(len(values)):
        start = outptr[q]
        total = 0.0
        for r in range(min(k, outptr[q + 1] - start)):
            total += ranked[start + r] * discounts[r]
        values[q] = total / ideal[q]


@kernel
def discounted_sums_of_top(ranked, outptr, k, discounts, values):
    """As `discounted_sums`, by the DCG of the same k rows in their best order; 0 where that is not positive."""
    for q in range(len(values)):
        start = outptr[q]
        top = ranked[start : start + min(k, outptr[q + 1] - start)]
        best = np.sort(top)
        total, ideal = 0.0, 0.0
        for r in range(len(top)):
            total += top[r] * discounts[r]
            ideal += best[len(top) - 1 - r] * discounts[r]
        values[q] = total / ideal if ideal > 0 else 0.0


@kernel
def discounted_sums_of_few(scores, order, indptr, gains, k, discounts, ideal, values):
    """As `discounted_sums` of what `ranked_columns` gives, for queries of at most FEW rows, in one pass.

    Returns the first row whose score is not finite, else -1.
    """
    own, ranked = np.empty(FEW), np.empty(FEW)
    for q in range(len(values)):
        first, n = unsigned(indptr[q]), unsigned(indptr[q + 1] - indptr[q])
        broken = False
        for i in range(n):
            own[i] = scores[unsigned(order[first + i]) if len(order) else first + i]
            broken |= own[i] - own[i] != 0
        if broken:
            return first_non_finite(scores, order, indptr[q], indptr[q + 1])
        for i in range(n):
            rank = unsigned(0)
            for j in range(i):
                rank += unsigned(own[j] >= own[i])
            for j in range(i + unsigned(1), n):
                rank += unsigned(own[j] > own[i])
            ranked[rank] = gains[first + i]
        total = 0.0
        for r in range(min(unsigned(k), n)):
            total += ranked[r] * discounts[r]
        # With a branch at this place LLVM makes code for the loops above that takes a tenth less time.
        values[q] = total / ideal[q] if ideal[q] != 1.0 else total
    return ALL_FINITE


@internal
def spread(column):
    """Tell whether a column has different values."""
    differs = False
    for i in range(len(column)):
        differs |= column[i] != column[0]
    return differs


@internal
def move(scores, column, step, moved):
    """Write scores + step x column; tell whether all are finite."""
    broken = False
    for i in range(len(moved)):
        moved[i] = scores[i] + step * column[i]
        broken |= moved[i] - moved[i] != 0
    return not broken


@internal
def mean_of_tie(own, rows, worth, score, size):
    """Mean gain of the rows that have this score, `size` of them, of which those of another gain than 0 are listed."""
    total, equal, count, first = 0.0, True, 0, 0.0
    for f in range(len(rows)):
        if own[rows[f]] == score:
            first = worth[f] if count == 0 else first
            equal &= worth[f] == first
            total += worth[f]
            count += 1
    return first if equal and count == size else total / size


@internal
def place_found(own, rows, worth, means, ranked):
    """Write each listed gain at its rank, where there is room for it."""
    for f in range(len(rows)):
        row = unsigned(rows[f])
        score, above, not_below = own[row], 0, 0
        for j in range(len(own)):
            above += own[j] > score
            not_below += own[j] >= score
        if above >= len(ranked):
            continue
        if not_below == above + 1:
            ranked[above] = worth[f]
        elif means:
            mean = mean_of_tie(own, rows, worth, score, not_below - above)
            for r in range(above, min(not_below, len(ranked))):
                ranked[r] = mean
        else:
            for j in range(row):
                above += own[j] == score
            if above < len(ranked):
                ranked[above] = worth[f]


@kernel
def discounted_sums_along(
    scores, column, steps, indptr, found, foundptr, gains, k, means, discounts, ideal, computed, values
):
    """As `discounted_sums` at scores + step x column, for each step and query; only gains other than 0 are looked for.

    `values` holds the queries of one step after those of the one before; queries that are not `computed` are passed
    over. `found` holds the rows with a gain, counted from the first of their query, and `foundptr` where each query's
    begin. A row's rank is the number of scores above its own, so that nothing is sorted. With `means` each rank gets
    the mean of its tie. Where the column is constant in a query, nothing moves. Returns the first row of a query with a
    score that is not finite, else -1.
    """
    width, n_queries = longest_of(indptr), len(indptr) - 1
    own, ranked = numbers(width), numbers(width)
    for q in range(n_queries):
        if not computed[q]:
            continue
        first, n = indptr[q], indptr[q + 1] - indptr[q]
        base, moves, moved, top = scores[first : first + n], column[first : first + n], own[:n], ranked[: min(k, n)]
        rows, worth = found[foundptr[q] : foundptr[q + 1]], gains[foundptr[q] : foundptr[q + 1]]
        moving = spread(moves)
        for t in range(len(steps) if moving else 1):
            step = steps[t] if moving else 0.0
            if not move(base, moves, step, moved):
                return first
            place_found(moved, rows, worth, means, top)
            total = 0.0
            for r in range(len(top)):
                total += top[r] * discounts[r]
                top[r] = 0.0
            values[t * n_queries + q] = total / ideal[q]
        if not moving:
            for t in range(1, len(steps)):
                values[t * n_queries + q] = values[q]
    return ALL_FINITE


discounted_sums.short_queries = discounted_sums_of_few
discounted_sums.line_search = discounted_sums_along
