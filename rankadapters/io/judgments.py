"""What the readers give: judged queries and the scores of their rows."""

from __future__ import annotations

from dataclasses import dataclass
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
    note : str
        What was left out in reading, empty where nothing was.
    """

    queries: Queries
    scores: NDArray[Any]
    note: str = ""
