"""Rankings in numpy, and NDCG, AP, RR and success: what is evaluated most should not wait for Python's loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core.kernels.in_numpy.segments import (
    largest_first,
    numbers,
    places_within,
    stable_order,
    starts_of,
    sums,
)

ALL_FINITE = -1


def ranked_rows(scores: Any, order: Any, indptr: Any, k: int, ties: bool, rowptr: Any, rows: Any) -> int:
    """As `ranked_rows.ranked_rows`; with `ties` all rows are ranked."""
    part = slice(indptr[0], indptr[-1])
    own, local, room = scores[order[part]] if order.size else scores[part], indptr - indptr[0], rowptr - rowptr[0]
    finite = np.isfinite(own)
    if not finite.all():
        finite |= np.repeat(np.diff(room) == 0, np.diff(local))  # a query without room is passed over
        if not finite.all():
            place = int(indptr[0]) + int(np.argmin(finite))
            return int(order[place]) if order.size else place
    ranked = stable_order(-own, local) if ties else largest_first(own, local, k, room)
    rows[:] = ranked - np.repeat(local[:-1], np.diff(room))
    if ties:
        tied = np.zeros(own.size, np.bool_)
        tied[1:] = own[ranked[1:]] == own[ranked[:-1]]
        tied[local[:-1][np.diff(local) > 0]] = False
        rows[tied] = ~rows[tied]
    return ALL_FINITE


def take_columns(rows: Any, indptr: Any, columns: Any, outptr: Any, out: Any) -> None:
    """As `ranking.take_columns`."""
    places = rows + np.repeat(indptr[:-1], np.diff(outptr))
    for column, written in zip(columns, out, strict=True):
        written[outptr[0] : outptr[-1]] = column[places]


def take_tie_means(rows: Any, indptr: Any, columns: Any, outptr: Any, out: Any) -> None:
    """As `ranking.take_tie_means`."""
    places, ties = _with_ties(rows, indptr)
    tie, first = numbers(ties), _first_ranks(indptr, outptr)
    for column, written in zip(columns, out, strict=True):
        values = column[places].astype(np.float64)
        low, high = np.minimum.reduceat(values, ties[:-1]), np.maximum.reduceat(values, ties[:-1])
        means = sums(values, tie, ties.size - 1) / np.diff(ties)
        # Equal gains need no division, so that the ideal order reaches exactly the ideal DCG.
        written[outptr[0] : outptr[-1]] = np.where(low == high, low, means)[tie][first]


def take_tie_sums(rows: Any, indptr: Any, columns: Any, outptr: Any, out: Any, ends: Any) -> None:
    """As `ranking.take_tie_sums`."""
    places, ties = _with_ties(rows, indptr)
    tie, first, written = numbers(ties), _first_ranks(indptr, outptr), slice(outptr[0], outptr[-1])
    ends[written] = ties[1:][tie[first]] - np.repeat(indptr[:-1] - indptr[0], np.diff(outptr))
    for column, by_rank in zip(columns, out, strict=True):
        by_rank[written] = sums(column[places].astype(np.float64), tie, ties.size - 1)[tie[first]]


def keep_from(
    bound: float, strict: bool, scores: Any, order: Any, rows: Any, indptr: Any, rowptr: Any, outptr: Any, out: Any
) -> None:
    """As `ranking.keep_from`."""
    ranked = rows[_first_ranks(rowptr, outptr)]
    places = np.where(ranked < 0, ~ranked, ranked) + np.repeat(indptr[:-1], np.diff(outptr))
    own = scores[order[places] if order.size else places].astype(np.float64)  # no bound is rounded to float32
    out[:, outptr[0] : outptr[-1]][:, (own < bound) | (strict & (own == bound))] = 0.0


def places_of(rows: Any, indptr: Any, order: Any) -> None:
    """As `ranking.places_of`."""
    order[indptr[0] : indptr[-1]] = rows + np.repeat(indptr[:-1], np.diff(indptr))


def counted_gains(gains: Any, levels: Any, indptr: Any, outptr: Any, out: Any) -> None:
    """As `ranking.counted_gains`."""
    query, n = numbers(indptr), indptr.size - 1
    counts = np.zeros((levels.size, n), np.int64)
    for count, level in zip(counts, levels, strict=True):
        count[:] = np.bincount(query[gains == level], minlength=n)
    ends = np.minimum(np.cumsum(counts, axis=0), np.diff(outptr))
    out[:] = np.repeat(np.tile(levels, n), np.diff(ends, axis=0, prepend=0).T.ravel())


def take_whole_ties(rows: Any, indptr: Any, k: int, columns: Any, outptr: Any, out: Any, ends: Any) -> None:
    """As `ranking.take_whole_ties`; every row has a rank."""
    del k
    places, ties = _with_ties(rows, indptr)
    written = slice(outptr[0], outptr[-1])
    ends[written] = ties[1:][numbers(ties)] - np.repeat(indptr[:-1] - indptr[0], np.diff(indptr))
    for column, by_rank in zip(columns, out, strict=True):
        by_rank[written] = column[places]


def _with_ties(rows: Any, indptr: Any) -> tuple[Any, Any]:
    """Places of ranked rows of which a tied one is written as ~row, and offsets of the ties."""
    tied = rows < 0
    return np.where(tied, ~rows, rows) + np.repeat(indptr[:-1], np.diff(indptr)), starts_of(~tied)


def _first_ranks(rowptr: Any, outptr: Any) -> Any:
    """Places, among the ranked rows of all queries, of the first ranks: as many as `outptr` says."""
    return np.arange(outptr[-1] - outptr[0]) + np.repeat(
        (rowptr[:-1] - rowptr[0]) - (outptr[:-1] - outptr[0]), np.diff(outptr)
    )


def discounted_sums(ranked: Any, outptr: Any, k: int, discounts: Any, ideal: Any, values: Any) -> None:
    """As `dcg.discounted_sums`."""
    rank = places_within(outptr)
    within = np.flatnonzero(rank < k)
    terms = ranked[within + outptr[0]] * discounts[rank[within]]
    values[:] = sums(terms, numbers(outptr)[within], values.size) / ideal


def average_precision(ranked: Any, outptr: Any, k: int, divisor: Any, by_found: bool, values: Any) -> None:
    """As `ap.average_precision`."""
    rank = places_within(outptr)
    relevant = np.flatnonzero((rank < k) & (ranked[outptr[0] : outptr[-1]] > 0))
    query = numbers(outptr)[relevant]
    hitptr = np.searchsorted(query, np.arange(values.size + 1))
    total = sums((places_within(hitptr) + 1.0) / (rank[relevant] + 1), query, values.size)
    below = np.diff(hitptr) if by_found else divisor
    values[:] = np.divide(total, below, out=np.zeros(total.size), where=below > 0)


def reciprocal_rank(ranked: Any, outptr: Any, k: int, values: Any) -> None:
    """As `rr.reciprocal_rank`."""
    rank, found = _first_hits(ranked, outptr, k)
    values[:] = np.where(found, 1.0 / (rank + 1), 0.0)


def any_relevant(ranked: Any, outptr: Any, k: int, values: Any) -> None:
    """As `hits.any_relevant`."""
    values[:] = _first_hits(ranked, outptr, k)[1]


def _first_hits(ranked: Any, outptr: Any, k: int) -> tuple[Any, Any]:
    """Rank of the first relevant row at or after the first of each query, from 0, and whether it is among the k."""
    hits = np.append(np.flatnonzero(ranked[outptr[0] : outptr[-1]] > 0) + outptr[0], outptr[-1])
    rank = hits[np.searchsorted(hits, outptr[:-1])] - outptr[:-1]
    return rank, rank < np.minimum(k, np.diff(outptr))
