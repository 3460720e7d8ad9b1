"""The values that each field of a convention can take on given data: what is searched, and what is varied."""

from __future__ import annotations

from collections.abc import Iterable

from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.panel import Panel
from rankadapters.core.queries import Queries
from rankadapters.core.score import Score

AT_ONCE = 256  # conventions whose values of all queries are in memory together

Values = tuple[float | str, ...]


def grid(measure: type[Convention], queries: Queries) -> dict[str, Values]:
    """Values worth trying of each field of a measure but `k`, as far as the queries' columns allow.

    Without docids ties cannot follow them, and with query weights a mean cannot leave them out.

    >>> import rankadapters as ra
    >>> grid(ra.NDCG, Queries([1, 0], group_sizes=[2]))["ties"]
    ('input', 'reverse', 'average', 'worst', 'best')
    """
    return {
        name: tuple(value for value in kind.tried if kind.fits(value, queries.columns))
        for name, kind in measure.declared().items()
        if name != "k"
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
