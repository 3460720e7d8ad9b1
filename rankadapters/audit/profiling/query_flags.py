"""Flag the queries that are empty, short, of one document, of equal labels, or with tied scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, non_finite
from rankadapters.core.data.queries import Queries

Flags = NDArray[np.bool_]
Cutoffs = tuple[int | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class QueryFlags:
    """Which queries have each trait, how many rows have each label, and whether all rows are judged."""

    empty: Flags
    single: Flags
    equal: Flags
    short: dict[int | None, Flags]
    tied: Flags | None
    tied_at_cut: dict[int | None, Flags] | None
    tied_labels: Flags | None  # whether rows of equal score differ in label
    labels: dict[float, int]
    all_judged: bool


def flags_of(queries: Queries, scores: Array | None, cutoffs: Cutoffs) -> QueryFlags:
    """Return the flags of every query.

    >>> flags = flags_of(Queries([2, 0, 0], group_sizes=[2, 1]), None, (2,))
    >>> flags.empty.tolist(), flags.equal.tolist(), flags.short[2].tolist(), flags.labels
    ([False, True], [False, True], [False, True], {0.0: 2, 2.0: 1})
    """
    all_rows = np.ones(queries.n_docs, np.bool_)
    judged = all_rows if queries.judged is None else queries.judged
    retrieved = all_rows if queries.retrieved is None else queries.retrieved
    query = queries.query_of_row
    n_queries = queries.n_queries
    low, high = np.full(n_queries, np.inf), np.full(n_queries, -np.inf)
    np.minimum.at(low, query[judged], queries.labels[judged])
    np.maximum.at(high, query[judged], queries.labels[judged])
    sizes = np.bincount(query[retrieved], minlength=n_queries)
    ties = None if scores is None else _ties(queries, scores, retrieved, query)
    values, counts = np.unique(queries.labels[judged], return_counts=True)
    return QueryFlags(
        empty=high <= 0,
        single=np.bincount(query[judged], minlength=n_queries) == 1,
        equal=low >= high,  # also true if nothing is judged
        short={k: sizes < k if k else np.zeros(n_queries, np.bool_) for k in cutoffs},
        tied=None if ties is None else ties.any(sizes),
        tied_at_cut=None if ties is None else {k: ties.at_cut(sizes, k) for k in cutoffs},
        tied_labels=None if ties is None else ties.of_labels(sizes),
        labels=dict(zip(values.tolist(), counts.tolist(), strict=True)),
        all_judged=bool(judged.all()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Ties:
    """The tie of each row, for rows in rank order within each query, and whether the labels of each tie differ."""

    tie: NDArray[np.intp]  # tie number of each row; an untied row is a tie of one row
    mixed: Flags  # whether the labels of each tie differ

    def any(self, sizes: NDArray[np.intp]) -> Flags:
        """Return which queries have two rows of equal score."""
        same = np.concatenate([self.tie[1:] == self.tie[:-1], [False]])
        query = np.repeat(np.arange(sizes.size), sizes)
        return np.bincount(query, weights=same, minlength=sizes.size) > 0

    def of_labels(self, sizes: NDArray[np.intp]) -> Flags:
        """Return which queries have tied rows with different labels."""
        query = np.repeat(np.arange(sizes.size), sizes)
        return np.bincount(query, weights=self.mixed[self.tie], minlength=sizes.size) > 0

    def at_cut(self, sizes: NDArray[np.intp], k: int | None) -> Flags:
        """Return which queries have a tie that includes ranks k and k + 1 and whose rows have different labels."""
        tied = np.zeros(sizes.size, np.bool_)
        if k is None:
            return tied
        longer = np.flatnonzero(sizes > k)
        last = (np.cumsum(sizes) - sizes)[longer] + k - 1
        tied[longer] = (self.tie[last] == self.tie[last + 1]) & self.mixed[self.tie[last]]
        return tied


def _ties(queries: Queries, scores: Array, retrieved: Flags, query: NDArray[np.intp]) -> _Ties:
    rows = np.flatnonzero(retrieved)
    invalid = ~np.isfinite(scores[rows])
    if invalid.any():
        raise non_finite("scores", int(rows[np.argmax(invalid)]), scores)
    rows = rows[np.lexsort((-scores[rows], query[rows]))]
    first_of_tie = np.ones(rows.size, np.bool_)
    first_of_tie[1:] = (np.diff(query[rows]) != 0) | (np.diff(scores[rows]) != 0)
    tie = np.cumsum(first_of_tie) - 1
    starts = np.flatnonzero(first_of_tie)
    # Unjudged rows share one separate label, since their relevance is unknown.
    labels = queries.labels if queries.judged is None else np.where(queries.judged, queries.labels, np.inf)
    labels_by_rank = labels[rows]
    if not rows.size:
        return _Ties(tie, first_of_tie)
    return _Ties(tie, np.minimum.reduceat(labels_by_rank, starts) != np.maximum.reduceat(labels_by_rank, starts))
