"""From scores to what the rows bring to their ranks: a gain, a relevance, a weight."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import internal, kernel, steps
from rankadapters.core.kernels.in_numpy import ranking as in_numpy
from rankadapters.core.kernels.ranked_rows import ranked_rows


@internal
def tie_of(ranked, first, column):
    """End of the tie that begins at rank `first`, its sum, and its lowest and highest number."""
    total, last = 0.0, first
    low, high = np.inf, -np.inf
    while last < ranked.size and (last == first or ranked[last] < 0):
        row = ranked[last]
        value = np.float64(column[row if row >= 0 else ~row])
        low, high = min(low, value), max(high, value)
        total += value
        last += 1
    return last, total, low, high


@kernel(in_numpy=in_numpy.take_columns)
def take_columns(rows, indptr, columns, outptr, out):
    """Write what each ranked row brings, for each row of `columns`; there are as many ranks as `outptr` says."""
    for q in range(indptr.size - 1):
        ranked = rows[outptr[q] - outptr[0] : outptr[q + 1] - outptr[0]]
        for c in range(columns.shape[0]):
            column = columns[c, indptr[q] : indptr[q + 1]]
            written = out[c, outptr[q] : outptr[q + 1]]
            for r in range(written.size):
                written[r] = column[np.uint64(ranked[r])]


@kernel(in_numpy=in_numpy.take_tie_means)
def take_tie_means(rows, indptr, columns, outptr, out):
    """Give each of the first ranks the mean of the rows that tie there."""
    for q in range(indptr.size - 1):
        ranked = rows[indptr[q] - indptr[0] : indptr[q + 1] - indptr[0]]
        for c in range(columns.shape[0]):
            column = columns[c, indptr[q] : indptr[q + 1]]
            written = out[c, outptr[q] : outptr[q + 1]]
            first = 0
            while first < written.size:
                last, total, low, high = tie_of(ranked, first, column)
                # Equal gains need no division, so that the ideal order reaches exactly the ideal DCG.
                mean = low if low == high else total / (last - first)
                for r in range(first, min(last, written.size)):
                    written[r] = mean
                first = last


@kernel(in_numpy=in_numpy.counted_gains)
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


@kernel(in_numpy=in_numpy.take_tie_sums)
def take_tie_sums(rows, indptr, columns, outptr, out, ends):
    """Give each of the first ranks the sum of the rows that tie there, and the tie's last rank (1-based)."""
    for q in range(indptr.size - 1):
        ranked = rows[indptr[q] - indptr[0] : indptr[q + 1] - indptr[0]]
        for c in range(columns.shape[0]):
            column = columns[c, indptr[q] : indptr[q + 1]]
            start, size, first = outptr[q], outptr[q + 1] - outptr[q], 0
            while first < size:
                last, total, _, _ = tie_of(ranked, first, column)
                for r in range(first, min(last, size)):
                    out[c, start + r] = total
                    ends[start + r] = last
                first = last


@kernel(in_numpy=in_numpy.keep_from)
def keep_from(bound, strict, scores, order, rows, indptr, rowptr, outptr, out):
    """Write 0 at the ranks of rows whose score is below `bound`, or equal to it where `strict`."""
    for q in range(indptr.size - 1):
        for r in range(outptr[q + 1] - outptr[q]):
            row = rows[rowptr[q] - rowptr[0] + r]
            place = indptr[q] + (row if row >= 0 else ~row)
            score = np.float64(scores[order[place] if order.size else place])
            if score < bound or (strict and score == bound):
                for c in range(out.shape[0]):
                    out[c, outptr[q] + r] = 0.0


@kernel(in_numpy=in_numpy.take_whole_ties)
def take_whole_ties(rows, indptr, k, columns, outptr, out, ends):
    """Write what each ranked row brings, and its tie's last rank (1-based), to the end of the tie at rank k."""
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
    """Write what the rows bring to the ranks 1..min(k, n) of each query, for each row of `columns`.

    Returns the first row whose score is not finite, else -1. `columns` follow `order`; `ranks` are where each query's
    ranks begin, what they get, and where ties end. `tied` says what the ranks of a tie get: `rows` each row's own
    number, `means` the mean of the tie, `spans` its sum, `whole` each row's own, down to the end of the tie at rank k,
    for which there is room for all rows; the tie's last rank is told with the last two. With `retrieved`, a threshold
    and whether it is strict, rows of a lower score bring 0.
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
        calls.append((keep_from, (*retrieved, scores, order, rows, indptr, rowptr, outptr, out)))
    return calls


@kernel(in_numpy=in_numpy.places_of)
def places_of(rows, indptr, order):
    """Turn rows counted from the first of each query into places in the whole array."""
    for q in range(indptr.size - 1):
        for i in range(indptr[q], indptr[q + 1]):
            order[i] = indptr[q] + rows[i - indptr[0]]


@steps
def order_within(keys, indptr, order):
    """Order the rows of each query by descending key, then row; `order` holds positions in the whole array."""
    rows = np.empty(indptr[-1] - indptr[0], np.int32)
    return [
        (ranked_rows, (keys, np.empty(0, np.int32), indptr, rows.size, False, indptr, rows)),
        (places_of, (rows, indptr, order)),
    ]
