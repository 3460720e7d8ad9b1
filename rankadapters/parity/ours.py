"""Our own number of what a toolkit holds: value and parts of the queries, from one pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from rankadapters.core.convention import Convention
from rankadapters.core.queries import Queries
from rankadapters.parity.rows import QueryDifferences

if TYPE_CHECKING:
    from rankadapters.core.inert import Terms
    from rankadapters.core.panel import Measured


@dataclass(frozen=True)
class Ours:
    """What we say of scores under a convention; every part of it is computed once.

    >>> import numpy as np
    >>> from rankadapters import presets
    >>> found = Ours(Queries([0, 1], group_sizes=[2]), np.array([1.0, 2.0]), presets.yahoo(2))
    >>> found.value, found.terms.shares.tolist()
    (1.0, [1.0])
    """

    queries: Queries
    scores: NDArray[Any]
    convention: Convention

    @cached_property
    def measured(self) -> Measured:
        """What the one pass found."""
        from rankadapters.core.panel import Panel  # brings numba

        return Panel(self.queries, [self.convention]).measure(self.scores)

    @cached_property
    def value(self) -> float:
        """Our value."""
        return self.measured.scores[self.convention].value

    @cached_property
    def terms(self) -> Terms:
        """How the queries enter the value."""
        from rankadapters.core.inert import terms_in

        return terms_in(self.measured, self.convention)


def counting(queries: Queries, scores: NDArray[Any], convention: Convention) -> Ours:
    """Give ours with the weights that a convention counts; others are left aside instead of refused."""
    from rankadapters.core.inert import counted

    return Ours(counted(queries, convention), scores, convention)


def gap(theirs: Ours, ours: Ours) -> QueryDifferences | None:
    """What each query contributes to the difference of two conventions on the same data; None where it has no part."""
    if not (theirs.convention.is_sum and ours.convention.is_sum):
        return None
    first, second = theirs.terms, ours.terms
    return QueryDifferences(
        query_ids=ours.queries.query_ids, values=first.values, our_values=second.values,
        contributions=first.shares - second.shares,
    )  # fmt: skip
