"""Ranks: the rows of each query by score, up to a cutoff, and what formulas need from columns at these ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.classes import lazy_property
from rankadapters.core.ranking import compiled
from rankadapters.core.ranking.offsets import (
    Array,
    Floats,
    Ints,
    first_positions,
    offsets,
    positions_within,
    run_starts,
    running,
    segment_numbers,
    sums,
    with_last_run,
)
from rankadapters.core.ranking.ordering import largest_first


class NotFiniteError(Exception):
    """A score is NaN or infinite; `row` is its number in the caller's order."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


class Ties(NamedTuple):
    """Runs of rows of a query with equal scores, from the highest score down; a row without a tie is a run of one."""

    indptr: Ints  # where each run begins among the rows by rank
    first: Ints  # the rank of its first row, from 0
    query: Ints

    @property
    def sizes(self) -> Ints:
        """Number of rows of each run."""
        return np.diff(self.indptr)


class Ranks:
    """The rows of some queries by rank, up to rank k.

    An array "at each rank" holds the ranks 1..min(k, n) of the first query, then those of the second query, and so on.
    All sums are added from left to right.

    Parameters
    ----------
    scores : float array, shape (n_docs,)
        Scores in the caller's order, float32 or float64.
    order : int array or None
        Row numbers in the order that ties keep, query by query; None means 0, 1, 2, ...
    indptr : int64 array, shape (n_queries + 1,)
        Where the rows of each query begin in this order; the first may be above 0.
    k : int or None
        The last rank. None means all ranks, and that the rows are sorted when a formula first asks for their order.
    averaged : bool
        Whether a rank has the mean of its tie, in place of the row that the order puts there.
    threshold : tuple of float and bool, optional
        Rows of a lower score are not retrieved: they have the value 0 in every column. With True, neither are rows of
        this score.

    Attributes
    ----------
    indptr, outptr : int64 array, shape (n_queries + 1,)
        Where the rows, and where the ranks of each query begin, from 0.

    Raises
    ------
    NotFiniteError
        A score is NaN or infinite.
    """

    def __init__(
        self, scores: Array, order: Array | None, indptr: Ints, k: int | None = None, *, averaged: bool = False,
        threshold: tuple[float, bool] | None = None,
    ) -> None:  # fmt: skip
        self.indptr: Ints = indptr - indptr[0]
        self.sizes: Ints = self.indptr[1:] - self.indptr[:-1]
        self._arguments = scores, order, indptr
        self._threshold, self.averaged = threshold, averaged
        longest = int(self.sizes.max(initial=1))
        self.k, self._same_k = longest if k is None else k, True
        self.outptr = self.indptr if self.k >= longest else offsets(np.minimum(self.sizes, self.k))
        self._deepest = self.k, self.outptr  # of all cutoffs, see `cut`
        self._roomptr = self.indptr if averaged else self.outptr  # where the compiled ranking has room for each query
        self._compiles = compiled.pays(int(self.indptr[-1]))
        if self._compiles and k is not None:
            self._rows  # noqa: B018 - ranks, which finds scores that are not finite
        elif not np.isfinite(self.scores).all():
            position = int(indptr[0] + np.argmin(np.isfinite(self.scores)))
            raise NotFiniteError(position if order is None else int(order[position]))

    @lazy_property
    def scores(self) -> Array:
        """Score of each row, in the order that ties keep."""
        scores, order, indptr = self._arguments
        part = slice(int(indptr[0]), int(indptr[-1]))
        return scores[part if order is None else order[part]]

    @lazy_property
    def query_of_row(self) -> Ints:
        """Number of each row's query."""
        return segment_numbers(self.indptr)

    @lazy_property
    def _rows(self) -> Array:
        """The compiled ranking: row numbers within their queries, as ~row if the row ties with the one before."""
        scores, order, indptr = self._arguments
        rows = np.empty(int(self._roomptr[-1]), np.int32)
        bad = compiled.rank(scores, order, indptr, self._deepest[0], self.averaged, self._roomptr, rows)
        if bad >= 0:
            raise NotFiniteError(bad)
        return rows

    @property
    def ranked(self) -> Ints:
        """Positions of the rows by rank: of the first k, and, if ties are averaged, of all that tie with the k-th."""
        return self._sorted[0]

    @property
    def rankptr(self) -> Ints:
        """Where the rows of each query begin in `ranked`."""
        return self._sorted[1]

    @lazy_property
    def _sorted(self) -> tuple[Ints, Ints]:
        k, outptr = self._deepest
        if self._compiles:
            order, sortedptr = self._rows, self._roomptr
        else:
            order, sortedptr = largest_first(self.scores, self.indptr, k)
        if not self.averaged or outptr is self.indptr:
            rankptr = outptr
        else:
            starts = order >= 0 if self._compiles else run_starts(self.scores[order], sortedptr)
            rankptr = with_last_run(starts, sortedptr, np.diff(outptr))
        if rankptr[-1] < order.size:
            order = order[first_positions(sortedptr, rankptr)]
        if self._compiles:
            rows = np.where(order < 0, ~order, order) if self.averaged else order
            order = rows + np.repeat(self.indptr[:-1], np.diff(rankptr))
        return order, rankptr

    def cut(self, k: int | Ints) -> Ranks:
        """Return the ranks up to a smaller cutoff, or up to each query's own one, without ranking again."""
        if not self._compiles:
            self.ranked  # noqa: B018 - computes it once for all cutoffs
        cut = object.__new__(Ranks)
        vars(cut).update({name: value for name, value in vars(self).items() if name not in _BY_RANK})
        cut.k, cut._same_k = int(np.max(k, initial=1)), isinstance(k, int)
        cut.outptr = offsets(np.minimum(self.sizes, k))
        return cut

    @lazy_property
    def rank(self) -> Ints:
        """The ranks, from 0."""
        return positions_within(self.outptr)

    @lazy_property
    def query(self) -> Ints:
        """Number of the query at each rank."""
        return segment_numbers(self.outptr)

    def sums(self, values: Array) -> Floats:
        """Return the sum over each query's ranks."""
        totals: Floats = np.bincount(self.query, values, self.indptr.size - 1)  # type: ignore[assignment]  # of floats
        return totals

    def running(self, ufunc: np.ufunc, values: Array) -> Floats:
        """Return the running sums or products within each query's ranks."""
        return running(ufunc, values, self.outptr)

    def take(self, column: Array) -> Array:
        """Return a column at each rank: the mean of the tie if ties are averaged, and 0 for rows not retrieved."""
        values = column[self.rows] if not self.averaged else self._tie_means(column)[self.tie]
        if self._threshold is not None:
            values = np.where(self._is_below(self.scores[self.rows]), 0.0, values)
        return values

    @lazy_property
    def rows(self) -> Ints:
        """Position of the row at each rank; the first of tied rows comes first."""
        return self._of_ranked(self.ranked)

    def _of_ranked(self, array: Array) -> Array:
        """Return an array of the rows in `ranked` at each rank."""
        return array if self.rankptr is self.outptr else array[first_positions(self.rankptr, self.outptr)]

    def discounted_sums(self, gains: Floats, discounts: Floats) -> Floats:
        """Return the sum of gain x discount over each query's ranks."""
        if self._compiles and self._threshold is None and self._same_k:
            totals = np.empty(self.indptr.size - 1)
            columns = (np.ascontiguousarray(gains), discounts)
            compiled.discounted_sums(self._rows, self._roomptr, self.indptr, self.k, self.averaged, *columns, totals)
            return totals
        return self.sums(self.take(gains) * discounts[self.rank])

    @lazy_property
    def ties(self) -> Ties:
        """The ties of the rows in `ranked`; the last of each query is whole only if ties are averaged."""
        all_rows = self.rankptr is self.indptr
        if self._compiles and self.averaged and all_rows:
            starts = self._rows >= 0
        else:
            starts = run_starts(self.scores[self.ranked], self.rankptr)
        first = np.flatnonzero(starts)
        query = (self.query_of_row if all_rows else segment_numbers(self.rankptr))[first]
        return Ties(np.append(first, starts.size), first - self.rankptr[query], query)

    @lazy_property
    def tie_of_row(self) -> Ints:
        """Number of the tie of each row by rank."""
        return segment_numbers(self.ties.indptr)

    @lazy_property
    def tie(self) -> Ints:
        """Number of the tie at each rank."""
        return self._of_ranked(self.tie_of_row)

    @lazy_property
    def ties_upwards(self) -> Ints:
        """The ties of each query in reverse: from the lowest score up."""
        tieptr = np.searchsorted(self.ties.query, np.arange(self.indptr.size))
        ends = np.repeat(tieptr[:-1] + tieptr[1:] - 1, np.diff(tieptr))
        return ends - np.arange(ends.size)

    @lazy_property
    def upwards(self) -> Ints:
        """Positions of the rows from the lowest score up; tied rows keep their order."""
        sizes = self.ties.sizes[self.ties_upwards]
        within = np.arange(self.ranked.size) - np.repeat(offsets(sizes)[:-1], sizes)
        starts: Ints = np.repeat(self.ties.indptr[:-1][self.ties_upwards], sizes)
        upwards: Ints = self.ranked[starts + within]
        return upwards

    def tie_sums(self, column: Array) -> Floats:
        """Return the sum of a column over each tie, 0 for rows not retrieved."""
        totals: Floats = sums(column[self.ranked], self.tie_of_row, self.ties.query.size)
        if self._threshold is not None:
            totals[self._is_below(self.scores[self.ranked[self.ties.indptr[:-1]]])] = 0.0
        return totals

    def _tie_means(self, column: Array) -> Floats:
        values, starts = column[self.ranked], self.ties.indptr[:-1]
        if not values.size:
            return values
        low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
        # Equal gains need no division, so that an ideal order has exactly the ideal DCG.
        return np.where(low == high, low, self.tie_sums(column) / self.ties.sizes)

    def _is_below(self, scores: Array) -> NDArray[np.bool_]:
        """Return which scores are below the threshold of retrieval."""
        lowest, strict = self._threshold or (-np.inf, False)
        values = scores.astype(np.float64)  # float64, like the threshold
        below: NDArray[np.bool_] = values <= lowest if strict else values < lowest
        return below


_BY_RANK = {"rows", "rank", "query", "tie"}  # what a smaller cutoff changes


def sorted_positions(keys: Array, indptr: Ints) -> Ints:
    """Return positions that sort each query's rows by descending key, earlier rows first among equal keys."""
    return Ranks(keys, None, indptr).ranked
