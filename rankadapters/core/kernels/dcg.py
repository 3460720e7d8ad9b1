"""DCG and NDCG of each query, from its gains by rank."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import FEW, internal, kernel, unsigned, zeros
from rankadapters.core.kernels.in_numpy import ranking as in_numpy
from rankadapters.core.ranking.ranked_rows import ALL_FINITE, first_non_finite, longest_of


@kernel(in_numpy=in_numpy.discounted_sums)
def discounted_sums(gains_by_rank, outptr, k, discounts, ideal, values):
    """Sum of gain x discount over the first k ranks of each query, divided by its ideal DCG."""
    for q in range(len(values)):
        start = outptr[q]
        total = 0.0
        for r in range(min(k, outptr[q + 1] - start)):
            total += gains_by_rank[start + r] * discounts[r]
        values[q] = total / ideal[q]


@kernel
def discounted_sums_of_top(gains_by_rank, outptr, k, discounts, values):
    """`discounted_sums`, divided by the DCG of the same k rows in ideal order; 0 if that is not positive."""
    for q in range(len(values)):
        start = outptr[q]
        top = gains_by_rank[start : start + min(k, outptr[q + 1] - start)]
        best = np.sort(top)
        total, ideal = 0.0, 0.0
        for r in range(len(top)):
            total += top[r] * discounts[r]
            ideal += best[len(top) - 1 - r] * discounts[r]
        values[q] = total / ideal if ideal > 0 else 0.0


@kernel
def discounted_sums_of_short_queries(scores, order, indptr, gains, k, discounts, ideal, values):
    """Rank queries of at most FEW rows and compute `discounted_sums`, in one pass.

    Returns the first row whose score is not finite, else -1.
    """
    query_scores, gains_by_rank = np.empty(FEW), np.empty(FEW)
    for q in range(len(values)):
        first, n = unsigned(indptr[q]), unsigned(indptr[q + 1] - indptr[q])
        broken = False
        for i in range(n):
            query_scores[i] = scores[unsigned(order[first + i]) if len(order) else first + i]
            broken |= query_scores[i] - query_scores[i] != 0
        if broken:
            return first_non_finite(scores, order, indptr[q], indptr[q + 1])
        for i in range(n):
            rank = unsigned(0)
            for j in range(i):
                rank += unsigned(query_scores[j] >= query_scores[i])
            for j in range(i + unsigned(1), n):
                rank += unsigned(query_scores[j] > query_scores[i])
            gains_by_rank[rank] = gains[first + i]
        total = 0.0
        for r in range(min(unsigned(k), n)):
            total += gains_by_rank[r] * discounts[r]
        # This branch makes LLVM's code for the loops above 10% faster.
        values[q] = total / ideal[q] if ideal[q] != 1.0 else total
    return ALL_FINITE


@internal
def varies(column):
    """Return whether a column has different values."""
    differs = False
    for i in range(len(column)):
        differs |= column[i] != column[0]
    return differs


@internal
def move(scores, column, step, moved):
    """Write scores + step x column; return whether all are finite."""
    broken = False
    for i in range(len(moved)):
        moved[i] = scores[i] + step * column[i]
        broken |= moved[i] - moved[i] != 0
    return not broken


@internal
def mean_of_tie(scores, rows, gains, score, size):
    """Return the mean gain of the `size` rows with this score; `rows` are all rows with nonzero `gains`."""
    total, equal, count, first = 0.0, True, 0, 0.0
    for f in range(len(rows)):
        if scores[rows[f]] == score:
            first = gains[f] if count == 0 else first
            equal &= gains[f] == first
            total += gains[f]
            count += 1
    return first if equal and count == size else total / size


@internal
def rank_gains(scores, rows, gains, means, gains_by_rank):
    """Write the nonzero gains at their ranks, up to the length of `gains_by_rank`."""
    for f in range(len(rows)):
        row = unsigned(rows[f])
        score, above, not_below = scores[row], 0, 0
        for j in range(len(scores)):
            above += scores[j] > score
            not_below += scores[j] >= score
        if above >= len(gains_by_rank):
            continue
        if not_below == above + 1:
            gains_by_rank[above] = gains[f]
        elif means:
            mean = mean_of_tie(scores, rows, gains, score, not_below - above)
            for r in range(above, min(not_below, len(gains_by_rank))):
                gains_by_rank[r] = mean
        else:
            for j in range(row):
                above += scores[j] == score
            if above < len(gains_by_rank):
                gains_by_rank[above] = gains[f]


@kernel
def discounted_sums_in_steps(
    scores, column, steps, indptr, gain_rows, gainptr, gains, k, means, discounts, ideal, computed, values
):
    """Compute `discounted_sums` at scores + step x column, for each step and query, from nonzero gains only.

    `values` holds all queries of step 1, then of step 2, and so on; queries that are not `computed` are skipped.
    `gain_rows` holds the rows with nonzero gain, numbered within their query, and `gainptr` the offsets of the queries.
    Ranks are found by counting higher scores, without sorting. With `means`, each rank gets the mean of its tie. If the
    column is constant in a query, all its steps share one value. Returns the first row of a query with a score that is
    not finite, else -1.
    """
    width, n_queries = longest_of(indptr), len(indptr) - 1
    moved_space, rank_space = zeros(width), zeros(width)
    for q in range(n_queries):
        if not computed[q]:
            continue
        first, n = indptr[q], indptr[q + 1] - indptr[q]
        base, moves = scores[first : first + n], column[first : first + n]
        moved, top = moved_space[:n], rank_space[: min(k, n)]
        rows, row_gains = gain_rows[gainptr[q] : gainptr[q + 1]], gains[gainptr[q] : gainptr[q + 1]]
        moving = varies(moves)
        for t in range(len(steps) if moving else 1):
            step = steps[t] if moving else 0.0
            if not move(base, moves, step, moved):
                return first
            rank_gains(moved, rows, row_gains, means, top)
            total = 0.0
            for r in range(len(top)):
                total += top[r] * discounts[r]
                top[r] = 0.0
            values[t * n_queries + q] = total / ideal[q]
        if not moving:
            for t in range(1, len(steps)):
                values[t * n_queries + q] = values[q]
    return ALL_FINITE


discounted_sums.short_queries = discounted_sums_of_short_queries
discounted_sums.line_search = discounted_sums_in_steps
