"""Columns by rank: rank rows by score, and write their gains, relevance or weights in that order."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import internal, kernel, steps
from rankadapters.core.ranking.ranked_rows import ranked_rows


@internal
def sum_of_tie(ranked, first, column):
    """Return the end of the tie that begins at rank `first`, its sum, and its lowest and highest value."""
    total, last = 0.0, first
    low, high = np.inf, -np.inf
    while last < ranked.size and (last == first or ranked[last] < 0):
        row = ranked[last]
        value = np.float64(column[row if row >= 0 else ~row])
        low, high = min(low, value), max(high, value)
        total += value
        last += 1
    return last, total, low, high


@kernel
def take_columns(rows, indptr, columns, outptr, out):
    """Write each column in rank order; `outptr` has the offsets of the queries' ranks."""
    for q in range(indptr.size - 1):
        ranked = rows[outptr[q] - outptr[0] : outptr[q + 1] - outptr[0]]
        for c in range(columns.shape[0]):
            column = columns[c, indptr[q] : indptr[q + 1]]
            written = out[c, outptr[q] : outptr[q + 1]]
            for r in range(written.size):
                written[r] = column[np.uint64(ranked[r])]


@kernel
def take_tie_means(rows, indptr, columns, outptr, out):
    """Write at each rank the mean of its tie."""
    for q in range(indptr.size - 1):
        ranked = rows[indptr[q] - indptr[0] : indptr[q + 1] - indptr[0]]
        for c in range(columns.shape[0]):
            column = columns[c, indptr[q] : indptr[q + 1]]
            written = out[c, outptr[q] : outptr[q + 1]]
            first = 0
            while first < written.size:
                last, total, low, high = sum_of_tie(ranked, first, column)
                # Equal gains need no division, so that an ideal order has exactly the ideal DCG.
                mean = low if low == high else total / (last - first)
                for r in range(first, min(last, written.size)):
                    written[r] = mean
                first = last


@kernel
def sort_by_counting(gains, levels, indptr, outptr, out):
    """Write the largest gains of each query in descending order; `levels` are the distinct gains."""
    counts = np.zeros(256, np.int64)
    for q in range(indptr.size - 1):
        for i in range(indptr[q], indptr[q + 1]):
            counts[np.uint64(gains[i])] += 1
        position, end = outptr[q], outptr[q + 1]
        for level in levels:
            last = min(position + counts[level], end)
            counts[level] = 0
            while position < last:
                out[position] = level
                position += 1


@kernel
def take_tie_sums(rows, indptr, columns, outptr, out, ends):
    """Write at each rank the sum of its tie, and the tie's last rank (1-based)."""
    for q in range(indptr.size - 1):
        ranked = rows[indptr[q] - indptr[0] : indptr[q + 1] - indptr[0]]
        for c in range(columns.shape[0]):
            column = columns[c, indptr[q] : indptr[q + 1]]
            start, size, first = outptr[q], outptr[q + 1] - outptr[q], 0
            while first < size:
                last, total, _, _ = sum_of_tie(ranked, first, column)
                for r in range(first, min(last, size)):
                    out[c, start + r] = total
                    ends[start + r] = last
                first = last


@kernel
def zero_below(threshold, strict, scores, order, rows, indptr, rowptr, outptr, out):
    """Write 0 at the ranks of rows whose score is below `threshold`, or equal to it if `strict`."""
    for q in range(indptr.size - 1):
        for r in range(outptr[q + 1] - outptr[q]):
            row = rows[rowptr[q] - rowptr[0] + r]
            position = indptr[q] + (row if row >= 0 else ~row)
            score = np.float64(scores[order[position] if order.size else position])
            if score < threshold or (strict and score == threshold):
                for c in range(out.shape[0]):
                    out[c, outptr[q] + r] = 0.0


@kernel
def take_whole_ties(rows, indptr, k, columns, outptr, out, ends):
    """Write the columns by rank, up to the end of the tie at rank k, and each tie's last rank (1-based)."""
    for q in range(indptr.size - 1):
        ranked = rows[indptr[q] - indptr[0] : indptr[q + 1] - indptr[0]]
        start, first = outptr[q], 0
        while first < min(k, ranked.size):
            last = first + 1
            while last < ranked.size and ranked[last] < 0:
                last += 1
            for r in range(first, last):
                row = ranked[r] if ranked[r] >= 0 else ~ranked[r]
                ends[start + r] = last
                for c in range(columns.shape[0]):
                    out[c, start + r] = columns[c, indptr[q] + row]
            first = last


@steps
def ranked_columns(scores, order, indptr, k, tied, retrieved, columns, ranks):
    """Rank the rows of each query and write `columns` at the ranks 1..min(k, n).

    Returns the first row whose score is not finite, else -1. `columns` have the row order of `order`. `ranks` are three
    output arrays: the offsets of the queries, the columns by rank, and the ends of ties. `tied` defines the values of
    tied ranks: `rows` each row's own, `means` the mean of the tie, `spans` its sum, `whole` each row's own, to the end
    of the tie at rank k, with room for all rows; `spans` and `whole` also write the ends. `retrieved` is None, or a
    score threshold and whether it is strict; rows with lower scores get 0.
    """
    outptr, out, ends = ranks
    rowptr = outptr if tied == "rows" else indptr
    rows = np.empty(rowptr[-1] - rowptr[0], np.int32)
    calls = [
        (ranked_rows, (scores, order, indptr, k, tied != "rows", rowptr, rows)),
        {
            "rows": (take_columns, (rows, indptr, columns, outptr, out)),
            "means": (take_tie_means, (rows, indptr, columns, outptr, out)),
            "spans": (take_tie_sums, (rows, indptr, columns, outptr, out, ends)),
            "whole": (take_whole_ties, (rows, indptr, k, columns, outptr, out, ends)),
        }[tied],
    ]
    if retrieved is not None:
        calls.append((zero_below, (*retrieved, scores, order, rows, indptr, rowptr, outptr, out)))
    return calls


@kernel
def absolute_rows(rows, indptr, order):
    """Turn row numbers within each query into row numbers in the whole array."""
    for q in range(indptr.size - 1):
        for i in range(indptr[q], indptr[q + 1]):
            order[i] = indptr[q] + rows[i - indptr[0]]


@steps
def order_within(keys, indptr, order):
    """Order the rows of each query by descending key, then row; `order` gets row numbers in the whole array."""
    rows = np.empty(indptr[-1] - indptr[0], np.int32)
    return [
        (ranked_rows, (keys, np.empty(0, np.int32), indptr, rows.size, False, indptr, rows)),
        (absolute_rows, (rows, indptr, order)),
    ]
