"""Our own number of what a source holds, from one pass, and the search for what makes another one differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Self

from rankadapters.core.data.columns import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.parity.rows import ParityRow, QueryDifferences
from rankadapters.parity.tolerances import FULL_DOUBLE, Tolerance, relative

if TYPE_CHECKING:
    from rankadapters.statistics.inert import Terms

NOT_A_SUM = (
    "The value is not a sum over the queries, so that only its fields and whole columns were tried, and no query has a "
    "part in it."
)


class Ours(NamedTuple):
    """What we say of scores under a convention, from one pass: the value, and how the queries enter it.

    >>> import numpy as np
    >>> from rankadapters import presets
    >>> found = Ours.of(Queries([0, 1], group_sizes=[2]), np.array([1.0, 2.0]), presets.yahoo(2))
    >>> found.value, found.terms.shares.tolist()
    (1.0, [1.0])
    """

    queries: Queries
    scores: Array
    convention: Convention
    value: float
    terms: Terms

    @classmethod
    def of(cls, queries: Queries, scores: Array, convention: Convention, *, leaving: bool = False) -> Self:
        """Evaluate; weights that the convention does not count are refused, or left aside where that is asked for."""
        from rankadapters.core.evaluation.panel import Panel
        from rankadapters.statistics.inert import counted, terms_in  # brings numba

        queries = counted(queries, convention) if leaving else queries
        found = Panel(queries, [convention]).measure(scores)
        return cls(queries, scores, convention, found.scores[convention].value, terms_in(found, convention))

    def gap(self, other: Ours) -> QueryDifferences | None:
        """Give each query's part in this value less another of the same data; None where it has no part."""
        if not (self.convention.is_sum and other.convention.is_sum):
            return None
        return QueryDifferences(
            query_ids=other.queries.query_ids, values=self.terms.values, our_values=other.terms.values,
            contributions=self.terms.shares - other.terms.shares,
        )  # fmt: skip

    def judge(
        self, value: float, source: str, version: str, *, notes: Iterable[str] = (), tolerance: Tolerance | None = None,
        per_query: Callable[[], QueryDifferences | None] = lambda: None,
    ) -> ParityRow:  # fmt: skip
        """Compare another's value with this one; where it differs, search for the cause."""
        bound = relative(FULL_DOUBLE, self.value) if tolerance is None else tolerance
        row = ParityRow.compare(
            source,
            version,
            self.convention,
            value=value,
            our_value=self.value,
            tolerance=bound,
            reason="\n".join(notes),
        )
        if row.verdict == "equal":
            return row
        from rankadapters.parity.causes import causes  # brings numba

        parts = per_query()
        found = causes(self, value=value, tolerance=bound, per_query=parts)
        why = "; ".join(cause.text for cause in found) or "none of the changes tried gives it"
        whole = "" if self.convention.is_sum else NOT_A_SUM
        reason = "\n".join(filter(None, [row.reason, f"Looking for the cause: {why}.", whole]))
        other = next((cause.convention for cause in found if cause.convention is not None), None)
        if parts is None and other is not None:
            parts = Ours.of(self.queries, self.scores, other, leaving=True).gap(self)
        return replace(row, reason=reason, per_query=parts)
