"""A number that differs from ours, the data behind ours, and the values that changes of one kind would give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import RankAdaptersError
from rankadapters.statistics.inert import Terms, terms_of

Floats = NDArray[np.float64]


class Cause(NamedTuple):
    """What would give a number: in words, and the convention where it is another one."""

    text: str
    convention: Convention | None = None


class ChangedValues(NamedTuple):
    """Values that changes of one kind would give, NaN where one gives none, and what is said of each."""

    values: Floats
    describe: Callable[[int], Cause]

    @classmethod
    def of(cls, changes: Iterable[tuple[str, float]]) -> Self:
        """Join changes in words with their values."""
        listed = list(changes)
        values = np.array([value for _, value in listed], np.float64)
        return cls(values, lambda place: Cause(f"it is {listed[place][0]}"))


class Case(NamedTuple):
    """What our value comes from: the data, the convention, and how the queries enter it."""

    queries: Queries
    scores: NDArray[Any]
    convention: Convention
    terms: Terms

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
        """Evaluate other queries, scores or another convention; NaN where these have no value."""
        case = self._replace(**changes)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # labels and scores swapped
                return float(terms_of(case.queries, case.scores, case.convention).shares.sum())
        except RankAdaptersError:
            return np.nan
