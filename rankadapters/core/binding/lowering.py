"""Lowering: turn conventions and queries into arrays, so that formulas do not depend on conventions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.binding.plans import NO_ARGUMENTS, Column, Formula, Key, RankedPlan, Ranking, WholePlan
from rankadapters.core.data.columns import Array, Flags, Floats, Ints, refused_label
from rankadapters.core.data.optional_columns import Pairs
from rankadapters.core.data.queries import Queries, Rows, backwards, mirrored, retrieved_rows, rows_of
from rankadapters.core.declaration.fields import border, label_threshold, table
from rankadapters.core.errors import InputError
from rankadapters.core.ranking.offsets import (
    EXACT,
    is_whole_below,
    offsets,
    positions_within,
    reduced,
    segment_numbers,
    sums,
)
from rankadapters.core.ranking.ranks import Ranks, rank_queries, sorted_positions

T = TypeVar("T")
_FLOAT64_EXPONENT = 1024


def gains_of(labels: Floats, judged: NDArray[np.bool_] | None, gain: str) -> Floats:
    """Return the gain of each row, 0 for unjudged rows.

    Raises
    ------
    InputError
        A label is negative under `exp2` or a table, outside the table, or so large that 2^label overflows.
    """
    if judged is not None:
        labels = np.where(judged, labels, 0.0)
    gains = _gains(labels, gain)
    if judged is not None:
        gains = np.where(judged, gains, 0.0)
    return gains


def passes_threshold(values: Array, name: str) -> NDArray[np.bool_]:
    """Return whether each score is above B if the name is `above_B`, or at least B if it is `from_B`.

    >>> passes_threshold(np.array([0.0, 0.5, 1.0]), "above_0.5").tolist()
    [False, False, True]
    """
    return _passes(values, *(border(name) or ("from", -np.inf)))


def is_relevant(labels: Floats, name: str) -> NDArray[np.bool_]:
    """Return whether each label is above B if the name is `above_B`, or at least B if it is `from_B`, as float32 too.

    >>> is_relevant(np.array([0.5, 0.7, np.float32(0.7)]), "from_0.7").tolist()
    [False, True, True]
    """
    return _passes(labels, *(label_threshold(name) or ("from", -np.inf)))


def _passes(values: Array, word: str, threshold: float) -> NDArray[np.bool_]:
    passes: NDArray[np.bool_] = values > threshold if word == "above" else values >= threshold
    return passes


def as_bytes(values: Floats) -> NDArray[np.uint8] | None:
    """Return the values as bytes; None unless all of them are whole numbers from 0 to 255."""
    with np.errstate(invalid="ignore"):  # a value that does not fit is changed, as the comparison below detects
        small = values.astype(np.uint8)
    return small if (small == values).all() else None


def discounts_of(discount: str, n: int) -> Floats:
    """Return the discounts of the ranks 1..n.

    >>> discounts_of("reciprocal", 3).tolist()
    [1.0, 0.5, 0.3333333333333333]
    """
    if discount in {"log2", "jk2"}:
        # The C library's log2 equals the toolkits' on every machine; numpy's can differ in the last bit.
        arguments = range(2, n + 2) if discount == "log2" else (2, *range(2, n + 1))
        return 1 / np.fromiter(map(math.log2, arguments), np.float64, n)
    word, parameter = border(discount) or ("reciprocal", 1.0)
    if word == "power":
        return np.fromiter((parameter**rank for rank in range(n)), np.float64, n)
    if word == "log":
        return math.log(parameter) / np.fromiter(map(math.log, range(2, n + 2)), np.float64, n)
    return 1 / np.arange(1.0, n + 1)


def _gains(labels: Floats, name: str) -> Floats:
    if name == "linear":
        return labels
    if name == "linear-positive":
        return np.maximum(labels, 0.0)
    if name not in {"exp2", "exp2-floor"}:
        return _gains_by_number(labels, name)
    if labels.min() < 0:
        raise _negative(labels, name)
    high = float(labels.max())
    if high >= _FLOAT64_EXPONENT:
        too_large = "so large that 2^label overflows float64"
        raise refused_label(labels, labels >= _FLOAT64_EXPONENT, too_large, "use a linear gain or a table")
    grades = as_bytes(labels)
    if grades is not None:  # looking up a few powers is faster than computing one for every row
        table_of_powers: Floats = np.exp2(np.arange(high + 1)) - 1.0
        return table_of_powers[grades]
    powers = np.exp2(np.floor(labels) if name == "exp2-floor" else labels)
    powers -= 1.0
    return powers


def _gains_by_number(labels: Floats, name: str) -> Floats:
    """Return the gains under `table_...`, `from_B` or `linear-from_B`."""
    gains = table(name)
    if gains is None:
        word, level = label_threshold(name) or (name, 0.0)
        return np.where(labels >= level, 1.0 if word == "from" else labels, 0.0)
    if labels.min() < 0:
        raise _negative(labels, name)
    bad = (labels != np.floor(labels)) | (labels >= len(gains))
    if bad.any():
        reason = f"outside the gain table of {name} (labels 0 to {len(gains) - 1})"
        raise refused_label(labels, bad, reason, "give a table with a gain for every grade, or map your labels first")
    return np.take(np.asarray(gains), labels.astype(np.intp))


def _negative(labels: Floats, name: str) -> InputError:
    """Return the error for the first negative label."""
    hint = "gain='linear' takes it as it is; and labels come before scores"
    return refused_label(labels, labels < 0, f"negative, which {name} has no gain for", hint)


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
    """

    def __init__(self, queries: Queries, depth: int | None, *, over_rows: bool = False) -> None:
        self.queries = queries
        self.over_rows = over_rows
        self.judged: Rows = queries if queries.judged is None else rows_of(queries, queries.judged)
        self.longest = queries.longest
        self.depth = min(depth or self.longest, self.longest)
        self.query_ones = np.ones(queries.n_queries)
        self.no_queries = np.zeros(queries.n_queries, np.bool_)
        # Queries without a retrieved row, not even one that `unjudged` drops.
        missing = self.no_queries if queries.retrieved is None else rows_of(queries, queries.retrieved).sizes == 0
        self.missing: Flags = missing
        self.discounts = cache(discounts_of)  # the cache key is the discount's name and the number of ranks
        self._cache: dict[Key, Any] = {}

    def once(self, key: Key, make: Callable[[], T]) -> T:
        """Return the result of `make()`, which is cached under this key."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]  # type: ignore[no-any-return]

    def column(self, key: Key, make: Callable[[], Array]) -> Column:
        """Return the column with the values `make()`, which are cached under this key."""
        return Column(key, self.once(key, make))

    def cutoff(self, k: int | None) -> int:
        """Return k, limited to the number of rows of the longest query; None means no cutoff."""
        return min(k or self.longest, self.longest)

    def gains(self, gain: str) -> Column:
        """Return the gain of every row, in the caller's order."""
        return self.column(("gain", gain), lambda: gains_of(self.queries.labels, self.queries.judged, gain))

    def ranking_gains(self, convention: Any) -> Column:
        """Return the gain of every row; if `convention.unjudged` is a number, it is the label of unjudged rows."""
        column, judged, label = self.gains(convention.gain), self.queries.judged, convention.unjudged
        if judged is None or not isinstance(label, float):
            return column

        def make() -> Floats:
            [unjudged_gain] = gains_of(np.array([label]), None, convention.gain)
            return np.where(judged, column.values, unjudged_gain)

        return self.column((*column.key, label), make)

    def relevance(self, relevant: str) -> Column:
        """Return 1 for every judged row that is relevant, else 0, in the caller's order."""

        def make() -> Floats:
            flags = is_relevant(self.queries.labels, relevant)
            return (flags if self.queries.judged is None else flags & self.queries.judged).astype(np.float64)

        return self.column(("relevant", relevant), make)

    @property
    def labels(self) -> Floats:
        """Label of every row in the caller's order, 0 for unjudged rows."""
        labels, judged = self.queries.labels, self.queries.judged
        return labels if judged is None else self.once(("labels",), lambda: np.where(judged, labels, 0.0))

    def numerators_of_equal_scores(self, plan: WholePlan) -> Floats:
        """Return the numerators that a plan's formula computes if all scores are equal."""
        ranks = rank_queries(np.zeros(int(plan.rows.indptr[-1])), None, plan.rows.indptr, averaged=True)
        pairs = () if plan.pairs is None else (plan.pairs,)
        return plan.formula(ranks, *pairs, **plan.columns, **plan.options)

    @property
    def row_ones(self) -> Column:
        """The column with 1 for every row."""
        return self.column(("one",), lambda: np.ones(self.queries.n_docs))

    def product(self, first: Column, second: Column) -> Column:
        """Return the product of two columns."""

        def make() -> Floats:
            with np.errstate(over="ignore", under="ignore"):  # `exact_sum` raises an error for non-finite values
                return first.values * second.values

        return self.column(("product", *first.key, *second.key), make)

    def judged_sums(self, column: Column) -> Floats:
        """Return the sum of a column over the judged rows of each query."""
        key, judged = ("judged sums", *column.key), self.judged
        return self.once(key, lambda: reduced(np.add, judged.take(column.values), judged.indptr))

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
        formula: Formula,
        *,
        empty: Flags,
        k: int | None = None,
        by: Column | None = None,
        by_rank: Mapping[str, Array] = NO_ARGUMENTS,
        by_query: Mapping[str, Array] = NO_ARGUMENTS,
        options: Mapping[str, Any] = NO_ARGUMENTS,
        only_sums: bool = False,
        in_order: bool = False,
        mass: Floats | None = None,
        **columns: Column,
    ) -> RankedPlan:
        """Return a plan whose columns are sorted so that a stable sort by score breaks ties as the convention says.

        Parameters
        ----------
        convention : Ranked
            Declares `k`, `ties`, `unjudged`, `precision`, and perhaps `retrieve`.
        formula : callable
            Its parameters have the names of the following dictionaries' keys and of `columns`.
        empty, by_rank, by_query, options, only_sums, mass
            As in `RankedPlan`.
        k : int, optional
            Number of ranks that the formula reads, in place of the convention's cutoff.
        by : Column, optional
            The column by which `worst` and `best` order tied rows; None means the first column.
        in_order : bool
            Whether rounding depends on the order of averaged ties for any column, not only for one whose sums round.
        **columns : Column
            In the caller's order.
        """
        ranking, tie_column = self._ranking(convention, tuple(columns.values()), by, in_order=in_order)
        rows = retrieved = self.retrieved(convention.unjudged)
        key = ("rows", ranking.ties, ranking.by, ranking.drops)
        if ranking.ties != "input":
            rows = self.once(key, lambda: self._tie_order(ranking.ties, retrieved, tie_column))
        return RankedPlan(
            formula=formula, columns={name: self._take(key, rows, column) for name, column in columns.items()},
            ranking=ranking, rows=rows, k=self.cutoff(convention.k) if k is None else k, by_rank=by_rank,
            by_query=by_query, options=options, only_sums=only_sums, empty=empty, retrieved=retrieved,
            mass=mass,
        )  # fmt: skip

    def _ranking(
        self, convention: Any, columns: tuple[Column, ...], by: Column | None, *, in_order: bool
    ) -> tuple[Ranking, Column]:
        """Return how rows are ranked and ties resolved, and the column that orders tied rows."""
        tie_column, order = by or columns[0], convention.ties
        averaged = order in {"average", "together"}
        if averaged:
            # Add up tied rows in a fixed order, so that the order of the rows cannot change the last bit.
            inexact = columns[:1] if in_order else [column for column in columns if not self._sums_exactly(column)]
            order, tie_column = ("best", inexact[0]) if inexact else ("input", tie_column)
        unjudged, judged = convention.unjudged, self.queries.judged
        drops = unjudged == "drop-negative" or (unjudged == "drop" and judged is not None)
        ranking = Ranking(
            ties=order, by=tie_column.key if order in {"worst", "best"} else None,
            drops=unjudged if drops else "", averaged=averaged,
            retrieve=getattr(convention, "retrieve", "all"), precision=convention.precision,
        )  # fmt: skip
        return ranking, tie_column

    def _take(self, key: Key, rows: Rows, column: Column) -> Column:
        key = ("taken", *key, *column.key)
        return Column(column.key, self.once(key, lambda: rows.take(column.values)))

    def ideal_dcg(self, convention: Any) -> tuple[Floats, Flags]:
        """Return each query's ideal DCG, and whether the query is empty: an ideal DCG that is not positive becomes 1.

        Parameters
        ----------
        convention : NDCG
            Declares the gain, the discount, the cutoff and the ideal list.
        """
        k = self.longest if convention.ideal == "all" else self.cutoff(convention.k)
        deepest, only_retrieved = max(k, self.depth), convention.ideal == "retrieved-only"
        by_retrieved = only_retrieved or convention.ideal == "retrieved"
        retrieved = self.retrieved(convention.unjudged) if by_retrieved else self.judged
        rows = retrieved if only_retrieved else self.judged
        column = self.ranking_gains(convention) if only_retrieved else self.gains(convention.gain)

        def make() -> tuple[Floats, Ranks]:
            gains = rows.take(column.values)
            return gains, rank_queries(gains, None, rows.indptr, deepest)

        def ideal() -> tuple[Floats, Flags]:
            gains, ranks = self.once(key, make)
            if by_retrieved:
                ranks = ranks.cut(np.minimum(retrieved.sizes, k))
            elif k < ranks.k:
                ranks = ranks.cut(k)
            sums = ranks.discounted_sums(gains, self.discounts(convention.discount, k))
            if not np.isfinite(sums).all():
                query, gain = self.queries.query_ids[int(np.argmin(np.isfinite(sums)))], convention.gain
                msg = f"the ideal DCG of query {query} overflows float64: its labels are too large for {gain!r}."
                raise InputError(msg)
            return np.where(sums <= 0, 1.0, sums), sums <= 0

        key = ("ideal", *column.key, deepest, *((convention.unjudged,) if only_retrieved else ()))
        return self.once((*key, convention.discount, k, by_retrieved and convention.unjudged), ideal)

    def dcg_of_ones(self, convention: Any) -> Floats:
        """Return the DCG of k gains of 1. Without a cutoff, k is the number of retrieved rows; if it is 0, return 1."""
        sizes = self.retrieved(convention.unjudged).sizes
        counts = np.full(sizes.size, convention.k) if convention.k else sizes
        totals = np.cumsum(np.append(0.0, self.discounts(convention.discount, int(counts.max()))))
        return np.where(counts > 0, totals[counts], 1.0)

    def _sums_exactly(self, column: Column) -> bool:
        """Return whether every sum of the column within a query is an integer that float64 represents exactly."""
        key, values = ("exact", *column.key), column.values
        return self.once(key, lambda: is_whole_below(values, EXACT / self.longest))

    def _tie_order(self, ties: str, rows: Rows, tie_column: Column) -> Rows:
        """Permute the rows of each query so that a stable sort by score breaks ties as `ties` says."""
        if ties == "reverse":
            return backwards(rows)
        keys = rows.take(_tie_keys(ties, self.queries, tie_column.values))
        return rows.reordered(sorted_positions(keys, rows.indptr))


def _tie_keys(ties: str, queries: Queries, values: Floats) -> Floats:
    if ties in {"best", "worst"}:
        return values if ties == "best" else -values
    if queries.docid_rank is None:
        msg = f"ties={ties!r} needs docid=, but none was given."
        hint = "docid=one string per row, where it is taken, as by ra.evaluate; or ties='input', in a text +ties=input"
        raise InputError(msg, hint=hint)
    ranks = queries.docid_rank.astype(np.float64)
    return ranks if ties == "docid-descending" else -ranks


def weights_of(binding: Binding, rows: Rows, average: str) -> Floats:
    """Return the weight of each row, 1 if the average ignores weights."""
    return rows.take((binding.row_weights(average) or binding.row_ones).values)


def sums_by(indptr: Ints, values: Array) -> Floats:
    """Return the sum of the values of each query, added from left to right."""
    return sums(values, segment_numbers(indptr), indptr.size - 1)


def probabilities(binding: Binding, who: str) -> Floats:
    """Return the labels, checked to be probabilities, in the caller's order; 0 for unjudged rows.

    Raises
    ------
    InputError
        A label is outside [0, 1].
    """
    labels = binding.labels
    outside = (labels < 0) | (labels > 1)
    if outside.any():
        hint = "map your labels" + (", or pairs='label'" if who == "pairs='unit'" else ", such as labels / 4")
        raise refused_label(labels, outside, f"but {who} takes labels in [0, 1]", hint)
    return labels


def given_pairs(binding: Binding, rows: Rows, *, weighed: bool) -> Pairs:
    """Return the pairs with both rows among `rows`, as positions in their order; without weights, each weighs 1.

    Raises
    ------
    InputError
        No pairs were given.
    """
    pairs = binding.queries.pairs
    if pairs is None:
        raise InputError(
            "pairs='given' needs pairs=, but none were given.", hint="pairs=(winner rows, loser rows), or 'label'"
        )
    position = np.full(binding.queries.n_docs, -1)
    n = int(rows.indptr[-1])
    position[slice(n) if rows.order is None else rows.order] = np.arange(n)
    winner, loser = position[pairs.winner], position[pairs.loser]
    both: NDArray[np.bool_] = (winner >= 0) & (loser >= 0)
    weight = pairs.weight[both] if weighed and pairs.weight is not None else np.ones(int(both.sum()))
    return Pairs(winner[both], loser[both], weight, offsets(both)[pairs.indptr])


def loss_plan(
    formula: Formula,
    rows: Rows,
    mass: Floats,
    *,
    options: Mapping[str, Any] = NO_ARGUMENTS,
    pairs: Pairs | None = None,
    **columns: Array,
) -> WholePlan:
    """Return the plan of a loss, whose value is the sum of all numerators divided by the sum of all masses."""
    return WholePlan(
        formula=formula, rows=rows, precision="none", columns=columns, pairs=pairs, options=options, mass=mass,
        pooled=True, empty=mass <= 0,
    )  # fmt: skip


def by_label(binding: Binding, rows: Rows) -> tuple[Rows, Ints]:
    """Return each query's rows by ascending label, and for each row the number of rows with a lower label.

    Of rows with equal labels, the last comes first.
    """
    falling = rank_queries(rows.take(binding.labels), None, rows.indptr)
    ties, upwards = falling.ties, mirrored(rows)
    lower = rows.sizes[ties.query] - ties.first - ties.sizes
    return rows.reordered(falling.ranked[upwards]), lower[falling.tie_of_row][upwards]


def label_ranks(binding: Binding, rows: Rows) -> Floats:
    """Return 2 x (rank by label - mean rank of the query) in the caller's order; equal labels share their mean rank."""
    falling = rank_queries(rows.take(binding.labels), None, rows.indptr)
    ties, ranks = falling.ties, np.zeros(binding.queries.n_docs)
    of_ties = rows.sizes[ties.query] - 2 * ties.first - ties.sizes
    ranks[rows.reordered(falling.ranked).order] = of_ties[falling.tie_of_row]
    return ranks


def grades_of(lower: Ints, indptr: Ints) -> Ints:
    """Return each row's label as 0, 1, ... within its query, given rows by label with their counts of lower labels."""
    firsts = np.append(0, np.cumsum(lower == positions_within(indptr)))
    grades: Ints = firsts[1:] - 1 - np.repeat(firsts[indptr[:-1]], np.diff(indptr))
    return grades
