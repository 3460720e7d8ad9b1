"""Plans: a measure's computation as data, which computes itself from ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.arrays import Array, Flags, Floats
from rankadapters.core.binding.gains import passes_threshold
from rankadapters.core.data.optional_columns import Pairs
from rankadapters.core.data.queries import Rows
from rankadapters.core.declaration.fields import border
from rankadapters.core.ranking.ranks import Ranks

Formula = Callable[..., Floats]
NO_ARGUMENTS: Mapping[str, Any] = {}
RETRIEVED = 1.0  # score of every retrieved row if scores are not compared; other rows get 0


class Ranking(NamedTuple):
    """How scores become ranks; plans with equal rankings share one pass over the scores."""

    rows: Rows  # sorted so that a stable sort by score breaks ties as declared; compared by identity
    averaged: bool  # whether ties are averaged; the order of tied rows then only fixes the order of sums
    retrieve: str = "all"
    # "none": all retrieved rows tie, and rank above the rows that are not retrieved. "number": scores are used as
    # float64 numbers.
    precision: str = "number"

    def comparable(self, scores: Array) -> Array:
        """Return the scores in the precision in which they are compared; float32 scores stay float32."""
        if self.precision == "none":
            values = scores.astype(np.float64)
            return np.where(np.isfinite(values), passes_threshold(values, self.retrieve), values)
        if self.precision != "number" and scores.dtype == np.float32:
            return scores
        with np.errstate(over="ignore"):  # an infinite score is refused later
            return scores.astype("float64" if self.precision == "number" else self.precision, copy=False)

    @property
    def threshold(self) -> tuple[float, bool] | None:
        """The score threshold of retrieval, and whether a row with exactly this score is not retrieved."""
        if self.retrieve == "all":
            return None
        word, threshold = border(self.retrieve) or ("from", -np.inf)
        return (RETRIEVED, False) if self.precision == "none" else (threshold, word == "above")


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """Rank the rows, then compute a number per query: from columns at the ranks 1..k, or from whole queries.

    The formula is called as `formula(ranks, **columns, **by_rank, **by_query, **options)`, and with `pairs=` if there
    are any. `ranks` is a `Ranks`, and a column holds the values of the rows in their order, so that the formula gets
    those at each rank by `ranks.take(column)`.

    Attributes
    ----------
    formula : callable
        Computes the numerators.
    ranking : Ranking
        The rows, and how they are ranked.
    k : int or None
        Number of ranks that the formula reads; None if it reads whole queries, perhaps with scores as numbers.
    columns : dict of str to array
        Values of the rows, such as gains.
    by_rank : dict of str to array, shape (k,)
        Values of ranks, such as discounts.
    by_query : dict of str to array, shape (n_queries,)
        Values of queries, such as ideal DCGs; not 0 if the formula divides by them.
    pairs : Pairs or None
        Pairs of the rows: positions in their order.
    options : dict of str to int or float
        Further arguments of the formula.
    only_sums : bool
        Whether the formula asks `ranks` for `discounted_sums` only.
    empty : bool array, shape (n_queries,)
        Queries with nothing to find.
    retrieved : Rows
        The retrieved rows in any order.
    mass : float array, shape (n_queries,), or None
        Divisor of each query's numerator; None for 1.
    pooled : bool
        Whether numerators and masses are summed over the queries before the division.
    share : bool
        Whether the value is a share of the mass, which the numerator then never exceeds.
    """

    formula: Formula
    ranking: Ranking
    k: int | None = None
    columns: Mapping[str, Array]
    by_rank: Mapping[str, Array] = field(default_factory=dict)
    by_query: Mapping[str, Array] = field(default_factory=dict)
    pairs: Pairs | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    only_sums: bool = False
    empty: Flags
    retrieved: Rows
    mass: Floats | None = None
    pooled: bool = False
    share: bool = False

    @property
    def rows(self) -> Rows:
        """The ranked rows."""
        return self.ranking.rows

    def numerators(self, ranks: Ranks, start: int, stop: int) -> Floats:
        """Return the numerators of the queries `start` to `stop` - 1, of which these are the ranks.

        Unless the plan is pooled, they are divided by the masses.
        """
        part = slice(int(self.rows.indptr[start]), int(self.rows.indptr[stop]))
        arguments = {**self.by_rank, **self.options}
        for name, column in self.columns.items():
            arguments[name] = column[part]
        for name, array in self.by_query.items():
            arguments[name] = array[start:stop]
        if self.pairs is not None:
            arguments["pairs"] = self.pairs.of_queries(start, stop, part.start)
        numerators = self.formula(ranks if self.k in {None, ranks.k} else ranks.cut(self.k), **arguments)
        if not self.share or self.mass is None:
            return numerators
        mass = self.mass[start:stop]  # its other order of terms can make it less; sums over no rows are integers
        numerators = np.minimum(numerators, mass, dtype=np.float64)
        return numerators if self.pooled else np.divide(numerators, mass, out=numerators, where=mass > 0)


def whole_plan(
    formula: Formula, rows: Rows, *, empty: Flags, precision: str = "number", mass: Floats | None = None,
    pooled: bool = False, share: bool = False, pairs: Pairs | None = None,
    options: Mapping[str, Any] = NO_ARGUMENTS, **columns: Array,
) -> Plan:  # fmt: skip
    """Return a plan that computes from whole queries; all parameters are those of `Plan` and `Ranking`."""
    return Plan(
        formula=formula, ranking=Ranking(rows, averaged=True, precision=precision), columns=columns, pairs=pairs,
        options=options, empty=empty, retrieved=rows, mass=mass, pooled=pooled, share=share,
    )  # fmt: skip
