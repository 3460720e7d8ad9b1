"""Parts of a frame become Scores, once it is known that no query is in two of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.disjoint import Ids
from rankadapters.core.data.fingerprint import hash_ids
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import AboveValuesWarning, InputError, RankAdaptersError, warn_caller
from rankadapters.partitions import jobs
from rankadapters.partitions.asked import Asked
from rankadapters.partitions.jobs import Columns, Part
from rankadapters.partitions.rows import FrameRows, Span
from rankadapters.segments.assignment import refuse_unknown
from rankadapters.segments.segments import Segments
from rankadapters.segments.sums import Outcome, above_value_warnings, merged, outcomes

T = TypeVar("T")

NAMED = 1000  # ids of which the queries are looked for, where they are in two partitions


class Frame(Protocol):
    """The partitions of a frame of some engine, moved as was asked."""

    def gather(
        self, job: Callable[[Columns, int], tuple[T, Ids]], wants_ids: Callable[[Sequence[T]], bool]
    ) -> tuple[list[T], list[Ids]]:
        """Do a job with each partition and its number, and bring its results here, and the ids if these are wanted.

        A partition without rows need not be there.
        """


class PerQuery(NamedTuple):
    """Queries that are cut, by what they were given as, and their values under each convention."""

    query_ids: Array
    values: list[Floats]


def evaluate(frame: Frame, asked: Asked) -> Any:
    """Score the convention, or each of several, over all partitions of a frame.

    Raises
    ------
    InputError
        There are no rows, a query is in two parts, or a partition was refused: the message says which.

    Warns
    -----
    AboveValuesWarning
        As in `ra.evaluate`.
    """
    parts = _checked(frame, asked, jobs.measure)
    edges = _edges(asked, parts)
    found = [part.sums for part in parts] + ([] if edges is None else [_of_edges(jobs.sums, asked, edges)])
    sums = merged(found)
    scores = outcomes(sums, asked.conventions)
    _refuse_unknown(frame, asked, scores)
    for message in above_value_warnings(sums, asked.conventions):
        warn_caller(message, AboveValuesWarning)
    segments: Segments[Any] = Segments(asked.conventions, {None: scores}, is_one=asked.is_one, one_model=True)
    return segments if asked.has_segments else segments.all


def per_query(frame: Frame, asked: Asked) -> PerQuery | None:
    """Check that no query is in two partitions, and give the values of those that sorted data cut.

    `jobs.values` gives the others, partition by partition.
    """
    if asked.partitions == "shuffle":
        return None
    edges = _edges(asked, _checked(frame, asked, jobs.count))
    return None if edges is None else PerQuery(*_of_edges(jobs.values_of, asked, edges))


def _checked(frame: Frame, asked: Asked, job: Callable[[Asked, Columns, int], jobs.Given]) -> list[Part]:
    """Do a job with each partition, and see that no query is in two."""
    given, ids = frame.gather(partial(job, asked), partial(_wants_ids, asked))
    parts = [each for each in given if isinstance(each, Part)]
    for each in given:
        if isinstance(each, RankAdaptersError):
            raise each
    if not parts:
        raise InputError("the frame holds no rows.\nHint: at least one row is needed.")
    kinds = sorted({part.kind for part in parts}, reverse=True)
    if len(kinds) > 1:
        raise InputError(f"qid holds {' in some partitions and '.join(kinds)} in others.\nHint: cast it first.")
    _refuse_ranges([part.span for part in parts if part.span is not None])
    _refuse_twice(frame, asked, ids)
    return parts


def _wants_ids(asked: Asked, given: Sequence[Part | RankAdaptersError | None]) -> bool:
    """Tell whether the ids of so many queries are compared; that of sorted data their ranges tell.

    Raises
    ------
    InputError
        They are too many, and nothing else tells that no query is cut.
    """
    n_queries = sum(each.n_queries for each in given if isinstance(each, Part))
    if n_queries > asked.ids_up_to and asked.partitions == "whole":
        msg = (
            f"partitions='whole' rests on comparing ids, but there are {n_queries} queries and ids_up_to is "
            f"{asked.ids_up_to}.\n"
            "Hint: partitions='sorted' or 'shuffle', which need no ids, or a larger ids_up_to (8 bytes each)."
        )
        raise InputError(msg)
    return asked.partitions != "sorted" and 0 < n_queries <= asked.ids_up_to


def _refuse_ranges(spans: list[Span]) -> None:
    """Refuse partitions of sorted data of which one begins before another ends."""
    for (_, end), (begin, _) in pairwise(sorted(spans)):
        if begin < end:
            msg = f"the rows are not sorted by qid: a partition begins with query {begin}, another ends with {end}."
            raise InputError(f"{msg}\nHint: partitions='shuffle', or 'whole' where no query is cut.")


def _refuse_twice(frame: Frame, asked: Asked, ids: list[Ids]) -> None:
    """Refuse an id that is in two partitions, and name the query."""
    if not ids:
        return
    every = np.sort(np.concatenate(ids))
    twice = np.unique(every[1:][every[1:] == every[:-1]])
    if not twice.size:
        return
    places: dict[Any, list[int]] = {}  # of each query: texts may share an id, by chance
    for number, *names in frame.gather(partial(jobs.named, asked, twice[:NAMED]), lambda _: False)[0]:
        for name in names:
            places.setdefault(name, []).append(number)
    cut = {name: numbers for name, numbers in places.items() if len(numbers) > 1}
    if cut:
        name, numbers = min(cut.items())
        more = f", and {twice.size - 1} more queries are in several" if twice.size > 1 else ""
        msg = f"query {name} is in partitions {min(numbers)} and {max(numbers)}{more}."
        raise InputError(f"{msg}\nHint: partitions='shuffle', or 'sorted' where the rows are sorted by qid.")


def _refuse_unknown(frame: Frame, asked: Asked, scores: Mapping[Any, Mapping[Convention, Outcome]]) -> None:
    """Refuse a mapping that names more queries than there are, each of which it names."""
    n_queries = next(iter(scores[None].values())).score.n_queries
    if asked.by is None or len(asked.by) == n_queries:
        return
    wanted = hash_ids(np.fromiter(asked.by, object, len(asked.by)))
    names = frame.gather(partial(jobs.named, asked, wanted), lambda _: False)[0]
    refuse_unknown(asked.by.keys() - {query for _, *queries in names for query in queries})


def _edges(asked: Asked, parts: Sequence[Part]) -> FrameRows | None:
    edges = [part.edges for part in parts if part.edges is not None]
    return FrameRows.joined(edges, asked) if edges else None


def _of_edges(job: Callable[[Asked, FrameRows], T], asked: Asked, edges: FrameRows) -> T:
    try:
        return job(asked, edges)
    except RankAdaptersError as error:
        if isinstance(error, InputError):
            error.row = None  # of all edges, which nobody sees together
        raise error.about("queries at the ends of partitions") from None
