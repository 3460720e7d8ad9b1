"""Plans: a measure's computation as data, which the evaluator runs without knowing the measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rankadapters.core.arrays import Array, Flags, Floats
from rankadapters.core.data.optional_columns import Pairs
from rankadapters.core.data.queries import Rows

Key = tuple[object, ...]
Formula = Callable[..., Floats]
NO_ARGUMENTS: Mapping[str, Any] = {}


class Column(NamedTuple):
    """A number for every row, in the order of a plan's rows; columns with equal keys have equal values."""

    key: Key
    values: Array


class Ranking(NamedTuple):
    """How scores become ranks; plans with equal rankings share one pass over the scores."""

    ties: str  # the order of tied rows
    by: Key | None  # the column that defines that order
    drops: str  # the value of `unjudged` if it drops rows, else empty
    averaged: bool  # whether ties are averaged; their order then only fixes the order of sums
    retrieve: str = "all"
    precision: str = "float64"  # "none": all retrieved rows tie, and rank above the rows that are not retrieved


@dataclass(frozen=True, eq=False, kw_only=True)
class RankedPlan:
    """Rank the rows, then compute one value per query from columns at the ranks 1..k.

    The formula is called as `formula(ranks, **columns, **by_rank, **by_query, **options)` and returns the values of the
    queries. `ranks` is a `Ranks`, and a column holds the values of the rows in their order, so that the formula gets
    those at each rank by `ranks.take(column)`.

    Attributes
    ----------
    formula : callable
        Computes the values.
    columns : dict of str to Column
        Values of the rows, such as gains.
    ranking : Ranking
        How the rows are ranked.
    rows : Rows
        The ranked rows, sorted so that a stable sort by score breaks ties as declared.
    k : int
        Number of ranks that the formula reads.
    by_rank : dict of str to array, shape (k,)
        Values of ranks, such as discounts.
    by_query : dict of str to array, shape (n_queries,)
        Values of queries, such as ideal DCGs; not 0 if the formula divides by them.
    options : dict of str to int or float
        Further arguments of the formula.
    only_sums : bool
        Whether the formula asks `ranks` for `discounted_sums` only.
    empty : bool array, shape (n_queries,)
        Queries with nothing to find.
    retrieved : Rows
        The retrieved rows in any order.
    mass : float array, shape (n_queries,), or None
        Divisor of each query, if values and divisors are summed over the queries before the division.
    """

    formula: Formula
    columns: Mapping[str, Column]
    ranking: Ranking
    rows: Rows
    k: int
    by_rank: Mapping[str, Array] = field(default_factory=dict)
    by_query: Mapping[str, Array] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    only_sums: bool = False
    empty: Flags
    retrieved: Rows
    mass: Floats | None = None

    @property
    def pooled(self) -> bool:
        """Whether values and masses are summed over the queries before the division."""
        return self.mass is not None


@dataclass(frozen=True, eq=False, kw_only=True)
class WholePlan:
    """Compute from whole queries.

    The formula is called as `formula(ranks, [pairs,] **columns, **options)` and returns the numerators of the queries.
    `ranks` is a `Ranks` of all rows, whose ties are averaged.

    Attributes
    ----------
    formula : callable
        Computes the numerators.
    rows : Rows
        The rows that the measure uses.
    precision : str
        Precision in which scores are compared; `none` if they are not compared, but used as float64 numbers.
    columns : dict of str to array
        Values in the order of `rows`.
    pairs : Pairs or None
        Pairs of these rows: positions in their order.
    options : dict of str to int or float
        Further arguments of the formula.
    mass : float array, shape (n_queries,)
        Divisor of the numerator.
    pooled : bool
        Whether numerators and masses are summed over the queries before the division.
    share : bool
        Whether the value is a share, so that the numerator never exceeds the mass.
    empty : bool array, shape (n_queries,)
        Queries without mass.
    """

    formula: Formula
    rows: Rows
    precision: str
    columns: Mapping[str, Array] = field(default_factory=dict)
    pairs: Pairs | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    mass: Floats
    pooled: bool
    share: bool = False
    empty: Flags

    @property
    def retrieved(self) -> Rows:
        """The retrieved rows."""
        return self.rows


Plan = RankedPlan | WholePlan
