"""Evaluate many conventions, and leave out those that have no value on the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rankadapters.core.arrays import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.evaluation import passes
from rankadapters.evaluation.measured import Measured
from rankadapters.evaluation.score import Score
from rankadapters.evaluation.threads import as_n_threads
from rankadapters.progress import advance

PASS_SIZE = 256  # conventions per pass; the per-query values of a whole pass are in memory together


def evaluate_usable(
    queries: Queries,
    scores: object,
    conventions: Iterable[Convention],
    known_scores: Mapping[Convention, Score] | None = None,
) -> dict[Convention, Score]:
    """Return the Score of each convention that has a value on this data, reusing the `known_scores`."""
    distinct, known = dict.fromkeys(conventions), known_scores or {}
    usable = {convention: known[convention] for convention in distinct if convention in known}
    for measured in measure_in_passes(queries, scores, (c for c in distinct if c not in usable)):
        usable |= measured.scores
    return {convention: usable[convention] for convention in distinct if convention in usable}


def measure_in_passes(queries: Queries, scores: object, conventions: Iterable[Convention]) -> Iterator[Measured]:
    """Measure conventions in passes of limited size, skipping conventions that have no value on this data."""
    distinct = list(dict.fromkeys(conventions))
    for first in range(0, len(distinct), PASS_SIZE):
        bound = passes.bind_usable(queries, distinct[first : first + PASS_SIZE])
        members = [member for member in bound if member.has_value]
        if members:
            yield from _measure(queries, queries.check_scores(scores), members)
        advance(len(distinct[: first + PASS_SIZE]), len(distinct))


def _measure(queries: Queries, scores: Array, members: list[passes.Member]) -> Iterator[Measured]:
    """Measure the bound conventions in one pass; on an error, retry each half; skip a single convention that fails."""
    try:
        measured = Measured(queries, members, passes.numerators(members, scores, as_n_threads(None)))
        measured.scores  # noqa: B018 - raises if a mean overflows float64
    except InputError:
        if len(members) > 1:
            middle = len(members) // 2
            yield from _measure(queries, scores, members[:middle])
            yield from _measure(queries, scores, members[middle:])
    else:
        yield measured
