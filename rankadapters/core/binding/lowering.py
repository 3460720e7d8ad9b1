"""Lowering: turn conventions and queries into arrays, so that kernels do not depend on conventions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np

from rankadapters.core.binding.gains import (
    FLOAT64_INTEGERS,
    compact,
    discounts_of,
    gains_of,
    never_falls,
    passes_threshold,
    sorted_gains,
)
from rankadapters.core.binding.plans import NO_ARGUMENTS, Column, Key, RankedPlan, Ranking, WholePlan
from rankadapters.core.binding.running_sums import running_dcg
from rankadapters.core.data.columns import Array, Flags, Floats, Ints, index_dtype
from rankadapters.core.data.queries import Queries
from rankadapters.core.data.rows import Rows, backwards, mirrored, retrieved_rows, rows_of
from rankadapters.core.errors import InputError
from rankadapters.core.kernels import Kernel, dispatch
from rankadapters.core.kernels.dcg import discounted_sums
from rankadapters.core.kernels.ranking import order_within
from rankadapters.core.kernels.views import writable

T = TypeVar("T")


class Binding:
    """Queries with the columns from which measures build their plans; shared columns are computed once.

    Parameters
    ----------
    queries : Queries
        Validated queries.
    depth : int or None
        Largest cutoff that will be used, so that ideal lists are sorted only once; None means all ranks.
    over_rows : bool
        Whether `queries` holds all rows as one query.
    upto : int
        Ideal DCGs at all cutoffs up to this one are computed in one pass, since most of them will be used.
    """

    def __init__(self, queries: Queries, depth: int | None, *, over_rows: bool = False, upto: int = 0) -> None:
        self.queries = queries
        self.over_rows = over_rows
        self.upto = upto
        self.judged = rows_of(queries, queries.judged)
        self.longest = queries.longest
        self.depth = self.cutoff(depth)
        self.query_ones = np.ones(queries.n_queries)
        self.no_queries = np.zeros(queries.n_queries, np.bool_)
        # Queries without a retrieved row, not even one that `unjudged` drops.
        missing = self.no_queries if queries.retrieved is None else rows_of(queries, queries.retrieved).sizes == 0
        self.missing: Flags = missing
        self.discounts = cache(discounts_of)  # the cache key is the discount's name and the number of ranks
        self._gains = cache(partial(gains_of, queries.labels, queries.judged))
        self._cache: dict[Key, Any] = {}

    def once(self, key: Key, make: Callable[[], T]) -> T:
        """Return the result of `make()`, which is cached under this key."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]  # type: ignore[no-any-return]

    def cutoff(self, k: int | None) -> int:
        """Return k, limited to the number of rows of the longest query; None means no cutoff."""
        return min(k or self.longest, self.longest)

    def gains(self, gain: str) -> Column:
        """Return the gain of every row, in the caller's order."""
        return Column(("gain", gain), self._gains(gain))

    def ranking_gains(self, convention: Any) -> Column:
        """Return the gain of every row; if `convention.unjudged` is a number, it is the label of unjudged rows."""
        column, judged, label = self.gains(convention.gain), self.queries.judged, convention.unjudged
        if judged is None or not isinstance(label, float):
            return column

        def make() -> Floats:
            [unjudged_gain] = gains_of(np.array([label]), None, convention.gain)
            return np.where(judged, column.values, unjudged_gain)

        key = (*column.key, label)
        return Column(key, self.once(key, make))

    def relevance(self, relevant: str) -> Column:
        """Return 1 for every judged row that is relevant, else 0, in the caller's order."""

        def make() -> Floats:
            flags = passes_threshold(self.queries.labels, relevant)
            return (flags if self.queries.judged is None else flags & self.queries.judged).astype(np.float64)

        return Column(("relevant", relevant), self.once(("relevant", relevant), make))

    @property
    def labels(self) -> Floats:
        """Label of every row in the caller's order, 0 for unjudged rows."""
        queries = self.queries
        return self.once(
            ("labels",),
            lambda: queries.labels if queries.judged is None else np.where(queries.judged, queries.labels, 0.0),
        )

    def numerators_of_equal_scores(self, plan: WholePlan) -> Floats:
        """Return the numerators that a plan's kernel computes if all scores are equal."""
        numerators, scores = np.zeros(plan.rows.indptr.size - 1), np.zeros(self.queries.n_docs)
        arguments = (*plan.columns.values(), *plan.offsets.values(), *plan.options.values(), numerators)
        dispatch.run(plan.kernel, scores, writable(plan.rows.order), plan.rows.indptr, *arguments, rows=scores.size)
        return numerators

    def ascending(self, values: Floats, rows: Rows) -> Ints:
        """Return positions that sort each query's rows by ascending value, later rows first among equal values."""
        order = np.empty(values.size, index_dtype(values.size))
        dispatch.run(order_within, values, rows.indptr, order, rows=order.size)
        return order[mirrored(rows)]

    @property
    def row_ones(self) -> Column:
        """The column with 1 for every row."""
        return Column(("one",), self.once(("one",), lambda: np.ones(self.queries.n_docs)))

    def product(self, first: Column, second: Column) -> Column:
        """Return the product of two columns."""
        key = ("product", *first.key, *second.key)
        return Column(key, self.once(key, lambda: _product(first.values, second.values)))

    def judged_sums(self, column: Column) -> Floats:
        """Return the sum of a column over the judged rows of each query."""

        def make() -> Floats:
            sums = np.zeros(self.queries.n_queries)
            nonempty = np.flatnonzero(self.judged.sizes)
            if nonempty.size:
                sums[nonempty] = np.add.reduceat(self.judged.take(column.values), self.judged.indptr[nonempty])
            return sums

        return self.once(("judged sums", *column.key), make)

    def row_weights(self, average: str) -> Column | None:
        """Return the weight of every row if the average uses weights; None if all rows weigh 1."""
        counts = average == "row" or (average == "query" and self.over_rows)  # if `over_rows`, rows have query weights
        weights = self.queries.row_weight if counts else None
        return None if weights is None else Column(("row weights",), weights)

    def retrieved(self, unjudged: str) -> Rows:
        """Return the rows that are ranked.

        Raises
        ------
        InputError
            A retrieved row is not judged, and `unjudged` is 'error'.
        """
        if self.queries.judged is None and self.queries.retrieved is None and unjudged != "drop-negative":
            return self.judged
        return self.once(("retrieved", unjudged), lambda: retrieved_rows(unjudged, self.queries))

    def plan(
        self,
        convention: Any,
        kernel: Kernel,
        *,
        empty: Flags,
        k: int | None = None,
        by: Column | None = None,
        by_rank: Mapping[str, Array] = NO_ARGUMENTS,
        by_query: Mapping[str, Array] = NO_ARGUMENTS,
        options: Mapping[str, Any] = NO_ARGUMENTS,
        **columns: Column,
    ) -> RankedPlan:
        """Return a plan whose columns are sorted so that a stable sort by score breaks ties as the convention says.

        Parameters
        ----------
        convention : Ranked
            Declares `k`, `ties`, `unjudged`, `precision`, and perhaps `retrieve`.
        kernel : Kernel
            Its parameters have the names of the following dictionaries' keys and of `columns`.
        empty, by_rank, by_query, options
            As in `RankedPlan`.
        k : int, optional
            Number of ranks that the kernel reads, in place of the convention's cutoff.
        by : Column, optional
            The column by which `worst` and `best` order tied rows; None means the first column.
        **columns : Column
            In the caller's order.
        """
        ranking, tie_column = self._ranking(convention, kernel, tuple(columns.values()), by)
        rows = retrieved = self.retrieved(convention.unjudged)
        key = ("rows", ranking.ties, ranking.by, ranking.drops)
        if ranking.ties != "input":
            rows = self.once(key, lambda: self._tie_order(ranking.ties, retrieved, tie_column))
        return RankedPlan(
            kernel=kernel, columns={name: self._take(key, rows, column) for name, column in columns.items()},
            ranking=ranking, rows=rows, k=self.cutoff(convention.k) if k is None else k, by_rank=by_rank,
            by_query=by_query, options=options, empty=empty, retrieved=retrieved,
        )  # fmt: skip

    def _ranking(
        self, convention: Any, kernel: Kernel, columns: tuple[Column, ...], by: Column | None
    ) -> tuple[Ranking, Column]:
        """Return how rows are ranked and ties resolved, and the column that orders tied rows."""
        tie_column, order, tied = by or columns[0], convention.ties, "rows"
        if order in {"average", "together"}:
            tied = kernel.tied
            # Add up tied rows in a fixed order, so that the order of the rows cannot change the last bit.
            inexact = columns[:1] if tied == "whole" else [col for col in columns if not self._sums_exactly(col)]
            order, tie_column = ("best", inexact[0]) if inexact else ("input", tie_column)
        if order in {"worst", "best"} and [tie_column.key] == [column.key for column in columns]:
            tie_column = self._shared_tie_column(tie_column)
        unjudged, judged = convention.unjudged, self.queries.judged
        drops = unjudged == "drop-negative" or (unjudged == "drop" and judged is not None)
        ranking = Ranking(
            ties=order, by=tie_column.key if order in {"worst", "best"} else None,
            drops=unjudged if drops else "", tied=tied,
            retrieve=getattr(convention, "retrieve", "all"), precision=convention.precision,
        )  # fmt: skip
        return ranking, tie_column

    def _shared_tie_column(self, column: Column) -> Column:
        """If the column is monotone in the labels, return the labels instead, so that more plans share a tie order."""
        kind, *names = column.key
        rises = kind == "relevant" or (kind == "gain" and never_falls(str(names[0]), self.labels))
        return Column(("label",), self.labels) if rises and self.queries.judged is None else column

    def _take(self, key: Key, rows: Rows, column: Column) -> Column:
        key = ("compact", *key, *column.key)
        if key not in self._cache:
            self._cache[key] = compact(rows.take(column.values))
        return Column(column.key, self._cache[key])

    def ideal_dcg(self, convention: Any) -> tuple[Floats, Flags]:
        """Return each query's ideal DCG, and whether the query is empty: an ideal DCG that is not positive becomes 1.

        Parameters
        ----------
        convention : NDCG
            Declares the gain, the discount, the cutoff and the ideal list.
        """
        k = self.longest if convention.ideal == "all" else self.cutoff(convention.k)
        deepest, by_retrieved = max(k, self.depth), convention.ideal in {"retrieved", "retrieved-only"}

        def make() -> tuple[Floats, Ints]:
            if convention.ideal == "retrieved-only":
                rows = self.retrieved(convention.unjudged)
                return sorted_gains(self.ranking_gains(convention).values, rows, np.minimum(rows.sizes, deepest))
            cut = np.minimum(self.judged.sizes, deepest)
            if by_retrieved:
                cut = np.minimum(cut, self.retrieved(convention.unjudged).sizes)
            return sorted_gains(self.gains(convention.gain).values, self.judged, cut)

        kind = (convention.ideal, convention.unjudged) if by_retrieved else ()
        key = ("ideal", convention.gain, deepest, *kind)
        dcg_key = (*key, convention.discount, k)
        if dcg_key not in self._cache:
            self._cache[dcg_key] = self._ideal(key, self.once(key, make), convention, k)
        return self._cache[dcg_key]  # type: ignore[no-any-return]

    def _ideal(self, key: Key, ideal_list: tuple[Floats, Ints], convention: Any, k: int) -> tuple[Floats, Flags]:
        discount = convention.discount
        if k <= self.upto:
            discounts = self.discounts(discount, self.cutoff(self.upto))
            ideal = self.once((*key, discount), lambda: running_dcg(*ideal_list, discounts))[k - 1]
        else:
            ideal = np.empty(self.queries.n_queries)
            discounts = self.discounts(discount, k)
            dispatch.run(discounted_sums, *ideal_list, k, discounts, self.query_ones, ideal)
        if not np.isfinite(ideal).all():
            query = self.queries.query_ids[int(np.argmin(np.isfinite(ideal)))]
            gain = convention.gain
            msg = f"the ideal DCG of query {query} overflows float64: its labels are too large for {gain!r}."
            raise InputError(msg)
        empty = ideal <= 0
        return np.where(empty, 1.0, ideal), empty

    def dcg_of_ones(self, convention: Any) -> Floats:
        """Return the DCG of k gains of 1. Without a cutoff, k is the number of retrieved rows; if it is 0, return 1."""
        sizes = self.retrieved(convention.unjudged).sizes
        counts = np.full(sizes.size, convention.k) if convention.k else sizes
        sums = np.cumsum(np.append(0.0, self.discounts(convention.discount, int(counts.max()))))
        return np.where(counts > 0, sums[counts], 1.0)

    def _sums_exactly(self, column: Column) -> bool:
        """Return whether every sum of the column within a query is an integer that float64 represents exactly."""

        def make() -> bool:
            values = column.values
            return float(np.abs(values).max()) * self.longest <= FLOAT64_INTEGERS and bool(
                (values == np.floor(values)).all()
            )

        return self.once(("exact", *column.key), make)

    def _tie_order(self, ties: str, rows: Rows, tie_column: Column) -> Rows:
        """Permute the rows of each query so that a stable sort by score breaks ties as `ties` says."""
        if ties == "reverse":
            return backwards(rows)
        inner = np.empty(int(rows.indptr[-1]), index_dtype(self.queries.n_docs))
        keys = rows.take(_tie_keys(ties, self.queries, tie_column.values))
        dispatch.run(order_within, keys, rows.indptr, inner, rows=inner.size)
        return Rows(inner if rows.order is None else rows.order[inner], rows.indptr)


def _product(first: Floats, second: Floats) -> Floats:
    with np.errstate(over="ignore", under="ignore"):  # `exact_sum` raises an error for non-finite values
        return first * second


def _tie_keys(ties: str, queries: Queries, values: Floats) -> Floats:
    if ties in {"best", "worst"}:
        return values if ties == "best" else -values
    if queries.docid_rank is None:
        msg = f"ties={ties!r} needs docid=, but none was given."
        hint = "docid=one string per row, where it is taken, as by ra.evaluate, or convention.replace(ties='input')"
        raise InputError(msg, hint=hint)
    ranks = queries.docid_rank.astype(np.float64)
    return ranks if ties == "docid-descending" else -ranks
