"""Our own number, from one pass: the data behind it, and how each query enters it."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import RankAdaptersError
from rankadapters.core.evaluation.panel import Panel
from rankadapters.parity.rows import QueryDifferences
from rankadapters.statistics.inert import Terms, counted, terms_in, terms_of


class OurNumber(NamedTuple):
    """Our value of scores under a convention, and how the queries enter it.

    >>> from rankadapters import presets
    >>> ours = OurNumber.of(Queries([0, 1], group_sizes=[2]), np.array([1.0, 2.0]), presets.yahoo(2))
    >>> ours.value, ours.terms.shares.tolist()
    (1.0, [1.0])
    """

    queries: Queries
    scores: Array
    convention: Convention
    value: float
    terms: Terms

    @classmethod
    def of(cls, queries: Queries, scores: Array, convention: Convention, *, leaving: bool = False) -> Self:
        """Evaluate. Weights that the convention does not count are an error, or ignored with `leaving`."""
        queries = counted(queries, convention) if leaving else queries
        measured = Panel(queries, [convention]).measure(scores)
        return cls(queries, scores, convention, measured.scores[convention].value, terms_in(measured, convention))

    @property
    def parts(self) -> Floats:
        """What each query adds to the sum that the divisors divide."""
        parts: Floats = self.terms.shares * self.terms.divisors.sum()
        return parts

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each query."""
        return np.diff(self.queries.indptr)

    def changed(self, **changes: Any) -> float:
        """Return the value of other queries, scores or another convention; NaN where these have no value."""
        other = self._replace(**changes)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # labels and scores swapped
                return float(terms_of(other.queries, other.scores, other.convention).shares.sum())
        except RankAdaptersError:
            return np.nan

    def gap(self, other: OurNumber) -> QueryDifferences | None:
        """Return each query's part in this value less another of the same data; None where it has no part."""
        if not (self.convention.is_sum and other.convention.is_sum):
            return None
        return QueryDifferences(
            query_ids=other.queries.query_ids, values=self.terms.values, our_values=other.terms.values,
            contributions=self.terms.shares - other.terms.shares,
        )  # fmt: skip
