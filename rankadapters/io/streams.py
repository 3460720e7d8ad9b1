"""Evaluate data that need not fit in memory, in batches that may end within a query."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, overload

import numpy as np

from rankadapters.core.data.columns import Array
from rankadapters.core.data.ids import hash_ids
from rankadapters.core.declaration.arguments import flag
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, LabelsWarning, warn_caller
from rankadapters.core.evaluation.score import Score, Scores, ScoresOfModels
from rankadapters.core.evaluation.threads import as_n_threads
from rankadapters.io.cut_queries import whole_queries
from rankadapters.io.stream_batches import stream_rows
from rankadapters.io.stream_rows import StreamColumns, StreamRows, require_one_type
from rankadapters.io.stream_sums import StreamSums, Values, require_mergeable
from rankadapters.io.text import Name
from rankadapters.presets.texts import as_conventions
from rankadapters.progress import shows
from rankadapters.segments.assignment import segments_by_id
from rankadapters.segments.segments import Segments


@overload
def evaluate_stream(  # type: ignore[overload-overlap]  # a text is one convention, or one column
    batches: object, convention: Convention | str, *, label: Name = ..., score: Name = ..., qid: Name = ...,
    query_weight: Name | None = ..., row_weight: Name | None = ..., docid: Name | None = ..., unsorted: bool = ...,
    n_threads: int | None = ...,
) -> Score: ...  # fmt: skip
@overload
def evaluate_stream(  # type: ignore[overload-overlap]  # a text is one convention, or one column
    batches: object, convention: Convention | str, *, label: Name = ..., score: Sequence[Name], qid: Name = ...,
    query_weight: Name | None = ..., row_weight: Name | None = ..., docid: Name | None = ..., unsorted: bool = ...,
    n_threads: int | None = ...,
) -> ScoresOfModels: ...  # fmt: skip
@overload
def evaluate_stream(  # type: ignore[overload-overlap]  # a text is one convention, or one column
    batches: object, convention: Iterable[Convention | str], *, label: Name = ..., score: Name = ..., qid: Name = ...,
    query_weight: Name | None = ..., row_weight: Name | None = ..., docid: Name | None = ..., unsorted: bool = ...,
    n_threads: int | None = ...,
) -> Scores[Score]: ...  # fmt: skip
@overload
def evaluate_stream(
    batches: object, convention: Iterable[Convention | str], *, label: Name = ..., score: Sequence[Name],
    qid: Name = ..., query_weight: Name | None = ..., row_weight: Name | None = ..., docid: Name | None = ...,
    unsorted: bool = ..., n_threads: int | None = ...,
) -> Scores[ScoresOfModels]: ...  # fmt: skip
@overload
def evaluate_stream(
    batches: object, convention: Convention | str | Iterable[Convention | str], *, label: Name = ...,
    score: Name | Sequence[Name] = ..., qid: Name = ..., query_weight: Name | None = ..., row_weight: Name | None = ...,
    docid: Name | None = ..., by: Name | Mapping[Any, Any], unsorted: bool = ..., n_threads: int | None = ...,
) -> Segments[Any]: ...  # fmt: skip
@shows("evaluating")
def evaluate_stream(
    batches: object,
    convention: Convention | str | Iterable[Convention | str],
    *,
    label: Name = "label",
    score: Name | Sequence[Name] = "score",
    qid: Name = "qid",
    query_weight: Name | None = None,
    row_weight: Name | None = None,
    docid: Name | None = None,
    by: Name | Mapping[Any, Any] | None = None,
    unsorted: bool = False,
    n_threads: int | None = None,
) -> Any:
    r"""Evaluate batches that may end within a query, with the exact values of `ra.evaluate`, in bounded memory.

    Parameters
    ----------
    batches : table or batches
        A path or paths of CSV or Parquet files, a frame of pandas or polars, a pyarrow Table, Dataset or `ParquetFile`,
        a mapping of columns, `ra.io.stream_letor(...)`, or an iterable of batches: each a pyarrow RecordBatch or Table,
        a frame, a mapping or tuple of arrays, or a structured array, which may be empty. The rows of a query must be
        consecutive, in any number of batches.
    convention : Convention or str, or iterable of these
        The conventions to compute, with `pool="queries"` or `"pairs"` where the measure has a choice.
    label, qid : str
        Columns of labels and of queries; their indices in a tuple. A stream of LETOR files has no names.
    score : str, or sequence of str
        Column of scores, or one column per model.
    query_weight : str, optional
        Column of query weights, equal within a query.
    row_weight : str, optional
        Column of row weights, for measures with `average="row"`.
    docid : str, optional
        Column of document ids, unique within a query, for conventions that break ties by them.
    by : str or mapping, optional
        Column with the segment of each row, the same on all rows of a query; or a mapping from query ids to segments
        that has every query.
    unsorted : bool
        Whether the rows of a query may be anywhere. DuckDB sorts them first, on disk if memory is too small; the rows
        of a query keep their order.
    n_threads : int, optional
        None takes all CPUs; the result is the same for any number.

    Returns
    -------
    Score, mapping, or Segments
        For several conventions a mapping of Convention to Score, as `ra.evaluate` returns; for several columns of
        scores a dict of their names to Score, or a mapping of Convention to such dicts. With `by`, such a result for
        each segment and for all queries.

    Raises
    ------
    InputError
        As `ra.evaluate`, or a query returns after other queries, which a hash of 8 bytes per query detects. The message
        names file and line or row, or the batch and its row.
    UnsupportedConventionError
        A convention takes all rows as one query (`pool="rows"`), which batches cannot add up to.
    MissingToolkitError
        pyarrow, or DuckDB for `unsorted`, is not installed.

    Warns
    -----
    LabelsWarning
        As `ra.evaluate`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> batches = [
    ...     {"label": [2, 0], "score": [0.9, 0.1], "qid": ["a", "a"]},
    ...     {"label": [1, 1, 0], "score": [0.5, 0.2, 0.8], "qid": ["a", "b", "b"]},
    ... ]
    >>> scores = ra.evaluate_stream(batches, ["yahoo@2", "letor4@1"])
    >>> [(score.value, score.n_queries) for score in scores.values()]
    [(0.8154648767857288, 2), (0.5, 2)]
    >>> whole = ra.evaluate([2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.2, 0.8], "yahoo@2", qid=list("aaabb"))
    >>> whole.value, whole - ra.evaluate_stream(batches, "yahoo@2")
    (0.8154648767857288, 0.0)
    """
    one_model = isinstance(score, (str, int))
    one_convention = isinstance(convention, (Convention, str))
    conventions = as_conventions([convention] if one_convention else convention)
    segment_by_id = segments_by_id(by) if isinstance(by, Mapping) else None
    by_column = None if isinstance(by, Mapping) else by
    columns = StreamColumns(label, _models(score), qid, query_weight, row_weight, docid, by_column).checked()
    sums, _ = sum_stream(
        batches, conventions, columns, segment_by_id=segment_by_id, unsorted=unsorted, n_threads=n_threads
    )
    for message in sums.label_doubts.values():
        warn_caller(message, LabelsWarning)
    outcomes = {name: sums.outcomes(name) for name in columns.scores}
    segments: Segments[Any] = Segments(conventions, outcomes, is_one=one_convention, one_model=one_model)
    return segments.all if by is None else segments


def sum_stream(
    batches: object,
    conventions: list[Convention],
    columns: StreamColumns,
    *,
    segment_by_id: Mapping[Any, Any] | None = None,
    unsorted: bool = False,
    per_query: bool = False,
    n_threads: int | None = None,
) -> tuple[StreamSums, list[tuple[Array, Values]]]:
    """Evaluate a stream to its end; with `per_query`, also return ids and values of the queries, part by part."""
    require_mergeable(conventions)
    unsorted = flag("unsorted", unsorted)
    as_n_threads(n_threads)
    sums = StreamSums(
        conventions, columns, lambda query: locate_query(batches, columns, query), n_threads, segment_by_id
    )
    query_values = []
    with closing(grouped_rows(batches, columns, unsorted=unsorted)) as parts:  # closing deletes temporary files
        for rows in whole_queries(parts):
            part_values = sums.add(rows, per_query=per_query)
            if per_query:
                query_values.append(part_values)
    return sums, query_values


def grouped_rows(batches: object, columns: StreamColumns, *, unsorted: bool) -> Generator[StreamRows]:
    """Read a stream; sort its rows by query if they are unsorted."""
    rows = require_one_type(stream_rows(batches, columns))
    if not unsorted:
        return rows
    from rankadapters.io.sorting import sorted_by_query

    return sorted_by_query(rows)


def locate_query(batches: object, columns: StreamColumns, query: np.uint64) -> str | None:
    """Return where the query with this hash began; None if the batches cannot be read a second time."""
    if isinstance(batches, Iterator):
        return None
    for rows in stream_rows(batches, columns):
        runs = np.flatnonzero(hash_ids(rows.ids) == query)
        if runs.size:
            return rows.locate(int(rows.starts[runs[0]]))
    return None


def _models(score: Name | Sequence[Name]) -> tuple[Name, ...]:
    names = (score,) if isinstance(score, str) or not isinstance(score, Sequence) else tuple(score)
    if not names or any(names.count(name) > 1 for name in names):
        msg = f"score={score!r:.60} does not name each model's column once.\nHint: a name, or a list of names."
        raise InputError(msg)
    return names
