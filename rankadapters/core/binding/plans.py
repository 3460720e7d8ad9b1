"""Plans: what a measure lowers to, as data; the evaluator carries them out without knowing the measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from rankadapters.core.kernels import Kernel, Steps

if TYPE_CHECKING:  # so that a convention can be written and read without numpy
    from rankadapters.core.data.columns import Array, Flags, Floats, Ints
    from rankadapters.core.data.rows import Rows

Key = tuple[object, ...]
NO_ARGUMENTS: Mapping[str, Any] = {}


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
    # row and where the tie ends, of the tie at rank k also the rows beyond.
    tied: str
    retrieve: str = "all"
    precision: str = "float64"  # "none": all rows that are retrieved tie, and are the first

    @property
    def has_ends(self) -> bool:
        """Whether the end of each rank's tie is told."""
        return self.tied in {"spans", "whole"}


def check_arguments(kernel: Kernel | Steps, *names: str) -> None:
    """Check that a plan fills the arguments of its kernel, each in its place.

    Raises
    ------
    TypeError
        It does not: the measure's `lower` and the kernel disagree.
    """
    if kernel.parameters != names:
        msg = f"{kernel!r} takes {', '.join(kernel.parameters)}, but its plan has {', '.join(names)}."
        raise TypeError(msg)


@dataclass(frozen=True, eq=False, kw_only=True)
class RankedPlan:
    """Rank the rows, then turn what the ranks 1..k bring into one value per query.

    The kernel is called as `kernel(*columns, [ends,] outptr, k, *by_rank, *by_query, *options, values)`, with `ends`
    where the ranking tells where ties end. Columns, discounts and the like have the names of its arguments.

    Attributes
    ----------
    kernel : Kernel
        What makes values of the ranks.
    columns : dict of str to Column
        What the rows bring to their ranks.
    ranking : Ranking
        How they are ranked.
    rows : Rows
        The rows that are ranked, in the order that ties keep.
    k : int
        Ranks that the kernel looks at.
    by_rank : dict of str to array, shape (k,)
        Discounts.
    by_query : dict of str to array, shape (n_queries,)
        Ideals, divisors; not 0 where the kernel divides by them.
    options : dict of str to int or float
        What else the kernel takes.
    empty : bool array, shape (n_queries,)
        Queries that have nothing to find.
    retrieved : Rows
        The rows retrieved, whatever their order.
    """

    kernel: Kernel
    columns: Mapping[str, Column]
    ranking: Ranking
    rows: Rows
    k: int
    by_rank: Mapping[str, Array] = field(default_factory=dict)
    by_query: Mapping[str, Array] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    empty: Flags
    retrieved: Rows

    def __post_init__(self) -> None:
        """Check the kernel's arguments."""
        ends = ("ends",) if self.ranking.has_ends else ()
        names = (*self.columns, *ends, "outptr", "k", *self.by_rank, *self.by_query, *self.options, "values")
        check_arguments(self.kernel, *names)


@dataclass(frozen=True, eq=False, kw_only=True)
class WholePlan:
    """Compute from whole queries, without a shared ranking.

    The kernel is called as `kernel(scores, order, indptr, *columns, *offsets, *options, numerators)` and returns the
    first row whose score is not finite, else -1. Columns, offsets and options have the names of its arguments.

    Attributes
    ----------
    kernel : Kernel or Steps
        What makes numerators of the scores.
    rows : Rows
        The rows that count.
    precision : str
        In which scores are compared; `none`: they are not compared, and read in float64.
    columns : dict of str to array
        In the order of `rows`, or where `offsets` say.
    offsets : dict of str to array, shape (n_queries + 1,)
        Where each query's part of other columns begins.
    options : dict of str to int or float
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

    kernel: Kernel | Steps
    rows: Rows
    precision: str
    columns: Mapping[str, Array]
    offsets: Mapping[str, Ints] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    mass: Floats
    pooled: bool
    share: bool = False
    empty: Flags

    def __post_init__(self) -> None:
        """Check the kernel's arguments."""
        names = ("scores", "order", "indptr", *self.columns, *self.offsets, *self.options, "numerators")
        check_arguments(self.kernel, *names)

    @property
    def retrieved(self) -> Rows:
        """The rows retrieved."""
        return self.rows


Plan = RankedPlan | WholePlan
