"""Rankings and the most used measures, NDCG, AP, RR and success, in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core.ranking.segments import (
    largest_first,
    positions_within,
    segment_numbers,
    stable_order,
    starts_of,
    sums,
)

ALL_FINITE = -1


def ranked_rows(scores: Any, order: Any, indptr: Any, k: int, ties: bool, rowptr: Any, rows: Any) -> int:
    """`ranked_rows.ranked_rows` in numpy; with `ties`, all rows are ranked."""
    part = slice(indptr[0], indptr[-1])
    query_scores = scores[order[part]] if order.size else scores[part]
    local, room = indptr - indptr[0], rowptr - rowptr[0]
    finite = np.isfinite(query_scores)
    if not finite.all():
        finite |= np.repeat(np.diff(room) == 0, np.diff(local))  # queries without room are skipped
        if not finite.all():
            position = int(indptr[0]) + int(np.argmin(finite))
            return int(order[position]) if order.size else position
    ranked = stable_order(-query_scores, local) if ties else largest_first(query_scores, local, k, room)
    rows[:] = ranked - np.repeat(local[:-1], np.diff(room))
    if ties:
        tied = np.zeros(ranked.size, np.bool_)
        tied[1:] = query_scores[ranked[1:]] == query_scores[ranked[:-1]]
        tied[local[:-1][np.diff(local) > 0]] = False
        rows[tied] = ~rows[tied]
    return ALL_FINITE


def take_columns(rows: Any, indptr: Any, columns: Any, outptr: Any, out: Any) -> None:
    """`ranking.take_columns` in numpy."""
    positions = rows + np.repeat(indptr[:-1], np.diff(outptr))
    for column, written in zip(columns, out, strict=True):
        written[outptr[0] : outptr[-1]] = column[positions]


def take_tie_means(rows: Any, indptr: Any, columns: Any, outptr: Any, out: Any) -> None:
    """`ranking.take_tie_means` in numpy."""
    positions, ties = _with_ties(rows, indptr)
    tie, first = segment_numbers(ties), _first_ranks(indptr, outptr)
    for column, written in zip(columns, out, strict=True):
        values = column[positions].astype(np.float64)
        low, high = np.minimum.reduceat(values, ties[:-1]), np.maximum.reduceat(values, ties[:-1])
        means = sums(values, tie, ties.size - 1) / np.diff(ties)
        # Equal gains need no division, so that an ideal order has exactly the ideal DCG.
        written[outptr[0] : outptr[-1]] = np.where(low == high, low, means)[tie][first]


def take_tie_sums(rows: Any, indptr: Any, columns: Any, outptr: Any, out: Any, ends: Any) -> None:
    """`ranking.take_tie_sums` in numpy."""
    positions, ties = _with_ties(rows, indptr)
    tie, first, written = segment_numbers(ties), _first_ranks(indptr, outptr), slice(outptr[0], outptr[-1])
    ends[written] = ties[1:][tie[first]] - np.repeat(indptr[:-1] - indptr[0], np.diff(outptr))
    for column, by_rank in zip(columns, out, strict=True):
        by_rank[written] = sums(column[positions].astype(np.float64), tie, ties.size - 1)[tie[first]]


def zero_below(
    threshold: float, strict: bool, scores: Any, order: Any, rows: Any, indptr: Any, rowptr: Any, outptr: Any, out: Any
) -> None:
    """`ranking.zero_below` in numpy."""
    ranked = rows[_first_ranks(rowptr, outptr)]
    positions = np.where(ranked < 0, ~ranked, ranked) + np.repeat(indptr[:-1], np.diff(outptr))
    by_rank = scores[order[positions] if order.size else positions].astype(np.float64)  # float64, like the threshold
    out[:, outptr[0] : outptr[-1]][:, (by_rank < threshold) | (strict & (by_rank == threshold))] = 0.0


def absolute_rows(rows: Any, indptr: Any, order: Any) -> None:
    """`ranking.absolute_rows` in numpy."""
    order[indptr[0] : indptr[-1]] = rows + np.repeat(indptr[:-1], np.diff(indptr))


def sort_by_counting(gains: Any, levels: Any, indptr: Any, outptr: Any, out: Any) -> None:
    """`ranking.sort_by_counting` in numpy."""
    query, n = segment_numbers(indptr), indptr.size - 1
    counts = np.zeros((levels.size, n), np.int64)
    for count, level in zip(counts, levels, strict=True):
        count[:] = np.bincount(query[gains == level], minlength=n)
    ends = np.minimum(np.cumsum(counts, axis=0), np.diff(outptr))
    out[:] = np.repeat(np.tile(levels, n), np.diff(ends, axis=0, prepend=0).T.ravel())


def take_whole_ties(rows: Any, indptr: Any, k: int, columns: Any, outptr: Any, out: Any, ends: Any) -> None:
    """`ranking.take_whole_ties` in numpy, which writes all ranks instead of stopping after the tie at rank k."""
    del k
    positions, ties = _with_ties(rows, indptr)
    written = slice(outptr[0], outptr[-1])
    ends[written] = ties[1:][segment_numbers(ties)] - np.repeat(indptr[:-1] - indptr[0], np.diff(indptr))
    for column, by_rank in zip(columns, out, strict=True):
        by_rank[written] = column[positions]


def _with_ties(rows: Any, indptr: Any) -> tuple[Any, Any]:
    """Return the positions of ranked rows, where tied rows are stored as ~row, and the offsets of the ties."""
    tied = rows < 0
    return np.where(tied, ~rows, rows) + np.repeat(indptr[:-1], np.diff(indptr)), starts_of(~tied)


def _first_ranks(rowptr: Any, outptr: Any) -> Any:
    """Return the positions of each query's top ranks among all ranked rows; `outptr` defines how many per query."""
    return np.arange(outptr[-1] - outptr[0]) + np.repeat(
        (rowptr[:-1] - rowptr[0]) - (outptr[:-1] - outptr[0]), np.diff(outptr)
    )


def discounted_sums(gains_by_rank: Any, outptr: Any, k: int, discounts: Any, ideal: Any, values: Any) -> None:
    """`dcg.discounted_sums` in numpy."""
    rank = positions_within(outptr)
    within = np.flatnonzero(rank < k)
    terms = gains_by_rank[within + outptr[0]] * discounts[rank[within]]
    values[:] = sums(terms, segment_numbers(outptr)[within], values.size) / ideal


def average_precision(gains_by_rank: Any, outptr: Any, k: int, divisor: Any, by_found: bool, values: Any) -> None:
    """`ap.average_precision` in numpy."""
    rank = positions_within(outptr)
    relevant = np.flatnonzero((rank < k) & (gains_by_rank[outptr[0] : outptr[-1]] > 0))
    query = segment_numbers(outptr)[relevant]
    hitptr = np.searchsorted(query, np.arange(values.size + 1))
    total = sums((positions_within(hitptr) + 1.0) / (rank[relevant] + 1), query, values.size)
    denominator = np.diff(hitptr) if by_found else divisor
    values[:] = np.divide(total, denominator, out=np.zeros(total.size), where=denominator > 0)


def reciprocal_rank(gains_by_rank: Any, outptr: Any, k: int, values: Any) -> None:
    """`rr.reciprocal_rank` in numpy."""
    rank, in_top = _first_hits(gains_by_rank, outptr, k)
    values[:] = np.where(in_top, 1.0 / (rank + 1), 0.0)


def any_relevant(gains_by_rank: Any, outptr: Any, k: int, values: Any) -> None:
    """`hits.any_relevant` in numpy."""
    values[:] = _first_hits(gains_by_rank, outptr, k)[1]


def _first_hits(gains_by_rank: Any, outptr: Any, k: int) -> tuple[Any, Any]:
    """Return the 0-based rank of each query's first relevant row, and whether it is among the first k."""
    hits = np.append(np.flatnonzero(gains_by_rank[outptr[0] : outptr[-1]] > 0) + outptr[0], outptr[-1])
    rank = hits[np.searchsorted(hits, outptr[:-1])] - outptr[:-1]
    return rank, rank < np.minimum(k, np.diff(outptr))
