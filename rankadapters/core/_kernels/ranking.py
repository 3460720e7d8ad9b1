"""From scores to what the rows bring to their ranks: a gain, a relevance, a weight."""

from __future__ import annotations

import numpy as np

from rankadapters.core._kernels import inlined, internal, kernel
from rankadapters.core._kernels.sorting import new_sorting, rank_top

ALL_FINITE = -1


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


@internal
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
def ranked_columns(scores, order, indptr, k, tie_means, gains, outptr, out):
    """Write the gains at ranks 1..min(k, n) of each query, for each row of `gains`.

    Returns the first row whose score is not finite, else -1. `order` (empty for row order) lists the rows of each query
    in the order that ties keep; `gains` follows it.
    """
    width = 0
    for q in range(indptr.size - 1):
        width = max(width, indptr[q + 1] - indptr[q])
    space = new_sorting(width, scores)
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
        count = rank_top(query_scores, k, space)
        for g in range(gains.shape[0]):
            query_gains = gains[g, start : start + n]
            query_out = out[g, outptr[q] : outptr[q + 1]]
            if tie_means:
                write_tie_means(query_scores, space.order[:count], query_gains, query_out)
            else:
                for r in range(query_out.size):
                    query_out[r] = query_gains[np.uint64(space.order[r])]
    return ALL_FINITE


@kernel
def counted_gains(gains, levels, indptr, outptr, out):
    """Write the gains of each query from the largest down, as many as `outptr` says; `levels` are their values."""
    counts = np.zeros(256, np.int64)
    for q in range(indptr.size - 1):
        for i in range(indptr[q], indptr[q + 1]):
            counts[np.uint64(gains[i])] += 1
        place, end = outptr[q], outptr[q + 1]
        for level in levels:
            last = min(place + counts[level], end)
            counts[level] = 0
            while place < last:
                out[place] = level
                place += 1


@internal
def write_spans(scores, ranked, column, out, ends):
    """As write_tie_means, but each rank gets the sum of its tie, and in `ends` the tie's last rank (1-based)."""
    first = 0
    while first < out.size:
        score = scores[ranked[first]]
        total, last = 0.0, first
        while last < ranked.size and scores[ranked[last]] == score:
            total += np.float64(column[ranked[last]])
            last += 1
        for r in range(first, min(last, out.size)):
            out[r] = total
            ends[r] = last
        first = last


@kernel
def ranked_spans(scores, order, indptr, k, sums, bound, strict, columns, outptr, out, ends):
    """As ranked_columns, with the end of each rank's tie, and 0 in place of rows that `bound` keeps out.

    Where `sums`, every rank gets the sum of its tie and `ends` the tie's last rank; else the row's own number and the
    rank itself. Only rows with a score of at least `bound` (above it, where `strict`) bring what they have.
    """
    width = 0
    for q in range(indptr.size - 1):
        width = max(width, indptr[q + 1] - indptr[q])
    space = new_sorting(width, scores)
    gathered = np.empty(width, scores.dtype)
    for q in range(indptr.size - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        if n == 0:
            continue
        query_scores = gathered[:n]
        for i in range(n):
            query_scores[i] = scores[order[start + i] if order.size else start + i]
        if not all_finite(query_scores):
            return first_non_finite(scores, order, start, start + n)
        count = rank_top(query_scores, k, space)
        query_ends = ends[outptr[q] : outptr[q + 1]]
        for c in range(columns.shape[0]):
            column = columns[c, start : start + n]
            query_out = out[c, outptr[q] : outptr[q + 1]]
            if sums:
                write_spans(query_scores, space.order[:count], column, query_out, query_ends)
            for r in range(query_out.size):
                row = np.uint64(space.order[r])
                if not sums:
                    query_out[r] = column[row]
                    query_ends[r] = r + 1
                if query_scores[row] < bound or (strict and query_scores[row] == bound):
                    query_out[r] = 0.0
    return ALL_FINITE
