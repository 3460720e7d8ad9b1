"""Check that no query is in two partitions of a frame, and merge the partitions' results into Scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.ids import hash_ids
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.core.evaluation.tally import Ids
from rankadapters.partitions import jobs
from rankadapters.partitions.jobs import Job, Part, PartitionResult
from rankadapters.partitions.request import FrameRequest
from rankadapters.partitions.rows import FrameRows, Span
from rankadapters.segments.assignment import refuse_unknown
from rankadapters.segments.segments import Segments
from rankadapters.segments.sums import Outcome, merged, outcomes

T = TypeVar("T")

MAX_TRACED_IDS = 1000  # maximum number of repeated ids whose queries are looked up for the error message


class Frame(Protocol):
    """The partitions of a Dask or Spark frame, after a shuffle if the caller requested one."""

    def gather(self, job: Job[T], wants_ids: Callable[[Sequence[T]], bool]) -> tuple[list[T], list[Ids]]:
        """Run a job on each partition; return the results, and the query ids if `wants_ids(results)` is true.

        The results of partitions without rows may be missing.
        """


class PerQuery(NamedTuple):
    """Ids of the queries at the ends of sorted partitions, and their values under each convention."""

    query_ids: Array
    values: list[Floats]


def evaluate(frame: Frame, request: FrameRequest) -> Any:
    """Return the result of the request's conventions over all partitions of a frame.

    Raises
    ------
    InputError
        There are no rows, a query is in two partitions, or a partition has bad data; the message says which.
    """
    parts = _run_and_check(frame, request, partial(jobs.evaluate_partition, request))
    edges = _edges(request, parts)
    edge_sums = [] if edges is None else [_on_edges(jobs.sums_of_rows, request, edges)]
    sums = merged([part.sums for part in parts] + edge_sums)
    scores = outcomes(sums, request.conventions)
    _refuse_unknown(frame, request, scores)
    segments: Segments[Any] = Segments(request.conventions, {None: scores}, is_one=request.is_one, one_model=True)
    return segments if request.has_segments else segments.all


def per_query(frame: Frame, request: FrameRequest) -> PerQuery | None:
    """Check that no query is in two partitions, and return the values of queries at the ends of sorted partitions.

    `jobs.values_of_partition` computes the values of all other queries.
    """
    if request.partitions == "shuffle":
        return None
    edges = _edges(request, _run_and_check(frame, request, partial(jobs.list_queries, request)))
    return None if edges is None else PerQuery(*_on_edges(jobs.values_of_rows, request, edges))


def _run_and_check(frame: Frame, request: FrameRequest, job: Job[PartitionResult]) -> list[Part]:
    """Run a job on each partition, and check that no query is in two partitions."""
    results, ids = frame.gather(job, partial(_wants_ids, request))
    parts = [result for result in results if isinstance(result, Part)]
    for result in results:
        if isinstance(result, RankAdaptersError):
            raise result
    if not parts:
        raise InputError("the frame holds no rows.\nHint: at least one row is needed.")
    kinds = sorted({part.kind for part in parts}, reverse=True)
    if len(kinds) > 1:
        raise InputError(f"qid holds {' in some partitions and '.join(kinds)} in others.\nHint: cast it first.")
    _refuse_ranges([part.span for part in parts if part.span is not None])
    _refuse_repeated(frame, request, ids)
    return parts


def _wants_ids(request: FrameRequest, results: Sequence[PartitionResult]) -> bool:
    """Return whether to compare query ids between partitions; for sorted data, comparing qid ranges is enough.

    Raises
    ------
    InputError
        There are too many queries, and only ids could show that none is cut.
    """
    n_queries = sum(result.n_queries for result in results if isinstance(result, Part))
    if n_queries > request.ids_up_to and request.partitions == "whole":
        msg = (
            f"partitions='whole' needs to compare ids, but there are {n_queries} queries and ids_up_to is "
            f"{request.ids_up_to}.\n"
            "Hint: partitions='sorted' or 'shuffle', which need no ids, or a larger ids_up_to (8 bytes per query)."
        )
        raise InputError(msg)
    return request.partitions != "sorted" and n_queries <= request.ids_up_to


def _refuse_ranges(spans: list[Span]) -> None:
    """Refuse sorted partitions whose ranges of qid overlap."""
    for (_, end), (begin, _) in pairwise(sorted(spans)):
        if begin < end:
            msg = f"the rows are not sorted by qid: a partition begins with query {begin}, another ends with {end}."
            raise InputError(f"{msg}\nHint: partitions='shuffle', or 'whole' if each query is in one partition.")


def _refuse_repeated(frame: Frame, request: FrameRequest, ids: list[Ids]) -> None:
    """Refuse queries that are in two partitions, and name one."""
    if not ids:
        return
    all_ids = np.sort(np.concatenate(ids))
    repeated = np.unique(all_ids[1:][all_ids[1:] == all_ids[:-1]])
    if not repeated.size:
        return
    partitions: dict[Any, list[int]] = {}  # by query, since different queries may have the same id, which is a hash
    job = partial(jobs.find_queries, request, repeated[:MAX_TRACED_IDS])
    for number, *names in frame.gather(job, lambda _: False)[0]:
        for name in names:
            partitions.setdefault(name, []).append(number)
    cut = {name: numbers for name, numbers in partitions.items() if len(numbers) > 1}
    if cut:
        name, numbers = min(cut.items())
        more = f", and {repeated.size - 1} more queries are in several" if repeated.size > 1 else ""
        msg = f"query {name} is in partitions {min(numbers)} and {max(numbers)}{more}."
        raise InputError(f"{msg}\nHint: partitions='shuffle', or 'sorted' if the rows are sorted by qid.")


def _refuse_unknown(frame: Frame, request: FrameRequest, scores: Mapping[Any, Mapping[Convention, Outcome]]) -> None:
    """Raise an error if `by` maps a query that the frame does not have."""
    n_queries = next(iter(scores[None].values())).score.n_queries
    if request.by is None or len(request.by) == n_queries:  # `by` has all queries of the frame, so no others
        return
    ids = hash_ids(np.fromiter(request.by, object, len(request.by)))
    results = frame.gather(partial(jobs.find_queries, request, ids), lambda _: False)[0]
    refuse_unknown(request.by.keys() - {query for _, *queries in results for query in queries})


def _edges(request: FrameRequest, parts: Sequence[Part]) -> FrameRows | None:
    edges = [part.edges for part in parts if part.edges is not None]
    return FrameRows.concatenate(edges, request) if edges else None


def _on_edges(job: Callable[[FrameRequest, FrameRows], T], request: FrameRequest, edges: FrameRows) -> T:
    try:
        return job(request, edges)
    except RankAdaptersError as error:
        if isinstance(error, InputError):
            error.row = None  # an index into the concatenated edges means nothing to the caller
        raise error.about("queries at the ends of partitions") from None
