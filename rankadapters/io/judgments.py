"""What the readers give: judged queries, and the scores of their rows where the files have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from rankadapters.core.data.queries import Queries


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Judgments:
    """Judged queries from files, without scores.

    Attributes
    ----------
    queries : Queries
        The judged rows.
    place : callable
        File and line of a row, as text; it reads the file once more.
    note : str
        What was left out in reading, empty where nothing was.
    """

    queries: Queries
    place: Callable[[int], str] = field(repr=False)
    note: str = ""

    def with_scores(self, scores: NDArray[Any]) -> ScoredJudgments:
        """Give the same judgments with a score for each row."""
        return ScoredJudgments(queries=self.queries, scores=scores, place=self.place, note=self.note)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ScoredJudgments(Judgments):
    """Judged queries and predicted scores, ready for `ra.evaluate(found.queries, found.scores, convention)`.

    Attributes
    ----------
    queries, place, note
        As in `Judgments`.
    scores : float array, shape (n_docs,)
        Score of each row, NaN where it was not retrieved.
    """

    scores: NDArray[Any]
