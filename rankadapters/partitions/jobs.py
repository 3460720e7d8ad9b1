"""The jobs that run on one partition, in the process that holds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.ids import hash_ids
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.core.evaluation.evaluator import Evaluator, Measured
from rankadapters.core.evaluation.tally import Ids
from rankadapters.partitions.request import FrameRequest
from rankadapters.partitions.rows import FrameRows, Span, Split, split
from rankadapters.segments.assignment import Assignment, assign
from rankadapters.segments.sums import Segmented, sums_by_segment

NO_IDS: Ids = np.empty(0, np.uint64)
T = TypeVar("T")
Columns = Mapping[str, Any]  # pandas or Arrow columns, keyed by role: label, score, ...
Job = Callable[[Columns, int], tuple[T, Ids]]  # takes a partition and its number, returns a result and ids


class Part(NamedTuple):
    """The result of a partition; the ids of its queries are returned separately."""

    sums: Segmented  # over the queries that are whole in this partition
    n_queries: int  # number of these queries
    kind: str  # type of the query ids: texts, integers, or unsigned integers
    edges: FrameRows | None  # in sorted data, rows of the first and last query, which may continue in other partitions
    span: Span | None  # in sorted data, the first and last qid


# None if the partition has no rows. Errors are returned, because Dask and Spark hide or retry a job that raises.
PartitionResult = Part | RankAdaptersError | None


def evaluate_partition(request: FrameRequest, columns: Columns, number: int) -> tuple[PartitionResult, Ids]:
    """Rank a partition and sum its queries' values under each convention; also return the query ids."""
    return _run_job(_sums_and_ids, request, columns, number)


def list_queries(request: FrameRequest, columns: Columns, number: int) -> tuple[PartitionResult, Ids]:
    """Count the queries of a partition and return their ids, without ranking."""
    return _run_job(lambda _, rows: (hash_ids(rows.distinct_ids), {}), request, columns, number)


def find_queries(request: FrameRequest, ids: Ids, columns: Columns, number: int) -> tuple[list[Any], Ids]:
    """Return the partition's number, followed by its queries that have one of these ids."""
    if not len(columns["qid"]):
        return [number], NO_IDS
    queries = FrameRows.of(columns, request).distinct_ids
    return [number, *queries[np.isin(hash_ids(queries), ids)].tolist()], NO_IDS


def values_of_partition(request: FrameRequest, columns: Columns) -> tuple[Array, list[Floats]]:
    """Return the queries that are whole in a partition, and their values under each convention."""
    inner = _split(request, FrameRows.of(columns, request)).inner if len(columns["qid"]) else None
    if inner is None:
        return np.empty(0, np.int64), [np.empty(0)] * len(request.conventions)
    return values_of_rows(request, inner)


def values_of_rows(request: FrameRequest, rows: FrameRows) -> tuple[Array, list[Floats]]:
    """Return the queries of some rows, and their values under each convention."""
    queries, measured, _ = rank_rows(request, rows)
    return queries.query_ids, list(measured.per_query.values())


def rank_rows(
    request: FrameRequest, rows: FrameRows, *, keep_order: bool = False
) -> tuple[Queries, Measured, Assignment | None]:
    """Rank rows under every convention; return their queries, the values, and the queries' segments."""
    queries, grouped = rows.grouped(keep_order=keep_order)
    segments = _segments(request, grouped, queries) if request.has_segments else None
    return queries, Evaluator.of(queries, request.conventions, n_threads=1).measure(grouped.arrays["score"]), segments


def _segments(request: FrameRequest, rows: FrameRows, queries: Queries) -> Assignment:
    segments = assign(rows.arrays.get("by", request.by), queries, in_parts=True)
    unfit = [segment for segment in segments if not isinstance(segment, (str, int, float))]
    if unfit:
        raise refusal("by", unfit[0], "segments that are texts, numbers or bools", "write them as texts")
    return segments


def sums_of_rows(request: FrameRequest, rows: FrameRows) -> Segmented:
    """Sum the values of the rows' queries under each convention, by segment."""
    return _sums_and_ids(request, rows)[1]


def _sums_and_ids(request: FrameRequest, rows: FrameRows) -> tuple[Ids, Segmented]:
    queries, measured, segments = rank_rows(request, rows)
    return queries.id_hashes, sums_by_segment(measured, segments)


def _run_job(
    job: Callable[[FrameRequest, FrameRows], tuple[Ids, Segmented]],
    request: FrameRequest,
    columns: Columns,
    number: int,
) -> tuple[PartitionResult, Ids]:
    if not len(columns["qid"]):
        return None, NO_IDS
    try:
        rows = FrameRows.of(columns, request)
        parts = _split(request, rows)
        ids, sums = (NO_IDS, {}) if parts.inner is None else job(request, parts.inner)
    except RankAdaptersError as error:
        return _with_input_row(error, request, columns).about(f"partition {number}"), NO_IDS
    return Part(sums, ids.size, f"{rows.kind}s", parts.edges, parts.span), ids


def _with_input_row(error: RankAdaptersError, request: FrameRequest, columns: Columns) -> RankAdaptersError:
    """Return the error with its row counted in the partition's own order, not in the order after grouping by query."""
    if getattr(error, "row", None) is not None:
        try:
            rank_rows(request, FrameRows.of(columns, request), keep_order=True)
        except InputError as error_in_order:
            return error_in_order
    return error


def _split(request: FrameRequest, rows: FrameRows) -> Split:
    return split(rows) if request.partitions == "sorted" else Split(rows, None, None)
