"""What is peculiar about each query: nothing to find, short, one document, equal labels, tied scores."""

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
    """Flags of shape (n_queries,), and the labels; as `DataProfile` says."""

    empty: Flags
    single: Flags
    equal: Flags
    short: dict[int | None, Flags]
    tied: Flags | None
    tied_at_cut: dict[int | None, Flags] | None
    tied_labels: Flags | None  # two rows of equal score differ in label
    labels: dict[float, int]


def flags_of(queries: Queries, scores: Array | None, cutoffs: Cutoffs) -> QueryFlags:
    """Look at every query.

    >>> found = flags_of(Queries([2, 0, 0], group_sizes=[2, 1]), None, (2,))
    >>> found.empty.tolist(), found.equal.tolist(), found.short[2].tolist(), found.labels
    ([False, True], [False, True], [False, True], {0.0: 2, 2.0: 1})
    """
    every = np.ones(queries.n_docs, np.bool_)
    judged = every if queries.judged is None else queries.judged
    retrieved = every if queries.retrieved is None else queries.retrieved
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
        equal=low >= high,  # also where nothing is judged
        short={k: sizes < k if k else np.zeros(n_queries, np.bool_) for k in cutoffs},
        tied=None if ties is None else ties.any(sizes),
        tied_at_cut=None if ties is None else {k: ties.at_cut(sizes, k) for k in cutoffs},
        tied_labels=None if ties is None else ties.of_labels(sizes),
        labels=dict(zip(values.tolist(), counts.tolist(), strict=True)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Ties:
    """Rows in rank order, query by query: which ties they belong to, and whether a tie differs in label."""

    tie: NDArray[np.intp]  # number of the tie of each ranked row; a row that ties with none is a tie by itself
    mixed: Flags  # by tie: whether its labels differ

    def any(self, sizes: NDArray[np.intp]) -> Flags:
        """Which queries have two rows of equal score."""
        same = np.concatenate([self.tie[1:] == self.tie[:-1], [False]])
        query = np.repeat(np.arange(sizes.size), sizes)
        return np.bincount(query, weights=same, minlength=sizes.size) > 0

    def of_labels(self, sizes: NDArray[np.intp]) -> Flags:
        """Which queries have a tie of different labels."""
        query = np.repeat(np.arange(sizes.size), sizes)
        return np.bincount(query, weights=self.mixed[self.tie], minlength=sizes.size) > 0

    def at_cut(self, sizes: NDArray[np.intp], k: int | None) -> Flags:
        """Which queries have a tie of different labels over the ranks k and k + 1."""
        found = np.zeros(sizes.size, np.bool_)
        if k is None:
            return found
        longer = np.flatnonzero(sizes > k)
        last = (np.cumsum(sizes) - sizes)[longer] + k - 1
        found[longer] = (self.tie[last] == self.tie[last + 1]) & self.mixed[self.tie[last]]
        return found


def _ties(queries: Queries, scores: Array, retrieved: Flags, query: NDArray[np.intp]) -> _Ties:
    rows = np.flatnonzero(retrieved)
    bad = ~np.isfinite(scores[rows])
    if bad.any():
        raise non_finite("scores", int(rows[np.argmax(bad)]), scores)
    rows = rows[np.lexsort((-scores[rows], query[rows]))]
    new = np.ones(rows.size, np.bool_)
    new[1:] = (np.diff(query[rows]) != 0) | (np.diff(scores[rows]) != 0)
    tie = np.cumsum(new) - 1
    starts = np.flatnonzero(new)
    # An unjudged row counts as a label of its own: what it is worth is not known.
    labels = queries.labels if queries.judged is None else np.where(queries.judged, queries.labels, np.inf)
    ranked = labels[rows]
    mixed = np.minimum.reduceat(ranked, starts) != np.maximum.reduceat(ranked, starts) if rows.size else new
    return _Ties(tie, mixed)
