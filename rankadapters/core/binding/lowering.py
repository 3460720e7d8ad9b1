"""Lowering: turn conventions and queries into arrays, so that formulas do not depend on conventions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any, TypeVar, TypeVarTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import EXACT, Array, Flags, Floats, Ints
from rankadapters.core.binding.gains import (
    discounts_of,
    gains_of,
    gains_of_grades,
    gains_of_rows,
    ideal_sums,
    is_relevant,
)
from rankadapters.core.binding.plans import NO_ARGUMENTS, Formula, Plan, Ranking, whole_plan
from rankadapters.core.classes import lazy_property
from rankadapters.core.data.columns import refused_label
from rankadapters.core.data.grades import positions_by_grade
from rankadapters.core.data.optional_columns import Pairs
from rankadapters.core.data.queries import Queries, Rows, backwards, mirrored, rows_of
from rankadapters.core.errors import InputError
from rankadapters.core.ranking.offsets import is_whole_below, offsets, positions_within, reduced, segment_numbers, sums
from rankadapters.core.ranking.ranks import Ranks, rank_queries, sorted_positions

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


def kept(function: Callable[[Binding, *Ts], T]) -> Callable[[Binding, *Ts], T]:
    """Decorate a function of a binding, which then keeps what the function returned for its other arguments.

    Arrays are compared by identity, so each must be a column of the queries or have been kept.
    """

    @wraps(function)
    def recall(binding: Binding, *arguments: *Ts) -> T:
        key = function, *[id(argument) if isinstance(argument, np.ndarray) else argument for argument in arguments]
        if key not in binding.kept:
            # With the arguments, so that no other array gets the id of one of them.
            binding.kept[key] = function(binding, *arguments), arguments
        return binding.kept[key][0]  # type: ignore[no-any-return]

    return recall


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
        self.kept: dict[tuple[object, ...], Any] = {}
        self.judged: Rows = rows_of(queries, queries.judged)
        self.longest = queries.longest
        self.depth = min(depth or self.longest, self.longest)
        self.query_ones = np.ones(queries.n_queries)
        self.no_queries = np.zeros(queries.n_queries, np.bool_)
        # Queries without a retrieved row, not even one that `unjudged` drops.
        self.missing: Flags = self.no_queries if queries.retrieved is None else self._ranked_rows("").sizes == 0
        self.discounts = cache(discounts_of)  # the cache key is the discount's name and the number of ranks

    def cutoff(self, k: int | None) -> int:
        """Return k, limited to the number of rows of the longest query; None means no cutoff."""
        return min(k or self.longest, self.longest)

    @kept
    def gains(self, gain: str) -> Floats:
        """Return the gain of every row, in the caller's order."""
        return gains_of_rows(self.queries, gain)

    @kept
    def ranking_gains(self, gain: str, unjudged: object) -> Floats:
        """Return the gain of every row; if `unjudged` is a number, it is the label of unjudged rows."""
        gains, judged = self.gains(gain), self.queries.judged
        if judged is None or not isinstance(unjudged, float):
            return gains
        [unjudged_gain] = gains_of(np.array([unjudged]), None, gain)
        return np.where(judged, gains, unjudged_gain)

    @kept
    def relevance(self, relevant: str) -> Floats:
        """Return 1 for every judged row that is relevant, else 0, in the caller's order."""
        flags = is_relevant(self.queries.labels, relevant)
        return (flags if self.queries.judged is None else flags & self.queries.judged).astype(np.float64)

    @lazy_property
    def labels(self) -> Floats:
        """Label of every row in the caller's order, 0 for unjudged rows."""
        labels, judged = self.queries.labels, self.queries.judged
        return labels if judged is None else np.where(judged, labels, 0.0)

    @lazy_property
    def row_ones(self) -> Floats:
        """The column with 1 for every row."""
        return np.ones(self.queries.n_docs)

    @kept
    def product(self, first: Floats, second: Floats) -> Floats:
        """Return the product of two columns."""
        with np.errstate(over="ignore", under="ignore"):  # `exact_sum` raises an error for non-finite values
            return first * second

    @kept
    def judged_sums(self, column: Floats) -> Floats:
        """Return the sum of a column over the judged rows of each query."""
        return reduced(np.add, self.judged.take(column), self.judged.indptr)

    def row_weights(self, average: str) -> Floats | None:
        """Return the weight of every row if the average uses weights; None if all rows weigh 1."""
        counts = average == "row" or (average == "query" and self.over_rows)  # if `over_rows`, rows have query weights
        return self.queries.row_weight if counts else None

    def retrieved(self, unjudged: object) -> Rows:
        """Return the rows that are ranked, given the value of the field `unjudged`.

        Raises
        ------
        InputError
            A retrieved row is not judged, and `unjudged` is 'error'.
        """
        judged = self.queries.judged
        if unjudged == "error" and judged is not None:
            self._refuse_unjudged(judged)
        drops = unjudged == "drop-negative" or (unjudged == "drop" and judged is not None)
        return self._ranked_rows(unjudged if drops else "")

    @kept
    def _ranked_rows(self, drops: object) -> Rows:
        """Return the retrieved rows, without those that this value of `unjudged` drops."""
        queries = self.queries
        mask, judged = queries.retrieved, queries.judged
        if drops and judged is not None:
            mask = judged if mask is None else judged & mask
        if drops == "drop-negative":
            mask = queries.labels >= 0 if mask is None else mask & (queries.labels >= 0)
        return rows_of(queries, mask)

    @kept
    def _refuse_unjudged(self, judged: Flags) -> None:
        without_label = ~judged if self.queries.retrieved is None else self.queries.retrieved & ~judged
        if without_label.any():
            row = int(np.argmax(without_label))
            msg = f"row {row} was retrieved but not judged, and the convention says unjudged='error'."
            hint = "convention.replace(unjudged='zero') or 'drop'; in a text, '+unjudged=zero'"
            raise InputError(msg, hint=hint, row=row)

    def plan(
        self,
        convention: Any,
        formula: Formula,
        *,
        empty: Flags,
        k: int | None = None,
        by: Floats | None = None,
        by_rank: Mapping[str, Array] = NO_ARGUMENTS,
        by_query: Mapping[str, Array] = NO_ARGUMENTS,
        options: Mapping[str, Any] = NO_ARGUMENTS,
        only_sums: bool = False,
        in_order: bool = False,
        mass: Floats | None = None,
        **columns: Floats,
    ) -> Plan:
        """Return a plan of the ranks 1..k, whose rows are sorted so that a stable sort breaks ties as declared.

        Parameters
        ----------
        convention : Ranked
            Declares `k`, `ties`, `unjudged`, `precision`, and perhaps `retrieve`.
        formula : callable
            Its parameters have the names of the following dictionaries' keys and of `columns`.
        empty, by_rank, by_query, options, only_sums, mass
            As in `Plan`; with a mass, the plan is pooled.
        k : int, optional
            Number of ranks that the formula reads, in place of the convention's cutoff.
        by : float array, optional
            The column by which `worst` and `best` order tied rows; None means the first column.
        in_order : bool
            Whether rounding depends on the order of averaged ties for any column, not only for one whose sums round.
        **columns : float array
            In the caller's order.
        """
        retrieved, ties, arrays = self.retrieved(convention.unjudged), convention.ties, list(columns.values())
        tie_column, averaged = arrays[0] if by is None else by, ties in {"average", "together"}
        if averaged:
            # Add up tied rows in a fixed order, so that the order of the rows cannot change the last bit.
            inexact = arrays if in_order else [column for column in arrays if not self._sums_exactly(column)]
            ties, tie_column = ("best", inexact[0]) if inexact else ("input", tie_column)
        rows = retrieved
        if ties != "input":
            rows = self._tie_order(ties, retrieved, tie_column if ties in {"worst", "best"} else None)
        if rows.order is not None:
            columns = {name: self._taken(rows, column) for name, column in columns.items()}
        return Plan(
            formula=formula, ranking=Ranking(rows, averaged, convention.get("retrieve"), convention.precision),
            k=self.cutoff(convention.k) if k is None else k, columns=columns, by_rank=by_rank, by_query=by_query,
            options=options, only_sums=only_sums, empty=empty, retrieved=retrieved, mass=mass, pooled=mass is not None,
        )  # fmt: skip

    @kept
    def _taken(self, rows: Rows, column: Floats) -> Floats:
        return rows.take(column)

    @kept
    def _sums_exactly(self, column: Floats) -> bool:
        """Return whether every sum of the column within a query is an integer that float64 represents exactly."""
        return is_whole_below(column, EXACT / self.longest)

    @kept
    def _tie_order(self, ties: str, rows: Rows, column: Floats | None) -> Rows:
        """Permute the rows of each query so that a stable sort by score breaks ties as `ties` says."""
        if ties == "reverse":
            return backwards(rows)
        if column is None:
            if self.queries.docid_rank is None:
                msg = f"ties={ties!r} needs docid=, but none was given."
                where = "where it is taken, as by ra.evaluate; or ties='input', in a text +ties=input"
                raise InputError(msg, hint=f"docid=one string per row, {where}")
            column = self.queries.docid_rank.astype(np.float64)
        falling, grades, positions = ties in {"best", "docid-descending"}, self.queries.grades, None
        keys = rows.take(column)
        if grades is not None and ties in {"best", "worst"}:
            positions = positions_by_grade(keys, rows.take(grades), rows.indptr, falling=falling)
        if positions is None:
            positions = sorted_positions(keys if falling else -keys, rows.indptr)
        return rows.reordered(positions)

    def ideal_dcg(self, convention: Any) -> tuple[Floats, Flags]:
        """Return each query's ideal DCG, and whether the query is empty: an ideal DCG that is not positive becomes 1.

        Parameters
        ----------
        convention : NDCG
            Declares the gain, the discount, the cutoff and the ideal list.
        """
        k = self.longest if convention.ideal == "all" else self.cutoff(convention.k)
        by_retrieved = convention.ideal in {"retrieved", "retrieved-only"}
        ideal, unjudged = (convention.ideal, convention.unjudged) if by_retrieved else ("cutoff", "")
        return self._ideal_dcg(convention.gain, convention.discount, k, ideal, unjudged)

    @kept
    def _ideal_dcg(self, gain: str, discount: str, k: int, ideal: str, unjudged: object) -> tuple[Floats, Flags]:
        retrieved = self.judged if ideal == "cutoff" else self.retrieved(unjudged)
        cutoffs = k if ideal == "cutoff" else np.minimum(retrieved.sizes, k)
        discounts, counts = self.discounts(discount, k), self.queries.grade_counts
        by_grade = None if counts is None or ideal == "retrieved-only" else gains_of_grades(self.queries, gain)
        if counts is not None and by_grade is not None:
            sums = ideal_sums(counts, by_grade, cutoffs, discounts)
        else:
            if ideal == "retrieved-only":
                gains, ranks = self._ideal_ranks(retrieved, self.ranking_gains(gain, unjudged), max(k, self.depth))
            else:
                gains, ranks = self._ideal_ranks(self.judged, self.gains(gain), max(k, self.depth))
            if ideal != "cutoff" or k < ranks.k:
                ranks = ranks.cut(cutoffs)
            sums = ranks.discounted_sums(gains, discounts)
        if not np.isfinite(sums).all():
            query = self.queries.query_ids[int(np.argmin(np.isfinite(sums)))]
            msg = f"the ideal DCG of query {query} overflows float64: its labels are too large for {gain!r}."
            raise InputError(msg)
        return np.where(sums <= 0, 1.0, sums), sums <= 0

    @kept
    def _ideal_ranks(self, rows: Rows, gains: Floats, depth: int) -> tuple[Floats, Ranks]:
        taken = rows.take(gains)
        return taken, rank_queries(taken, None, rows.indptr, depth)

    def dcg_of_ones(self, convention: Any) -> Floats:
        """Return the DCG of k gains of 1. Without a cutoff, k is the number of retrieved rows; if it is 0, return 1."""
        sizes = self.retrieved(convention.unjudged).sizes
        counts = np.full(sizes.size, convention.k) if convention.k else sizes
        totals = np.cumsum(np.append(0.0, self.discounts(convention.discount, int(counts.max()))))
        return np.where(counts > 0, totals[counts], 1.0)


def weights_of(binding: Binding, rows: Rows, average: str) -> Floats:
    """Return the weight of each row, 1 if the average ignores weights."""
    weights = binding.row_weights(average)
    return rows.take(binding.row_ones if weights is None else weights)


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
    **columns: Any,
) -> Plan:
    """Return the plan of a loss, whose value is the sum of all numerators divided by the sum of all masses."""
    return whole_plan(formula, rows, empty=mass <= 0, mass=mass, pooled=True, options=options, pairs=pairs, **columns)


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
