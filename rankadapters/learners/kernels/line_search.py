"""NDCG along a line: at scores + step x column, for many steps."""

from __future__ import annotations

import numpy as np

from rankadapters.core.ranking.jit import jit


@jit
def varies(column):
    """Return whether a column has different values."""
    differs = False
    for i in range(len(column)):
        differs |= column[i] != column[0]
    return differs


@jit
def move(scores, column, step, moved):
    """Write scores + step x column; return whether all are finite."""
    broken = False
    for i in range(len(moved)):
        moved[i] = scores[i] + step * column[i]
        broken |= moved[i] - moved[i] != 0
    return not broken


@jit
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


@jit
def rank_gains(scores, rows, gains, means, gains_by_rank):
    """Write the nonzero gains at their ranks, up to the length of `gains_by_rank`."""
    for f in range(len(rows)):
        row = np.uint64(rows[f])
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


@jit
def discounted_sums_in_steps(
    scores, column, steps, indptr, gain_rows, gainptr, gains, k, means, discounts, ideal, computed, values
):
    """Compute the discounted sums of NDCG or DCG at scores + step x column, by step and query, from nonzero gains only.

    `values` holds all queries of step 1, then of step 2, and so on; queries that are not `computed` are skipped.
    `gain_rows` holds the rows with nonzero gain, numbered within their query, and `gainptr` the offsets of the queries.
    Ranks are found by counting higher scores, without sorting. With `means`, each rank gets the mean of its tie. If the
    column is constant in a query, all its steps share one value. Returns the first row of a query with a score that is
    not finite, else -1.
    """
    width, n_queries = np.diff(indptr).max(), len(indptr) - 1
    moved_space, rank_space = np.zeros(width), np.zeros(width)
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
    return -1
