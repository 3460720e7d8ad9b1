"""Numpy form of `_kernels.ranking`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankadapters.core._kernels.in_numpy.segments import descending, numbers, starts_of, sums

ALL_FINITE = -1


class ByRank(NamedTuple):
    """Rows of several queries by rank, counted from the first of them; `ties` holds where each tie begins."""

    scores: Any
    rows: Any
    indptr: Any

    @property
    def ties(self) -> Any:
        """Offsets of the ties, of which none reaches beyond a query."""
        changes = np.ones(self.scores.size, np.bool_)
        changes[1:] = self.scores[1:] != self.scores[:-1]
        changes[self.indptr[:-1][np.diff(self.indptr) > 0]] = True
        return starts_of(changes)


def ranked(scores: Any, order: Any, indptr: Any) -> tuple[int, ByRank | None]:
    """Rank the rows of queries; the first row whose score is not finite, and then no ranks, else -1."""
    part = slice(indptr[0], indptr[-1])
    own = scores[order[part]] if order.size else scores[part]
    finite = np.isfinite(own)
    if not finite.all():
        place = int(indptr[0]) + int(np.argmin(finite))
        return int(order[place]) if order.size else place, None
    rows = descending(own, indptr - indptr[0])
    return ALL_FINITE, ByRank(own[rows], rows, indptr - indptr[0])


def top(indptr: Any, outptr: Any) -> Any:
    """Places of the first ranks of each query, as many as `outptr` says."""
    sizes = np.diff(outptr)
    return np.arange(sizes.sum()) + np.repeat(indptr[:-1] - (outptr[:-1] - outptr[0]), sizes)


def ranked_columns(
    scores: Any, order: Any, indptr: Any, k: int, tie_means: bool, gains: Any, outptr: Any, out: Any
) -> int:
    """Write the gains at ranks 1..min(k, n) of each query, for each row of `gains`."""
    del k  # which `outptr` has
    bad, found = ranked(scores, order, indptr)
    if found is None:
        return bad
    kept, part = top(found.indptr, outptr), slice(indptr[0], indptr[-1])
    ties = found.ties if tie_means else None
    for column, written in zip(gains, out, strict=True):
        own = column[part]
        by_rank = own[found.rows[kept]] if ties is None else _tie_means(own[found.rows], ties)[kept]
        written[outptr[0] : outptr[-1]] = by_rank
    return ALL_FINITE


def counted_gains(gains: Any, levels: Any, indptr: Any, outptr: Any, out: Any) -> None:
    """Write the gains of each query from the largest down, as many as `outptr` says; `levels` are their values."""
    query, n = numbers(indptr), indptr.size - 1
    counts = np.zeros((levels.size, n), np.int64)
    for count, level in zip(counts, levels, strict=True):
        count[:] = np.bincount(query[gains == level], minlength=n)
    ends = np.minimum(np.cumsum(counts, axis=0), np.diff(outptr))
    out[:] = np.repeat(np.tile(levels, n), np.diff(ends, axis=0, prepend=0).T.ravel())


def _tie_means(gains: Any, ties: Any) -> Any:
    """Mean of each tie at each of its ranks; equal gains need no division."""
    values, tie = gains.astype(np.float64), numbers(ties)
    low, high = np.minimum.reduceat(values, ties[:-1]), np.maximum.reduceat(values, ties[:-1])
    means = sums(values, tie, ties.size - 1) / np.diff(ties)
    return np.where(low == high, low, means)[tie]


def ranked_spans(
    scores: Any, order: Any, indptr: Any, k: int, sums_: bool, bound: float, strict: bool, columns: Any, outptr: Any,
    out: Any, ends: Any,
) -> int:  # fmt: skip
    """As ranked_columns, with the end of each rank's tie, and 0 in place of rows that `bound` keeps out."""
    del k
    bad, found = ranked(scores, order, indptr)
    if found is None:
        return bad
    kept, part, written = top(found.indptr, outptr), slice(indptr[0], indptr[-1]), slice(outptr[0], outptr[-1])
    own = found.scores[kept].astype(np.float64)  # a float32 score is not compared with a rounded bound
    outside = own <= bound if strict else own < bound
    ties = found.ties if sums_ else np.arange(found.rows.size + 1)
    tie = numbers(ties)
    begins = np.repeat(found.indptr[:-1], np.diff(outptr))
    ends[written] = ties[1:][tie[kept]] - begins
    for column, by_rank in zip(columns, out, strict=True):
        values = column[part][found.rows].astype(np.float64)
        spread = sums(values, tie, ties.size - 1)[tie] if sums_ else values
        by_rank[written] = np.where(outside, 0.0, spread[kept])
    return ALL_FINITE


def order_within(keys: Any, indptr: Any, order: Any) -> None:
    """Order the rows of each query by descending key, then row; `order` holds positions in the whole array."""
    order[indptr[0] : indptr[-1]] = descending(keys[indptr[0] : indptr[-1]], indptr - indptr[0]) + indptr[0]
