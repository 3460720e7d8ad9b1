"""Lowering: a convention and its queries become arrays, so that no kernel knows a convention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np

from rankadapters.core.binding.gains import (
    FLOAT64_INTEGERS,
    are_beyond,
    discounts_of,
    gains_of,
    narrowed,
    never_falls,
    ranked_by_gain,
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

T = TypeVar("T")


class Bound:
    """What measures ask of the queries to lower themselves; what several of them share is made once.

    Parameters
    ----------
    queries : Queries
        Validated queries.
    depth : int or None
        The deepest cutoff that will be asked for, so that ideal lists are ranked once; None is all ranks.
    over_rows : bool
        Whether these are all rows as one query.
    upto : int
        Of the cutoffs up to this one most will be asked for, so that ideal lists are summed up once for all of them.
    """

    def __init__(self, queries: Queries, depth: int | None, *, over_rows: bool = False, upto: int = 0) -> None:
        self.queries = queries
        self.over_rows = over_rows
        self.upto = upto
        self.judged = rows_of(queries, queries.judged)
        self.longest = queries.longest
        self.depth = self.cutoff(depth)
        self.ones = np.ones(queries.n_queries)
        self.none = np.zeros(queries.n_queries, np.bool_)
        self.discounts = cache(discounts_of)  # a discount and n: discounts of the ranks 1..n
        self._gains = cache(partial(gains_of, queries.labels, queries.judged))
        self._done: dict[Key, Any] = {}

    def once(self, key: Key, make: Callable[[], T]) -> T:
        """Make something at the first call with this key."""
        if key not in self._done:
            self._done[key] = make()
        return self._done[key]  # type: ignore[no-any-return]

    def cutoff(self, k: int | None) -> int:
        """Deepest rank that a cutoff reaches."""
        return min(k or self.longest, self.longest)

    def gains(self, gain: str) -> Column:
        """Gain of every row, in the caller's order."""
        return Column(("gain", gain), self._gains(gain))

    def graded(self, convention: Any) -> Column:
        """Gain of every row, in the caller's order, where `unjudged` may give one to rows without judgment."""
        own, judged, label = self.gains(convention.gain), self.queries.judged, convention.unjudged
        if judged is None or not isinstance(label, float):
            return own

        def make() -> Floats:
            [worth] = gains_of(np.array([label]), None, convention.gain)
            return np.where(judged, own.values, worth)

        key = (*own.key, label)
        return Column(key, self.once(key, make))

    def relevance(self, relevant: str) -> Column:
        """1 for every judged row that is relevant, else 0, in the caller's order."""

        def make() -> Floats:
            found = are_beyond(self.queries.labels, relevant)
            return (found if self.queries.judged is None else found & self.queries.judged).astype(np.float64)

        return Column(("relevant", relevant), self.once(("relevant", relevant), make))

    @property
    def labels(self) -> Floats:
        """Label of every row in the caller's order, 0 where it is not judged."""
        queries = self.queries
        return self.once(
            ("labels",),
            lambda: queries.labels if queries.judged is None else np.where(queries.judged, queries.labels, 0.0),
        )

    def numerators(self, plan: WholePlan) -> Floats:
        """What a plan's kernel gives where all scores are equal."""
        found, scores = np.zeros(plan.rows.indptr.size - 1), np.zeros(self.queries.n_docs)
        others = (*plan.columns.values(), *plan.offsets.values(), *plan.options.values())
        dispatch.run(plan.kernel, scores, plan.rows.order, plan.rows.indptr, *others, found, rows=scores.size)
        return found

    def ascending(self, values: Floats, rows: Rows) -> Ints:
        """Places of the rows of each query by ascending value, the last row of equal ones first."""
        order = np.empty(values.size, index_dtype(values.size))
        dispatch.run(order_within, values, rows.indptr, order, rows=order.size)
        return order[mirrored(rows)]

    @property
    def one_each(self) -> Column:
        """1 for every row."""
        return Column(("one",), self.once(("one",), lambda: np.ones(self.queries.n_docs)))

    def product(self, one: Column, other: Column) -> Column:
        """Two columns multiplied."""
        key = ("product", *one.key, *other.key)
        return Column(key, self.once(key, lambda: _product(one.values, other.values)))

    def judged_sums(self, column: Column) -> Floats:
        """Sum of a column over the judged rows of each query."""

        def make() -> Floats:
            sums = np.zeros(self.queries.n_queries)
            some = np.flatnonzero(self.judged.sizes)
            if some.size:
                sums[some] = np.add.reduceat(self.judged.take(column.values), self.judged.indptr[some])
            return sums

        return self.once(("judged sums", *column.key), make)

    def row_weights(self, average: str) -> Column | None:
        """Weight of every row under `average="row"`, or by its query where all rows are one; None where all weigh 1."""
        counts = average == "row" or (average == "query" and self.over_rows)  # `Queries.as_one` hands weights on
        weights = self.queries.row_weight if counts else None
        return None if weights is None else Column(("row weights",), weights)

    def retrieved(self, unjudged: str) -> Rows:
        """The rows that a ranking holds.

        Raises
        ------
        InputError
            A retrieved row is not judged, and `unjudged` is 'error'.
        """
        if self.queries.judged is None and self.queries.retrieved is None:
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
        """Bring columns into the order that the convention's ties keep, for a kernel that reads them by rank.

        Parameters
        ----------
        convention : Ranked
            Its `k`, `ties`, `unjudged`, `precision`, and `retrieve` where it has one.
        kernel : Kernel
            Its arguments are named by what follows.
        empty, by_rank, by_query, options
            As in `RankedPlan`.
        k : int, optional
            Ranks that the kernel looks at, in place of the convention's cutoff.
        by : Column, optional
            What `worst` and `best` go by; None is the first column.
        **columns : Column
            In the caller's order.
        """
        ranking, followed = self._ranking(convention, kernel, tuple(columns.values()), by)
        rows = retrieved = self.retrieved(convention.unjudged)
        key = ("rows", ranking.ties, ranking.by, ranking.drops)
        if ranking.ties != "input":
            rows = self.once(key, lambda: self._tie_order(ranking.ties, retrieved, followed))
        return RankedPlan(
            kernel=kernel, columns={name: self._taken(key, rows, column) for name, column in columns.items()},
            ranking=ranking, rows=rows, k=self.cutoff(convention.k) if k is None else k, by_rank=by_rank,
            by_query=by_query, options=options, empty=empty, retrieved=retrieved,
        )  # fmt: skip

    def _ranking(
        self, convention: Any, kernel: Kernel, columns: tuple[Column, ...], by: Column | None
    ) -> tuple[Ranking, Column]:
        """Decide how rows are ranked and what a tie brings; return the column too that the order of ties follows."""
        followed, order, tied = by or columns[0], convention.ties, "rows"
        if order in {"average", "together"}:
            tied = kernel.tied
            # A fixed order of addition, so that the order of the rows cannot change the last bit.
            inexact = columns[:1] if tied == "whole" else [each for each in columns if not self._sums_exactly(each)]
            order, followed = ("best", inexact[0]) if inexact else ("input", followed)
        if order in {"worst", "best"} and [followed.key] == [column.key for column in columns]:
            followed = self._followed(followed)
        ranking = Ranking(
            ties=order, by=followed.key if order in {"worst", "best"} else None,
            drops=convention.unjudged == "drop" and self.queries.judged is not None, tied=tied,
            retrieve=getattr(convention, "retrieve", "all"), precision=convention.precision,
        )  # fmt: skip
        return ranking, followed

    def _followed(self, column: Column) -> Column:
        """Labels in place of what follows from them: rows that then stand otherwise bring the same."""
        kind, *names = column.key
        rises = kind == "relevant" or (kind == "gain" and never_falls(str(names[0]), self.labels))
        return Column(("label",), self.labels) if rises and self.queries.judged is None else column

    def _taken(self, key: Key, rows: Rows, column: Column) -> Column:
        key = ("narrowed", *key, *column.key)
        if key not in self._done:
            self._done[key] = narrowed(rows.take(column.values))
        return Column(column.key, self._done[key])

    def ideal_dcg(self, convention: Any) -> tuple[Floats, Flags]:
        """DCG of each query's ideal list, 1 where it is not positive, and where that is.

        Parameters
        ----------
        convention : NDCG
            Its gain, discount, cutoff, and what the ideal list holds and where it is cut.
        """
        k = self.longest if convention.ideal == "all" else self.cutoff(convention.k)
        deepest, by_retrieved = max(k, self.depth), convention.ideal in {"retrieved", "retrieved-only"}

        def make() -> tuple[Floats, Ints]:
            if convention.ideal == "retrieved-only":
                rows = self.retrieved(convention.unjudged)
                return ranked_by_gain(self.graded(convention).values, rows, np.minimum(rows.sizes, deepest))
            cut = np.minimum(self.judged.sizes, deepest)
            if by_retrieved:
                cut = np.minimum(cut, self.retrieved(convention.unjudged).sizes)
            return ranked_by_gain(self.gains(convention.gain).values, self.judged, cut)

        kind = (convention.ideal, convention.unjudged) if by_retrieved else ()
        key = ("ideal", convention.gain, deepest, *kind)
        of_cutoff = (*key, convention.discount, k)
        if of_cutoff not in self._done:
            self._done[of_cutoff] = self._ideal(key, self.once(key, make), convention, k)
        return self._done[of_cutoff]  # type: ignore[no-any-return]

    def _ideal(self, key: Key, ideal_list: tuple[Floats, Ints], convention: Any, k: int) -> tuple[Floats, Flags]:
        discount = convention.discount
        if k <= self.upto:
            discounts = self.discounts(discount, self.cutoff(self.upto))
            ideal = self.once((*key, discount), lambda: running_dcg(*ideal_list, discounts))[k - 1]
        else:
            ideal = np.empty(self.queries.n_queries)
            discounts = self.discounts(discount, k)
            dispatch.run(discounted_sums, *ideal_list, k, discounts, self.ones, ideal)
        if not np.isfinite(ideal).all():
            query = self.queries.query_ids[int(np.argmin(np.isfinite(ideal)))]
            gain = convention.gain
            msg = f"the ideal DCG of query {query} overflows float64: its labels are too large for {gain!r}."
            raise InputError(msg)
        empty = ideal <= 0
        return np.where(empty, 1.0, ideal), empty

    def dcg_of_ones(self, convention: Any) -> Floats:
        """DCG of k gains of 1, or of as many as a query's rows retrieved where nothing is cut; 1 where none are."""
        sizes = self.retrieved(convention.unjudged).sizes
        many = np.full(sizes.size, convention.k) if convention.k else sizes
        sums = np.cumsum(np.append(0.0, self.discounts(convention.discount, int(many.max()))))
        return np.where(many > 0, sums[many], 1.0)

    def _sums_exactly(self, column: Column) -> bool:
        """Tell whether any sum of the column within a query is an integer that float64 holds."""

        def make() -> bool:
            values = column.values
            return float(np.abs(values).max()) * self.longest <= FLOAT64_INTEGERS and bool(
                (values == np.floor(values)).all()
            )

        return self.once(("exact", *column.key), make)

    def _tie_order(self, ties: str, rows: Rows, followed: Column) -> Rows:
        """Permute the rows of each query once so that a stable order of the scores breaks ties as declared."""
        if ties == "reverse":
            return backwards(rows)
        inner = np.empty(int(rows.indptr[-1]), index_dtype(self.queries.n_docs))
        keys = rows.take(_tie_keys(ties, self.queries, followed.values))
        dispatch.run(order_within, keys, rows.indptr, inner, rows=inner.size)
        return Rows(rows.order[inner] if rows.order.size else inner, rows.indptr)


def _product(one: Floats, other: Floats) -> Floats:
    with np.errstate(over="ignore", under="ignore"):  # what is not finite is refused where it is summed
        return one * other


def _tie_keys(ties: str, queries: Queries, followed: Floats) -> Floats:
    if ties in {"best", "worst"}:
        return followed if ties == "best" else -followed
    if queries.docid_rank is None:
        msg = f"ties={ties!r} needs docid=, but none was given."
        hint = "docid=one string per row, where it is taken, as by ra.evaluate, or convention.replace(ties='input')"
        raise InputError(msg, hint=hint)
    ranks = queries.docid_rank.astype(np.float64)
    return ranks if ties == "docid-descending" else -ranks
