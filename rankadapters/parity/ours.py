"""Our own number of what a toolkit holds: value and parts of the queries, from one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from rankadapters.core.columns import Array
from rankadapters.core.convention import Convention
from rankadapters.core.queries import Queries
from rankadapters.parity.rows import QueryDifferences

if TYPE_CHECKING:
    from rankadapters.core.inert import Terms


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
        from rankadapters.core.inert import counted, terms_in  # brings numba
        from rankadapters.core.panel import Panel

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
