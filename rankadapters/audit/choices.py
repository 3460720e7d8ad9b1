"""The values that each field of a convention can take on given data: what is searched, and what is varied."""

from __future__ import annotations

from collections.abc import Iterable

from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluator import Panel
from rankadapters.core.fields import CHOICES
from rankadapters.core.queries import Queries
from rankadapters.core.score import Score

# Tables are without number; these are the presets'. `empty` may be any number in [0, 1]; these are the presets'.
GAINS = (*CHOICES["gain"], "table_0_1_3", "table_0_1_3_7_15")
EMPTY = (0.0, 0.5, 1.0, "skip")

AT_ONCE = 256  # conventions whose values of all queries are in memory together

Values = tuple[float | str, ...]


def grid(queries: Queries) -> dict[str, Values]:
    """Values of each field but `k` that can be evaluated on the queries' columns.

    Without docids ties cannot follow them, and with query weights a mean cannot leave them out.

    >>> grid(Queries([1, 0], group_sizes=[2]))["ties"]
    ('input', 'reverse', 'average', 'worst', 'best')
    """
    by_docid = queries.docid_rank is not None
    weighted = queries.query_weight is not None
    return {
        "gain": GAINS,
        "discount": CHOICES["discount"],
        "ideal": CHOICES["ideal"],
        "ties": tuple(ties for ties in CHOICES["ties"] if by_docid or not ties.startswith("docid")),
        "precision": CHOICES["precision"],
        "short": CHOICES["short"],
        "empty": EMPTY,
        "missing": ("zero", "skip"),
        "unjudged": ("zero", "drop"),
        "average": tuple(average for average in CHOICES["average"] if not (weighted and average == "uniform")),
    }


def evaluated(queries: Queries, scores: object, conventions: Iterable[Convention]) -> dict[Convention, Score]:
    """Score of each convention that has one on this data; those that have none are left out."""
    several = list(dict.fromkeys(conventions))
    found: dict[Convention, Score] = {}
    for first in range(0, len(several), AT_ONCE):
        found |= _evaluated(queries, scores, several[first : first + AT_ONCE])
    return found


def _evaluated(queries: Queries, scores: object, several: list[Convention]) -> dict[Convention, Score]:
    try:
        return Panel(queries, several).evaluate(scores)
    except InputError:
        if len(several) == 1:
            return {}
    middle = len(several) // 2
    return _evaluated(queries, scores, several[:middle]) | _evaluated(queries, scores, several[middle:])
