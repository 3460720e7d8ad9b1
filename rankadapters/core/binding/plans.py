"""Plans: a measure's computation as data, which the evaluator runs without knowing the measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from rankadapters.core.kernels import Kernel, Steps

if TYPE_CHECKING:  # so that conventions can be made and parsed without importing numpy
    from rankadapters.core.data.columns import Array, Flags, Floats, Ints
    from rankadapters.core.data.rows import Rows

Key = tuple[object, ...]
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
    # What tied rows have in a column by rank. "rows": their own values; "means": the mean of the tie; "spans": its sum;
    # "whole": their own values, also beyond rank k if the tie crosses k. The last two also record where ties end.
    tied: str
    retrieve: str = "all"
    precision: str = "float64"  # "none": all retrieved rows tie, and rank above the rows that are not retrieved

    @property
    def has_ends(self) -> bool:
        """Whether the kernel gets, for each rank, where the tie at this rank ends."""
        return self.tied in {"spans", "whole"}


def check_arguments(kernel: Kernel | Steps, *names: str) -> None:
    """Check that a plan's arguments have the names and the order of the kernel's parameters.

    Raises
    ------
    TypeError
        The measure's `lower` and the kernel disagree.
    """
    if kernel.parameters != names:
        msg = f"{kernel!r} takes {', '.join(kernel.parameters)}, but its plan has {', '.join(names)}."
        raise TypeError(msg)


@dataclass(frozen=True, eq=False, kw_only=True)
class RankedPlan:
    """Rank the rows, then compute one value per query from columns at the ranks 1..k.

    The kernel is called as `kernel(*columns, [ends,] outptr, k, *by_rank, *by_query, *options, values)`, with `ends`
    if `ranking.has_ends`. The keys of the dictionaries are the names of its parameters.

    Attributes
    ----------
    kernel : Kernel
        Computes the values.
    columns : dict of str to Column
        Values of the rows, such as gains.
    ranking : Ranking
        How the rows are ranked.
    rows : Rows
        The ranked rows, sorted so that a stable sort by score breaks ties as declared.
    k : int
        Number of ranks that the kernel reads.
    by_rank : dict of str to array, shape (k,)
        Values of ranks, such as discounts.
    by_query : dict of str to array, shape (n_queries,)
        Values of queries, such as ideal DCGs; not 0 if the kernel divides by them.
    options : dict of str to int or float
        Further arguments of the kernel.
    empty : bool array, shape (n_queries,)
        Queries with nothing to find.
    retrieved : Rows
        The retrieved rows in any order.
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
    first row whose score is not finite, else -1. The keys of the dictionaries are the names of its parameters.

    Attributes
    ----------
    kernel : Kernel or Steps
        Computes the numerators.
    rows : Rows
        The rows that the measure uses.
    precision : str
        Precision in which scores are compared; `none` if they are not compared, but used as float64 numbers.
    columns : dict of str to array
        Values in the order of `rows`, or in segments that `offsets` define.
    offsets : dict of str to array, shape (n_queries + 1,)
        Where each query's segment of a column begins.
    options : dict of str to int or float
        Further arguments of the kernel.
    mass : float array, shape (n_queries,)
        Divisor of the numerator.
    pooled : bool
        Whether numerators and masses are summed over the queries before the division.
    share : bool
        Whether the value is a share, so that the numerator never exceeds the mass.
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
        """The retrieved rows."""
        return self.rows


Plan = RankedPlan | WholePlan
