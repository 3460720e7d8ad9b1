"""NDCG along a line: at scores + step x column, for many steps."""

from __future__ import annotations

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import longest_of


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
def discounted_sums_along(
    first_query, last_query, scores, column, steps,
    indptr, gain_rows, gainptr, gains, k, means, discounts, ideal, computed, values,
):  # fmt: skip
    """Compute the discounted sums of NDCG or DCG at scores + step x column, from nonzero gains only.

    `values` has a row for each query and a column for each step. Only the queries from `first_query` up to, but not
    including, `last_query` are written, and of these only the `computed` ones. `gain_rows` holds the rows with nonzero
    gain, numbered within their query, and `gainptr` the offsets of the queries. Ranks are found by counting higher
    scores, without sorting. With `means`, each rank gets the mean of its tie. If the column is constant in a query, all
    its steps share one value. Returns whether all scores are finite.
    """
    width = longest_of(indptr[first_query : last_query + 1])
    moved_space, rank_space = np.zeros(width), np.zeros(width)
    for q in range(first_query, last_query):
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
                return False
            rank_gains(moved, rows, row_gains, means, top)
            total = 0.0
            for r in range(len(top)):
                total += top[r] * discounts[r]
                top[r] = 0.0
            values[q, t] = total / ideal[q]
        if not moving:
            values[q, 1:] = values[q, 0]
    return True
