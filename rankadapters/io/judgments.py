"""What the readers give: judged queries and the scores of their rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from rankadapters.core.queries import Queries


@dataclass(frozen=True, slots=True, eq=False)
class Judgments:
    """Judged queries and predicted scores, ready for `ra.evaluate(judgments.queries, judgments.scores, convention)`.

    Attributes
    ----------
    queries : Queries
        The judged rows.
    scores : float array, shape (n_docs,)
        Score of each row, NaN where it was not retrieved.
    place : callable
        File and line of a row, as text; it reads the file once more.
    note : str
        What was left out in reading, empty where nothing was.
    """

    queries: Queries
    scores: NDArray[Any]
    place: Callable[[int], str] = field(repr=False)
    note: str = ""
