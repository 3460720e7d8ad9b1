"""Evaluate all rows of a Spark DataFrame; results are bit for bit the same as in one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar, Unpack, overload

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.functions import col
from pyspark.sql.types import DoubleType, StructField, StructType

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.score import Score, Scores
from rankadapters.core.evaluation.tally import Ids
from rankadapters.partitions import evaluation as shared
from rankadapters.partitions.evaluation import PerQuery
from rankadapters.partitions.jobs import Columns, Job, values_of_partition
from rankadapters.partitions.request import FrameKeywords, FrameRequest, SegmentKeywords, frame_function
from rankadapters.segments.segments import Segments
from rankadapters.spark import messages

BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
MIN_BATCH_ROWS = 100_000

T = TypeVar("T")
Conventions = Iterable[Convention | str]


@overload
def evaluate(df: DataFrame, convention: Convention | str, **kwargs: Unpack[FrameKeywords]) -> Score: ...
@overload
def evaluate(df: DataFrame, convention: Conventions, **kwargs: Unpack[FrameKeywords]) -> Scores[Score]: ...
@overload
def evaluate(
    df: DataFrame, convention: Convention | str | Conventions, **kwargs: Unpack[SegmentKeywords]
) -> Segments[Any]: ...
@frame_function
def evaluate(df: DataFrame, convention: Convention | str | Conventions, **kwargs: Any) -> Any:
    """Evaluate predictions in a Spark DataFrame; the result equals that of `ra.evaluate` on all rows, bit for bit.

    Executors rank their own partitions by `mapInArrow`, so they need this package, and return exact sums. During the
    call, the session's `spark.sql.execution.arrow.maxRecordsPerBatch` is raised to at least 100,000, which halves the
    time. Queries are whole after `repartition(qid)`, `orderBy(qid)` or a window over qid.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        One row per document.
    convention : Convention or str, or iterable of them
        The conventions to compute; all of them share one pass and one ranking.
    {KEYWORDS}

    Returns
    -------
    {RETURNS}

    Raises
    ------
    {RAISES}

    Examples
    --------
    >>> columns = {"label": "grade", "score": "prediction", "qid": "query"}
    >>> evaluate(df, "letor4@10", **columns, order="position", partitions="shuffle")  # doctest: +SKIP
    Score(0.4832, 'letor4@10', n_queries=784, n_scored=784, n_empty=0, n_short=0)
    """
    request = _request(df, convention, **kwargs)
    return shared.evaluate(_SparkPartitions(df, request), request)


@frame_function
def per_query(df: DataFrame, convention: Convention | str | Conventions, **kwargs: Unpack[FrameKeywords]) -> DataFrame:
    """Return the value of each query as a lazy Spark DataFrame; the partitions are checked immediately.

    Spark may partition `df` differently each time it is computed, for example by adaptive execution after a sort.
    Unless `partitions="shuffle"`, the executors therefore keep the checked columns (`localCheckpoint`) until the
    returned frame is gone, and compute the values from them. If an executor that keeps some is lost, Spark fails.

    Parameters
    ----------
    df, convention, label, score, qid, partitions, query_weight, row_weight, docid, order, ids_up_to
        As in `evaluate`.

    Returns
    -------
    pyspark.sql.DataFrame
        One row per query: `qid`, and a column named `convention.name` for each convention (put it in backticks in
        SQL); NaN if a query is skipped.

    Raises
    ------
    InputError, UnsupportedConventionError
        As in `evaluate`. Spark wraps an error that occurs only when the values are computed.
    """
    request = _request(df, convention, **kwargs).without_repeats()
    partitions = _SparkPartitions(df, request)
    partitions.checkpoint()
    cut = shared.per_query(partitions, request)
    columns = [StructField(convention.name, DoubleType(), nullable=True) for convention in request.conventions]
    schema = StructType([df.schema[request.columns["qid"]], *columns])
    whole = partitions.df.mapInArrow(partial(_values, request, schema.names), schema)
    if cut is None:
        return whole
    return whole.union(df.sparkSession.createDataFrame(_rows(cut), schema))


def _request(df: Any, convention: Any, **kwargs: Unpack[FrameKeywords]) -> FrameRequest:
    if not isinstance(df, DataFrame):
        msg = f"df is a {type(df).__name__}, but a pyspark.sql.DataFrame is needed."
        raise InputError(f"{msg}\nHint: spark.createDataFrame(df), or ra.evaluate.")
    return FrameRequest.of(convention, df.columns, **kwargs)


class _SparkPartitions:
    """The partitions of a Spark DataFrame; `mapInArrow` runs the jobs."""

    def __init__(self, df: DataFrame, request: FrameRequest) -> None:
        self.request = request
        # Columns are renamed to their roles, since mapInArrow does not find a column whose name has a dot.
        self.df = df.select(*(_column(name).alias(role) for role, name in request.columns.items()))
        if request.partitions == "shuffle":
            self.df = self.df.repartition("qid")

    def checkpoint(self) -> None:
        """Fix the partitions, so that later passes see the same ones; after a shuffle by qid they do not change."""
        if self.request.partitions != "shuffle":
            self.df = self.df.localCheckpoint(eager=False)

    def gather(self, job: Job[T], wants_ids: Callable[[Sequence[T]], bool]) -> tuple[list[T], list[Ids]]:
        """Run the job on each partition; fetch the ids from the executors only if `wants_ids(results)` is true."""
        with _large_batches(self.df.sparkSession.conf):
            rows = self.df.mapInArrow(partial(_run, job), messages.SCHEMA).persist()
            try:
                results = [messages.read(self.request, row) for row in rows.drop("ids").collect()]
                if not wants_ids(results):
                    return results, []
                return results, [np.frombuffer(row.ids, np.uint64) for row in rows.select("ids").collect()]
            finally:
                rows.unpersist()


@contextmanager
def _large_batches(conf: Any) -> Iterator[None]:
    """Raise the number of rows per batch; Spark's default of 10,000 takes twice as long."""
    user_value = conf.get(BATCH_ROWS)
    if 0 < int(user_value) < MIN_BATCH_ROWS:
        conf.set(BATCH_ROWS, MIN_BATCH_ROWS)
    try:
        yield
    finally:
        conf.set(BATCH_ROWS, user_value)


def _column(name: str) -> Any:
    return col("`" + name.replace("`", "``") + "`")


def _run(job: Job[Any], batches: Iterable[Any]) -> Iterator[Any]:
    columns = _columns(batches)
    if columns is not None:
        yield messages.write(*job(columns, TaskContext.get().partitionId()))


def _values(request: FrameRequest, names: list[str], batches: Iterable[Any]) -> Iterator[Any]:
    columns = _columns(batches)
    if columns is not None:
        query_ids, values = values_of_partition(request, columns)
        ids = pa.array(query_ids.tolist(), columns["qid"].type)
        yield pa.RecordBatch.from_arrays([ids, *map(pa.array, values)], names=names)


def _columns(batches: Iterable[Any]) -> Columns | None:
    """Return the columns of a partition; None if it has no rows."""
    with_rows = [batch for batch in batches if batch.num_rows]
    if not with_rows:
        return None
    table = pa.Table.from_batches(with_rows)
    return dict(zip(table.column_names, table.columns, strict=True))


def _rows(cut: PerQuery) -> list[tuple[Any, ...]]:
    return list(zip(cut.query_ids.tolist(), *(values.tolist() for values in cut.values), strict=True))
