"""Evaluating many conventions, some of which may have no value on the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from rankadapters.core.data.columns import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.members import Member, Work, bind_usable
from rankadapters.core.evaluation.panel import Measured
from rankadapters.core.evaluation.score import Score
from rankadapters.core.evaluation.threads import as_n_threads
from rankadapters.progress import advance

AT_ONCE = 256  # conventions whose values of all queries are in memory together

_NOTHING: Mapping[Convention, Score] = MappingProxyType({})


def evaluated(
    queries: Queries, scores: object, conventions: Iterable[Convention], known: Mapping[Convention, Score] = _NOTHING
) -> dict[Convention, Score]:
    """Score of each convention that has one on this data; those that have none are left out.

    What is `known` already is not computed once more.
    """
    several = dict.fromkeys(conventions)
    found = {convention: known[convention] for convention in several if convention in known}
    for measured in passes(queries, scores, (convention for convention in several if convention not in found)):
        found |= measured.scores
    return {convention: found[convention] for convention in several if convention in found}


def passes(queries: Queries, scores: object, conventions: Iterable[Convention]) -> Iterator[Measured]:
    """Evaluate some conventions after the other; each is in one pass, those without a value on this data in none."""
    several = list(dict.fromkeys(conventions))
    for first in range(0, len(several), AT_ONCE):
        yield from _passes(queries, scores, several[first : first + AT_ONCE])
        advance(len(several[: first + AT_ONCE]), len(several))


def _passes(queries: Queries, scores: object, several: list[Convention]) -> Iterator[Measured]:
    members = [member for member in bind_usable(queries, several) if member.has_value]
    if members:
        yield from _measured(queries, queries.check_scores(scores), members)


def _measured(queries: Queries, scores: Array, members: list[Member]) -> Iterator[Measured]:
    """Measure all at once, or, where a score stops one of them, by halves."""
    try:
        found = Measured(queries, members, Work(members).numerators(scores, as_n_threads(None)))
        found.scores  # noqa: B018 - where a mean is beyond float64 this raises
    except InputError:
        if len(members) > 1:
            middle = len(members) // 2
            yield from _measured(queries, scores, members[:middle])
            yield from _measured(queries, scores, members[middle:])
    else:
        yield found
