"""Ranks: the rows of each query by score, up to a cutoff, and what formulas need from columns at these ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.arrays import Array, Flags, Floats, Ints
from rankadapters.core.classes import lazy_property
from rankadapters.core.ranking import compiled
from rankadapters.core.ranking.offsets import (
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
    sizes: Ints


class Ranking(NamedTuple):
    """The rows of each query by descending score, as many as the largest cutoff needs; the cutoffs share it.

    In numpy, `rows` are positions. In machine code, they are row numbers within their queries, as ~row if averaged ties
    are asked for and the row ties with the one before.
    """

    rows: Array
    indptr: Ints


def rank_queries(
    scores: Array, order: Array | None, indptr: Ints, k: int | None = None, *, averaged: bool = False,
    threshold: tuple[float, bool] | None = None,
) -> Ranks:  # fmt: skip
    """Rank the rows of some queries, in numpy, or with machine code where much is ranked.

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
    averaged, threshold
        As in `Ranks`.

    Raises
    ------
    NotFiniteError
        A score is NaN or infinite.
    """
    is_compiled = compiled.pays(int(indptr[-1] - indptr[0]), scores.dtype)
    if is_compiled and k is not None:  # machine code finds scores that are not finite while it ranks
        return CompiledRanks(scores, order, indptr, k, averaged=averaged, threshold=threshold)
    part = slice(int(indptr[0]), int(indptr[-1]))
    in_order = scores[part if order is None else order[part]]
    if not np.isfinite(in_order).all():
        position = part.start + int(np.argmin(np.isfinite(in_order)))
        raise NotFiniteError(position if order is None else int(order[position]))
    ranks = CompiledRanks if is_compiled else Ranks
    return ranks(in_order, None, indptr - indptr[0], k, averaged=averaged, threshold=threshold)


def sorted_positions(keys: Array, indptr: Ints) -> Ints:
    """Return positions that sort each query's rows by descending key, earlier rows first among equal keys."""
    return rank_queries(keys, None, indptr).ranked


class Ranks:
    """The rows of some queries by rank, up to rank k; `rank_queries` makes it.

    An array "at each rank" holds the ranks 1..min(k, n) of the first query, then those of the second query, and so on.
    All sums are added from left to right.

    Parameters
    ----------
    scores, order, indptr
        As in `rank_queries`.
    k : int, int array of shape (n_queries,), or None
        The last rank, of all queries or of each. None means all ranks.
    averaged : bool
        Whether a rank has the mean of its tie, in place of the row that the order puts there.
    threshold : tuple of float and bool, optional
        Rows of a lower score are not retrieved: they have the value 0 in every column. With True, neither are rows of
        this score.
    ranking : Ranking, optional
        What another cutoff of at least k has found.

    Attributes
    ----------
    indptr, outptr : int64 array, shape (n_queries + 1,)
        Where the rows, and where the ranks of each query begin, from 0.
    sizes : int64 array, shape (n_queries,)
        Number of rows of each query.
    k : int
        The largest last rank of a query.
    """

    def __init__(
        self, scores: Array, order: Array | None, indptr: Ints, k: int | Ints | None = None, *, averaged: bool = False,
        threshold: tuple[float, bool] | None = None, ranking: Ranking | None = None,
    ) -> None:  # fmt: skip
        self._source = scores, order, indptr
        self.indptr: Ints = indptr - indptr[0]
        self.sizes: Ints = self.indptr[1:] - self.indptr[:-1]
        self.averaged, self._threshold = averaged, threshold
        longest = int(self.sizes.max(initial=1))
        self.k, self._same_k = longest if k is None else int(np.max(k, initial=1)), not isinstance(k, np.ndarray)
        all_ranks = self._same_k and self.k >= longest
        self.outptr = self.indptr if all_ranks else offsets(np.minimum(self.sizes, self.k if k is None else k))
        if ranking is not None:
            self.ranking = ranking
        elif k is not None:
            self.ranking = self._rank()

    def cut(self, k: int | Ints) -> Ranks:
        """Return the ranks up to a smaller cutoff, or up to each query's own one, without ranking again."""
        options: dict[str, Any] = {"averaged": self.averaged, "threshold": self._threshold, "ranking": self.ranking}
        return type(self)(*self._source, k, **options)

    def copies(self, cutoffs: Sequence[int]) -> Ranks:
        """Return the ranks of as many copies of the queries as there are cutoffs, each up to its cutoff.

        The copies have the same rows, so that columns stay as they are.
        """
        n, n_queries = len(cutoffs), self.sizes.size
        ranking = Ranking(np.tile(self.ranked, n), offsets(np.tile(np.diff(self._rankptr), n)))
        return Ranks(
            self.scores, None, offsets(np.tile(self.sizes, n)), np.repeat(np.array(cutoffs), n_queries),
            averaged=self.averaged, threshold=self._threshold, ranking=ranking,
        )  # fmt: skip

    def _rank(self) -> Ranking:
        return Ranking(*largest_first(self.scores, self.indptr, self.k))

    @lazy_property
    def ranking(self) -> Ranking:
        """The ranking, found when a formula first asks for it if all ranks may be asked for."""
        return self._rank()

    @lazy_property
    def scores(self) -> Array:
        """Score of each row, in the order that ties keep."""
        scores, order, indptr = self._source
        part = slice(int(indptr[0]), int(indptr[-1]))
        return scores[part if order is None else order[part]]

    @property
    def ranked(self) -> Ints:
        """Positions of the rows by rank: of the first k, and, if ties are averaged, of all that tie with the k-th."""
        return self._by_rank[0]

    @property
    def _rankptr(self) -> Ints:
        """Where the rows of each query begin in `ranked`."""
        return self._by_rank[1]

    @lazy_property
    def _by_rank(self) -> tuple[Ints, Ints]:
        (rows, indptr), rankptr = self.ranking, self.outptr
        if self.averaged and self.outptr is not self.indptr:
            rankptr = with_last_run(self._ranking_starts(), indptr, np.diff(self.outptr))
        if rankptr[-1] < rows.size:
            rows = rows[first_positions(indptr, rankptr)]
        return self._positions(rows, rankptr), rankptr

    @lazy_property
    def _starts(self) -> Flags:
        """Which rows in `ranked` differ from the one before: they begin a tie."""
        if self.averaged and self.ranked.size == self.ranking.rows.size:
            return self._ranking_starts()
        return run_starts(self.scores[self.ranked], self._rankptr)

    def _ranking_starts(self) -> Flags:
        """Return which rows of the ranking begin a tie, if ties are averaged."""
        return run_starts(self.scores[self.ranking.rows], self.ranking.indptr)

    def _positions(self, rows: Array, rankptr: Ints) -> Ints:  # noqa: ARG002 - machine code numbers rows by query
        """Return the positions of rows of the ranking."""
        return rows

    @lazy_property
    def rows(self) -> Ints:
        """Position of the row at each rank; the first of tied rows comes first."""
        return self._of_ranked(self.ranked)

    def _of_ranked(self, array: Array) -> Array:
        """Return an array of the rows in `ranked` at each rank."""
        return array if self._rankptr is self.outptr else array[first_positions(self._rankptr, self.outptr)]

    @lazy_property
    def counts(self) -> Ints:
        """Number of ranks of each query."""
        return np.diff(self.outptr)

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
        values = column[self.ranked]
        if self.averaged:
            self._average_ties(values)
        values = self._of_ranked(values)
        if self._threshold is not None:
            values = np.where(self._is_below(self.scores[self.rows]), 0.0, values)
        return values

    def discounted_sums(self, gains: Floats, discounts: Floats) -> Floats:
        """Return the sum of gain x discount over each query's ranks."""
        return self.sums(self.take(gains) * discounts[self.rank])

    @lazy_property
    def ties(self) -> Ties:
        """The ties of the rows in `ranked`; the last of each query is whole only if ties are averaged."""
        first = np.flatnonzero(self._starts)
        indptr = np.append(first, self.ranked.size)
        query = segment_numbers(self._rankptr)[first]
        return Ties(indptr, first - self._rankptr[query], query, np.diff(indptr))

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

    def _average_ties(self, values: Array) -> None:
        """Replace the values of the rows in `ranked` that tie by their mean."""
        tied = ~self._starts
        tied[:-1] |= tied[1:]  # the first row of a tie too
        first = np.flatnonzero(self._starts[tied])
        if not first.size:
            return
        tied_values = values[tied]
        sizes: Ints = np.diff(np.append(first, tied_values.size))
        low, high = np.minimum.reduceat(tied_values, first), np.maximum.reduceat(tied_values, first)
        totals = sums(tied_values, np.repeat(np.arange(first.size), sizes), first.size)
        # Equal gains need no division, so that an ideal order has exactly the ideal DCG.
        values[tied] = np.repeat(np.where(low == high, low, totals / sizes), sizes)

    def _is_below(self, scores: Array) -> Flags:
        """Return which scores are below the threshold of retrieval."""
        lowest, strict = self._threshold or (-np.inf, False)
        values = scores.astype(np.float64)  # float64, like the threshold
        below: Flags = values <= lowest if strict else values < lowest
        return below


class CompiledRanks(Ranks):
    """Ranks of machine code, which also adds up the discounted sums of NDCG and DCG."""

    def _rank(self) -> Ranking:
        roomptr = self.indptr if self.averaged else self.outptr  # where there is room for the rows of each query
        rows = np.empty(int(roomptr[-1]), np.int32)
        bad = compiled.rank_rows(*self._source, self.k, self.averaged, roomptr, rows)
        if bad >= 0:
            raise NotFiniteError(bad)
        return Ranking(rows, roomptr)

    def _ranking_starts(self) -> Flags:
        starts: Flags = self.ranking.rows >= 0
        return starts

    def _positions(self, rows: Array, rankptr: Ints) -> Ints:
        numbers = np.where(rows < 0, ~rows, rows) if self.averaged else rows
        return numbers + np.repeat(self.indptr[:-1], np.diff(rankptr))

    def discounted_sums(self, gains: Floats, discounts: Floats) -> Floats:
        """Return the sum of gain x discount over each query's ranks."""
        if self._threshold is not None or not self._same_k:
            return super().discounted_sums(gains, discounts)
        totals = np.empty(self.indptr.size - 1)
        columns = np.ascontiguousarray(gains), discounts
        compiled.discounted_sums(*self.ranking, self.indptr, self.k, self.averaged, *columns, totals)
        return totals
