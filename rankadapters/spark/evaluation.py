"""Run jobs on the partitions of a Spark DataFrame."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.functions import col
from pyspark.sql.types import BooleanType, DoubleType, LongType, StringType, StructField, StructType

from rankadapters.partitions import Columns, Frame, FrameRequest, Job, Values

T = TypeVar("T")

TYPES = {str: StringType(), float: DoubleType(), int: LongType(), bool: BooleanType()}


class SparkFrame(Frame):
    """A Spark DataFrame; `mapInArrow` runs the jobs."""

    engine_type = DataFrame
    type_name = "pyspark.sql.DataFrame"
    hint = "spark.createDataFrame(df)"

    def __init__(self, df: DataFrame, request: FrameRequest) -> None:
        self.request = request
        # Columns are renamed to their roles, since mapInArrow does not find a column whose name has a dot.
        self.df = df.select(*(_column(name).alias(role) for role, name in request.names.by_role.items()))
        if request.partitions == "shuffle":
            self.df = self.df.repartition("qid")

    def fix(self) -> None:
        """Let the executors keep the columns, because Spark may partition the rows differently in each job."""
        self.df = self.df.localCheckpoint(eager=False)

    def run(self, job: Job[T]) -> list[T]:
        """Run the job on each partition that has rows."""
        rows = self.df.mapInArrow(partial(_run, job), "result binary").collect()
        return [pickle.loads(row.result) for row in rows]  # noqa: S301 - the executors run our pickled code, too

    def values(self, function: Callable[[Columns], Values]) -> DataFrame:
        """Map the partitions to tables of queries and values."""
        kept = {name: self.df.schema[role].dataType for name, role in self.request.kept.items()}
        types = {"qid": None, **{name: TYPES[kind] for name, kind in self.request.value_types.items()}, **kept}
        schema = StructType([StructField(name, kind) for name, kind in types.items()])
        return self.df.mapInArrow(partial(_values, function, self.request.kept), schema)


def _column(name: str) -> Any:
    return col("`" + name.replace("`", "``") + "`")


def _run(job: Job[Any], batches: Iterable[Any]) -> Iterator[Any]:
    for columns in _columns(batches):
        result = job(columns, TaskContext.get().partitionId())
        yield pa.RecordBatch.from_pydict({"result": pa.array([pickle.dumps(result)], pa.binary())})


def _values(function: Callable[[Columns], Values], kept: dict[str, str], batches: Iterable[Any]) -> Iterator[Any]:
    for columns in _columns(batches):
        rows, values = function(columns)
        same = {name: columns[role].take(pa.array(rows)).combine_chunks() for name, role in kept.items()}
        yield pa.RecordBatch.from_pydict({"qid": None, **values, **same})


def _columns(batches: Iterable[Any]) -> Iterator[Columns]:
    """Yield the columns of a partition, unless it has no rows."""
    with_rows = [batch for batch in batches if batch.num_rows]
    if with_rows:
        table = pa.Table.from_batches(with_rows)
        yield dict(zip(table.column_names, table.columns, strict=True))
