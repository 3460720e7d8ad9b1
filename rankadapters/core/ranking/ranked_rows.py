"""The rows of every query by rank: the kernel that sorts scores for the others."""

from __future__ import annotations

import numpy as np

from rankadapters.core.ranking.jit import jit
from rankadapters.core.ranking.sorting import new_sorting, rank_top

ALL_FINITE = -1


@jit(inline="always")
def longest_of(indptr):
    """Return the number of rows of the longest query."""
    width = 0
    for q in range(len(indptr) - 1):
        width = max(width, indptr[q + 1] - indptr[q])
    return width


@jit(inline="always")
def all_finite(scores):
    """Return whether all scores are finite; it has no branches, so that the compiler vectorizes it."""
    broken = False
    for i in range(len(scores)):
        broken |= scores[i] - scores[i] != 0
    return not broken


@jit
def first_non_finite(scores, order, first, last):
    """Return the row number, in the caller's order, of the first score that is not finite, else -1."""
    for i in range(first, last):
        row = order[i] if len(order) else i
        if scores[row] - scores[row] != 0:
            return row
    return ALL_FINITE


@jit
def ranked_rows(scores, order, indptr, k, ties, rowptr, rows):
    """Write the rows of each query by rank, numbered within the query; `rowptr` says how many per query.

    Returns the first row whose score is not finite, else -1. `order` (empty for row order) lists the rows of each query
    in the order that ties keep. With `ties`, all rows that tie with the k-th are written too, a row that ties with the
    previous one is written as ~row, and `rowptr` must have room for all rows. Queries without room are skipped.
    """
    width = longest_of(indptr)
    space = new_sorting(width, scores)
    gathered = np.empty(width if order.size else 0, scores.dtype)
    for q in range(indptr.size - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        ranked = rows[rowptr[q] - rowptr[0] : rowptr[q + 1] - rowptr[0]]
        if ranked.size == 0:
            continue
        if order.size:
            query_rows = order[start : start + n]
            query_scores = gathered[:n]
            for i in range(n):
                query_scores[i] = scores[query_rows[i]]
        else:
            query_scores = scores[start : start + n]
        if not all_finite(query_scores):
            return first_non_finite(scores, order, start, start + n)
        count = rank_top(query_scores, k, space)
        for r in range(min(count, ranked.size)):
            ranked[r] = space.order[r]
        if ties:
            previous = query_scores[np.uint64(ranked[0])]
            for r in range(1, count):
                score = query_scores[np.uint64(ranked[r])]
                ranked[r] ^= -np.int32(score == previous)
                previous = score
            if count < n:
                ranked[count] = 0  # a value that is not ~row ends the last tie
    return ALL_FINITE
