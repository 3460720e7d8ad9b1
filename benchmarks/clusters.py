"""Compare Dask with one process, and Spark with its own SQL windows and RankingMetrics, on two local workers."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import rankadapters as ra
from benchmarks.data import Data, make
from benchmarks.timing import medians, report

CONVENTION = ra.presets.textbook(10)
COLUMNS = {"label": "label", "score": "score", "qid": "qid"}
DASK_QUERIES, SPARK_QUERIES = 192_000, 57_500  # 104 rows on average: 20 and 6 million rows
ROW_GROUP = 1_000_000
SPARK_ROUNDS = 6  # the JVM compiles during the first rounds
FILES = 8
SPARK = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",  # as docs/scale.md recommends
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def run(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        for engine in (dask, spark):
            try:
                engine(Path(name), min(rounds, 5))
            except ImportError as error:
                print(f"\n{error}")


def dask(folder: Path, rounds: int) -> None:
    """Time Dask on files of whole queries, and on one file whose row groups cut queries, which it shuffles."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    data = make(DASK_QUERIES)
    file = write_file(data, folder / "sorted.parquet")
    one = one_process(data)
    whole = dd.read_parquet(str(write_whole_queries(data, folder / "dask")), split_row_groups=False)
    cut = dd.read_parquet(file, split_row_groups=1)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        calls: dict[str, Callable[[int], Any]] = {"one process, in memory": lambda _: one()}
        for partitions, df in (("whole", whole), ("shuffle", cut)):
            calls[f"Dask, {partitions}, from Parquet"] = checked_call(ra.dask.evaluate, df, partitions, one())
        seconds = medians(calls, rounds)
    print_per_row(f"Dask, two workers, {data.labels.size:,} rows", seconds, data.labels.size, "one process, in memory")
    report("Dask beside one process", seconds, "one process, in memory", most={"Dask, whole, from Parquet": 3})


def spark(folder: Path, _: int) -> None:
    """Compare `partitions="whole"` with SQL windows and MLlib's RankingMetrics, from files and from a cached DataFrame.

    Each file has whole queries, but Spark does not know that, so its own methods shuffle the rows. The cached DataFrame
    is already partitioned by qid, so no method shuffles it.
    """
    data = make(SPARK_QUERIES)
    expected, n_rows = one_process(data)(), data.labels.size
    with session() as spark:
        files = spark.read.parquet(str(write_whole_queries(data, folder / "spark")))
        cached = files.repartition(2, "qid").cache()
        cached.count()
        for name, df in (("files", files), ("cached by qid", cached)):
            compare_with_spark(f"Spark, {name}, {n_rows:,} rows", df, expected, n_rows)
        shuffled = {"rankadapters, shuffle": checked_call(ra.spark.evaluate, files, "shuffle", expected)}
        print_per_row("Spark, shuffle", medians(shuffled, SPARK_ROUNDS), n_rows, *shuffled)


def compare_with_spark(title: str, df: Any, expected: ra.Score, n_rows: int) -> None:
    baseline = "rankadapters, whole queries"
    calls = {
        baseline: checked_call(ra.spark.evaluate, df, "whole", expected),
        "mapInArrow, which only counts the rows": lambda _: count_rows(df),
        "SQL windows": lambda _: windows(df),
        "RankingMetrics.ndcgAt": lambda _: ranking_metrics(df),
    }
    seconds = medians(calls, SPARK_ROUNDS)
    print_per_row(f"{title}, local[2]", seconds, n_rows, baseline)
    report(title, seconds, baseline, {"SQL windows": 2, "RankingMetrics.ndcgAt": 10})


def one_process(data: Data) -> Callable[[], ra.Score]:
    labels, scores, qid = data.labels.astype(np.float32), data.scores.astype(np.float32), data.qid
    return lambda: ra.evaluate(labels, scores, CONVENTION, qid=qid)


def checked_call(evaluate: Any, df: Any, partitions: str, expected: ra.Score) -> Callable[[int], None]:
    def call(_: int) -> None:
        score = evaluate(df, CONVENTION, **COLUMNS, partitions=partitions)
        if score.to_dict() != expected.to_dict():
            raise AssertionError(score)

    return call


def count_rows(df: Any) -> int:
    """Count the rows with `mapInArrow`: the time that Spark needs to pass its rows to any Python function."""

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        yield pa.RecordBatch.from_pydict({"n": [sum(batch.num_rows for batch in batches)]})

    rows = df.select(*COLUMNS.values()).mapInArrow(count, "n long").collect()
    return sum(row.n for row in rows)


def windows(df: Any) -> float:
    """Compute NDCG@10 by SQL windows over each query, with ties in arbitrary order."""
    from pyspark.sql import Window
    from pyspark.sql import functions as to

    def dcg(rank: Any) -> Any:
        return to.sum(to.when(rank <= 10, (to.pow(2.0, df.label) - 1) / to.log2(rank + 1)).otherwise(0))

    by = Window.partitionBy("qid")
    ranks = {"rank": to.row_number().over(by.orderBy(df.score.desc()))}
    ranks["best"] = to.row_number().over(by.orderBy(df.label.desc()))
    by_query = (
        df.withColumns(ranks).groupBy("qid").agg(to.try_divide(dcg(to.col("rank")), dcg(to.col("best"))).alias("value"))
    )
    [[value]] = by_query.agg(to.avg(to.coalesce("value", to.lit(0.0)))).collect()
    return float(value)


def ranking_metrics(df: Any) -> float:
    """Compute MLlib's NDCG@10 from documents sorted by score and the relevant ones; its Python API takes no grades."""
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import functions as to

    documents = df.withColumn("document", to.monotonically_increasing_id())
    lists = documents.groupBy("qid").agg(
        to.expr("transform(sort_array(collect_list(struct(-score, document))), x -> x.document)"),
        to.expr("collect_list(document) filter (where label > 0)"),
    )
    return float(RankingMetrics(lists.drop("qid").rdd.map(tuple)).ndcgAt(10))


def table(data: Data) -> Any:
    import pyarrow as pa

    return pa.table({"qid": data.qid, "label": data.labels.astype(np.float32), "score": data.scores.astype(np.float32)})


def write_file(data: Data, file: Path) -> Path:
    """Write one file whose row groups cut queries."""
    from pyarrow import parquet

    parquet.write_table(table(data), file, row_group_size=ROW_GROUP)
    return file


def write_whole_queries(data: Data, folder: Path) -> Path:
    """Write files that cut no query."""
    from pyarrow import parquet

    folder.mkdir()
    ends = np.cumsum([0, *(part.sum() for part in np.array_split(data.sizes, FILES))]).tolist()
    for number, (first, last) in enumerate(pairwise(ends)):
        parquet.write_table(table(data).slice(first, last - first), folder / f"{number}.parquet")
    return folder


@contextmanager
def session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    spark = SparkSession.builder.master("local[2]").config(map=SPARK).getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def print_per_row(title: str, seconds_by_name: dict[str, float], n_rows: int, baseline: str) -> None:
    print(f"\n{title}: nanoseconds per row")
    for name, seconds in seconds_by_name.items():
        print(f"  {name:48s} {seconds / n_rows * 1e9:10.0f} {seconds / seconds_by_name[baseline]:8.2f}x")
