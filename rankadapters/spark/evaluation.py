"""The value of all rows of a Spark DataFrame, the same bits as of one process."""

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

from rankadapters.core.data.disjoint import Ids
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.score import Score
from rankadapters.core.evaluation.scores import Scores
from rankadapters.partitions import evaluation as shared
from rankadapters.partitions.asked import Asked, FrameKeywords, SegmentKeywords, frame_function
from rankadapters.partitions.evaluation import PerQuery
from rankadapters.partitions.jobs import Columns, values
from rankadapters.segments.segments import Segments
from rankadapters.spark import messages

BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
AT_LEAST = 100_000

T = TypeVar("T")
Conventions = Iterable[Convention | str]


@overload
def evaluate(df: DataFrame, convention: Convention | str, **asked: Unpack[FrameKeywords]) -> Score: ...
@overload
def evaluate(df: DataFrame, convention: Conventions, **asked: Unpack[FrameKeywords]) -> Scores[Score]: ...
@overload
def evaluate(
    df: DataFrame, convention: Convention | str | Conventions, **asked: Unpack[SegmentKeywords]
) -> Segments[Any]: ...
@frame_function
def evaluate(df: DataFrame, convention: Convention | str | Conventions, **asked: Any) -> Any:
    """Evaluate predictions in a Spark DataFrame: the same bits, counts and digest as `ra.evaluate` on all rows.

    Each partition is ranked where it is, by `mapInArrow`, so that executors need this package; exact sums travel. For
    the call the session's `spark.sql.execution.arrow.maxRecordsPerBatch` is at least 100,000, in half the time. Queries
    are whole after `repartition(qid)`, `orderBy(qid)` or a window over qid.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        A row per document.
    convention : Convention or str, or iterable of them
        What to compute; several share one pass and one ranking.
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
    question = _asked(df, convention, **asked)
    return shared.evaluate(_Partitions(df, question), question)


@frame_function
def per_query(df: DataFrame, convention: Convention | str | Conventions, **asked: Unpack[FrameKeywords]) -> DataFrame:
    """Value of each query, as a Spark DataFrame; that no query is cut is checked at once, the values are lazy.

    Spark may divide the rows of `df` otherwise each time it computes them, as adaptive execution does after a sort.
    Unless `partitions="shuffle"`, the executors therefore keep the columns that were checked (`localCheckpoint`), and
    the values come from these rows; they are let go with the frame. If an executor is lost with them, Spark fails.

    Parameters
    ----------
    df, convention, label, score, qid, partitions, query_weight, row_weight, docid, order, ids_up_to
        As in `evaluate`.

    Returns
    -------
    pyspark.sql.DataFrame
        A row per query: `qid`, and a column for each convention by its `name`, which stands in backticks in SQL; NaN
        where a query is skipped.

    Raises
    ------
    InputError, UnsupportedConventionError
        As in `evaluate`; what a partition refuses only when its values are computed, Spark then wraps.
    """
    question = _asked(df, convention, **asked).with_each_name_once()
    several = _Partitions(df, question)
    several.fix()
    cut = shared.per_query(several, question)
    columns = [StructField(each.name, DoubleType(), nullable=True) for each in question.conventions]
    schema = StructType([df.schema[question.columns["qid"]], *columns])
    found = several.df.mapInArrow(partial(_values, question, schema.names), schema)
    if cut is None:
        return found
    return found.union(df.sparkSession.createDataFrame(_rows(cut), schema))


def _asked(df: Any, convention: Any, **asked: Unpack[FrameKeywords]) -> Asked:
    if not isinstance(df, DataFrame):
        msg = f"df is a {type(df).__name__}, but a pyspark.sql.DataFrame is needed."
        raise InputError(f"{msg}\nHint: spark.createDataFrame(df), or ra.evaluate.")
    return Asked.of(convention, df.columns, **asked)


class _Partitions:
    """Partitions of a Spark DataFrame, a call of `mapInArrow` each."""

    def __init__(self, df: DataFrame, asked: Asked) -> None:
        self.asked = asked
        # By our own names, since mapInArrow does not find a column whose name has a dot.
        self.df = df.select(*(_column(name).alias(what) for what, name in asked.columns.items()))
        if asked.partitions == "shuffle":
            self.df = self.df.repartition("qid")

    def fix(self) -> None:
        """Have every later pass see the partitions of the first one; a shuffle keeps queries whole in any case."""
        if self.asked.partitions != "shuffle":
            self.df = self.df.localCheckpoint(eager=False)

    def gather(
        self, job: Callable[[Columns, int], tuple[T, Ids]], wants_ids: Callable[[Sequence[T]], bool]
    ) -> tuple[list[T], list[Ids]]:
        """Run the job in every partition; the ids stay at the executors unless they are wanted."""
        with _large_batches(self.df.sparkSession.conf):
            held = self.df.mapInArrow(partial(_run, job, self.asked), messages.SCHEMA).persist()
            try:
                given = [messages.read(self.asked, row) for row in held.drop("ids").collect()]
                if not wants_ids(given):
                    return given, []
                return given, [np.frombuffer(row.ids, np.uint64) for row in held.select("ids").collect()]
            finally:
                held.unpersist()


@contextmanager
def _large_batches(conf: Any) -> Iterator[None]:
    """Let Spark hand over more rows at a time than its 10,000, which takes twice as long."""
    before = conf.get(BATCH_ROWS)
    if 0 < int(before) < AT_LEAST:
        conf.set(BATCH_ROWS, AT_LEAST)
    try:
        yield
    finally:
        conf.set(BATCH_ROWS, before)


def _column(name: str) -> Any:
    return col("`" + name.replace("`", "``") + "`")


def _run(job: Callable[[Columns, int], tuple[Any, Ids]], asked: Asked, batches: Iterable[Any]) -> Iterator[Any]:
    columns = _columns(batches)
    if columns is not None:
        yield messages.write(asked, *job(columns, TaskContext.get().partitionId()))


def _values(asked: Asked, names: list[str], batches: Iterable[Any]) -> Iterator[Any]:
    columns = _columns(batches)
    if columns is not None:
        query_ids, of_queries = values(asked, columns)
        ids = pa.array(query_ids.tolist(), columns["qid"].type)
        yield pa.RecordBatch.from_arrays([ids, *map(pa.array, of_queries)], names=names)


def _columns(batches: Iterable[Any]) -> Columns | None:
    """All rows of a partition; None where there are none."""
    several = [batch for batch in batches if batch.num_rows]
    if not several:
        return None
    table = pa.Table.from_batches(several)
    return dict(zip(table.column_names, table.columns, strict=True))


def _rows(cut: PerQuery) -> list[tuple[Any, ...]]:
    return list(zip(cut.query_ids.tolist(), *(values.tolist() for values in cut.values), strict=True))
