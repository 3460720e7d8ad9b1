"""What is done with one partition, in the process that holds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.disjoint import Ids
from rankadapters.core.data.fingerprint import hash_ids
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.core.evaluation.panel import Measured, Panel
from rankadapters.partitions.asked import Asked
from rankadapters.partitions.rows import FrameRows, Span, Split, split
from rankadapters.segments.assignment import Assignment, assign
from rankadapters.segments.sums import Segmented, Sums, sums_by_segment

NO_IDS: Ids = np.empty(0, np.uint64)
Columns = Mapping[str, Any]  # of pandas or Arrow, by what they hold: label, score, ...


class Part(NamedTuple):
    """What a partition gives; the ids of its queries stand apart."""

    sums: Segmented  # over the queries that it holds whole
    n_queries: int  # how many these are
    kind: str  # what queries are named by: texts, integers, or unsigned integers
    edges: FrameRows | None  # of sorted data, the queries that other partitions may hold a part of
    span: Span | None  # of sorted data, first and last qid


# None of no rows. An error travels as a value, for engines bury what is raised, or try again.
Given = tuple[Part | RankAdaptersError | None, Ids]


def measure(asked: Asked, columns: Columns, number: int) -> Given:
    """Sum what the queries of a partition add to each convention."""
    return _given(_summed, asked, columns, number)


def count(asked: Asked, columns: Columns, number: int) -> Given:
    """Count the queries of a partition, and give the ids; nothing is ranked."""
    return _given(_counted, asked, columns, number)


def named(asked: Asked, wanted: Ids, columns: Columns, number: int) -> tuple[list[Any], Ids]:
    """Give the number of the partition, and those of its queries that have one of these ids."""
    if not len(columns["qid"]):
        return [number], NO_IDS
    queries = FrameRows.of(columns, asked).distinct_ids
    return [number, *queries[np.isin(hash_ids(queries), wanted)].tolist()], NO_IDS


def values(asked: Asked, columns: Columns) -> tuple[Array, list[Floats]]:
    """Give the queries that a partition holds whole, and their values under each convention."""
    inner = _split(asked, FrameRows.of(columns, asked)).inner if len(columns["qid"]) else None
    if inner is None:
        return np.empty(0, np.int64), [np.empty(0)] * len(asked.conventions)
    return values_of(asked, inner)


def values_of(asked: Asked, rows: FrameRows) -> tuple[Array, list[Floats]]:
    """Give the queries of some rows, and their values under each convention."""
    queries, found, _ = measured(asked, rows)
    return queries.query_ids, list(found.per_query.values())


def measured(asked: Asked, rows: FrameRows, *, as_given: bool = False) -> tuple[Queries, Measured, Assignment | None]:
    """Rank rows under every convention, and find the segments of their queries."""
    queries, ordered = rows.arranged(as_given=as_given)
    segments = _segments(asked, ordered, queries) if asked.has_segments else None
    return queries, Panel(queries, asked.conventions, n_threads=1).measure(ordered.held["score"]), segments


def _segments(asked: Asked, rows: FrameRows, queries: Queries) -> Assignment:
    segments = assign(rows.held.get("by", asked.by), queries, in_parts=True)
    others = [segment for segment in segments if not isinstance(segment, (str, int, float))]
    if others:
        hint = "write them as texts"
        raise refusal("by", others[0], "segments that are texts, numbers or bools", hint)
    return segments


def sums(asked: Asked, rows: FrameRows) -> Segmented:
    """Sum what the queries of some rows add to each convention, by segment."""
    return _summed(asked, rows)[1]


def _summed(asked: Asked, rows: FrameRows) -> tuple[Ids, Segmented]:
    queries, found, segments = measured(asked, rows)
    return queries.id_hashes, sums_by_segment(found, segments)


def _counted(asked: Asked, rows: FrameRows) -> tuple[Ids, Segmented]:  # noqa: ARG001 - as _summed
    return hash_ids(rows.distinct_ids), {}


def _given(
    job: Callable[[Asked, FrameRows], tuple[Ids, Segmented]], asked: Asked, columns: Columns, number: int
) -> Given:
    if not len(columns["qid"]):
        return None, NO_IDS
    try:
        rows = FrameRows.of(columns, asked)
        parted = _split(asked, rows)
        ids, found = (NO_IDS, dict[Any, Sums]()) if parted.inner is None else job(asked, parted.inner)
    except RankAdaptersError as error:
        return _placed(error, asked, columns).about(f"partition {number}"), NO_IDS
    return Part(found, ids.size, f"{rows.kind}s", parted.edges, parted.span), ids


def _placed(error: RankAdaptersError, asked: Asked, columns: Columns) -> RankAdaptersError:
    """Give the same error of the rows as they stand, for they are ranked in another order: the row is another."""
    if getattr(error, "row", None) is not None:
        try:
            measured(asked, FrameRows.of(columns, asked), as_given=True)
        except InputError as found:
            return found
    return error


def _split(asked: Asked, rows: FrameRows) -> Split:
    return split(rows) if asked.partitions == "sorted" else Split(rows, None, None)
