"""Plans: what a measure lowers to, as data; the evaluator carries them out without knowing the measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # so that a convention can be written and read without numpy
    from rankadapters.core.data.columns import Array, Flags, Floats, Ints
    from rankadapters.core.data.rows import Rows

Key = tuple[object, ...]


class Column(NamedTuple):
    """A number for every row, in the order of a plan's rows; columns of equal key are the same."""

    key: Key
    values: Array


class Ranking(NamedTuple):
    """What decides the ranks of given scores; plans with an equal one share a pass over the scores."""

    ties: str  # the order that ties keep
    by: Key | None  # the column that this order follows
    drops: bool  # whether unjudged rows are left out
    # At the ranks of a tie: "rows" each row, "means" their mean, "spans" their sum and where the tie ends, "whole" each
    # row and where the tie ends, of the tie at rank k also the rows beyond; "unranked": scores are not compared.
    tied: str
    retrieve: str = "all"
    precision: str = "float64"


@dataclass(frozen=True, eq=False, kw_only=True)
class RankedPlan:
    """Rank the rows, then turn what stands at ranks 1..k into one value per query.

    The kernel is called as `kernel(*columns by rank, [ends of ties,] outptr, k, *by_rank, *by_query, *options, status,
    fixed, values)`.

    Attributes
    ----------
    kernel : str
        Module and function, such as 'dcg.discounted_sums', of the kernel in `kernels` and of its numpy form in
        `kernels.in_numpy`.
    of_few : str
        As `kernel`, of one that ranks too, for queries of at most FEW rows that bring one column; empty where there is
        none. It is called as `kernel(scores, order, indptr, *columns, k, *by_rank, *by_query, *options, status, fixed,
        values)` and returns the first row whose score is not finite, else -1.
    along : str
        As `kernel`, of one that ranks too, for scores that move along a column in several steps, where few rows bring
        another number than 0; empty where there is none. It takes what `dcg.discounted_sums_along` takes.
    columns : tuple of Column
        What the rows bring to their ranks.
    ranking : Ranking
        How they are ranked.
    rows : Rows
        The rows that are ranked, in the order that ties keep.
    k : int
        Ranks that the kernel looks at.
    by_rank : tuple of array, shape (k,)
        Discounts.
    by_query : tuple of array, shape (n_queries,)
        Ideals, divisors.
    options : tuple of int or float
        What else the kernel takes.
    empty : bool array, shape (n_queries,)
        Queries that have nothing to find.
    retrieved : Rows
        The rows retrieved, whatever their order.
    """

    kernel: str
    columns: tuple[Column, ...]
    ranking: Ranking
    rows: Rows
    k: int
    by_rank: tuple[Array, ...] = ()
    by_query: tuple[Array, ...] = ()
    options: tuple[Any, ...] = ()
    empty: Flags
    retrieved: Rows
    of_few: str = ""
    along: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class WholePlan:
    """Compute from whole queries, without a shared ranking.

    The kernel is called as `kernel(scores, order, indptr, *columns, *(offsets), *options, numerators)` and returns the
    first row whose score is not finite, else -1.

    Attributes
    ----------
    kernel : str
        Module and function, of both forms.
    rows : Rows
        The rows that count.
    precision : str
        In which scores are compared.
    columns : tuple of array
        In the order of `rows`, or where `offsets` say.
    offsets : tuple of array, shape (n_queries + 1,)
        Where each query's part of other columns begins.
    options : tuple of int or float
        What else the kernel takes.
    mass : float array, shape (n_queries,)
        What the numerator is divided by.
    pooled : bool
        Whether numerators and masses are summed over the queries before the division.
    share : bool
        Whether the numerator is a part of the mass, and so never above it.
    empty : bool array, shape (n_queries,)
        Queries without mass.
    """

    kernel: str
    rows: Rows
    precision: str
    columns: tuple[Array, ...]
    offsets: tuple[Ints, ...] = ()
    options: tuple[Any, ...] = ()
    mass: Floats
    pooled: bool
    share: bool = False
    empty: Flags

    @property
    def retrieved(self) -> Rows:
        """The rows retrieved."""
        return self.rows


Plan = RankedPlan | WholePlan
