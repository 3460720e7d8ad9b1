"""Dask beside one process, and Spark beside its own SQL windows and RankingMetrics, on two workers of this machine."""

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
from rankadapters.core.kernels.dispatch import NOW, SETTING

CONVENTION = ra.presets.textbook(10)
COLUMNS = {"label": "label", "score": "score", "qid": "qid"}
DASK_QUERIES, SPARK_QUERIES = 192_000, 57_500  # of 104 rows in the mean: 20 and 6 million rows
ROW_GROUP = 1_000_000
SPARK_ROUNDS = 6  # since the JVM compiles for several
SPARK_FILES = 8
SPARK = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def run(rounds: int) -> None:
    os.environ[SETTING] = NOW  # in workers too, as in all other parts
    with tempfile.TemporaryDirectory() as name:
        for engine in (dask, spark):
            try:
                engine(Path(name), min(rounds, 5))
            except ImportError as error:
                print(f"\n{error}")


def dask(folder: Path, rounds: int) -> None:
    """Sorted rows in row groups that cut queries, read, evaluated and merged; and the same shuffled."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    data = make(DASK_QUERIES)
    file = written(data, folder / "sorted.parquet")
    one = one_process(data)
    df = dd.read_parquet(file, split_row_groups=1)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        calls = {"one process, in memory": lambda _: one()}
        for partitions in ("sorted", "shuffle"):
            calls[f"Dask, {partitions}, from Parquet"] = evaluated(ra.dask.evaluate, df, partitions, one())
        found = medians(calls, rounds)
    tell(f"Dask, two workers, {data.labels.size:,} rows", found, data.labels.size, "one process, in memory")
    report("Dask beside one process", found, "one process, in memory", most={"Dask, sorted, from Parquet": 3})


def spark(folder: Path, _: int) -> None:
    """Whole queries beside windows of SQL and MLlib's RankingMetrics: from files, and from a frame that Spark holds.

    Each file holds whole queries, which Spark cannot know, so that its own ways move the rows. Those that it has
    brought together by qid and holds in memory it moves no more.
    """
    data = make(SPARK_QUERIES)
    expected, n_rows = one_process(data)(), data.labels.size
    with session() as spark:
        files = spark.read.parquet(str(written_whole(data, folder / "spark")))
        held = files.repartition(2, "qid").cache()
        held.count()
        for name, df in (("files", files), ("held by qid", held)):
            beside_spark(f"Spark, {name}, {n_rows:,} rows", df, expected, n_rows)
        shuffled = {"rankadapters, shuffle": evaluated(ra.spark.evaluate, files, "shuffle", expected)}
        tell("Spark, shuffle", medians(shuffled, SPARK_ROUNDS), n_rows, *shuffled)


def beside_spark(title: str, df: Any, expected: ra.Score, n_rows: int) -> None:
    ours = "rankadapters, whole queries"
    calls = {
        ours: evaluated(ra.spark.evaluate, df, "whole", expected),
        "mapInArrow, which only counts the rows": lambda _: counted(df),
        "SQL windows": lambda _: windows(df),
        "RankingMetrics.ndcgAt": lambda _: ranking_metrics(df),
    }
    found = medians(calls, SPARK_ROUNDS)
    tell(f"{title}, local[2]", found, n_rows, ours)
    report(title, found, ours, {"SQL windows": 2, "RankingMetrics.ndcgAt": 10})


def one_process(data: Data) -> Callable[[], ra.Score]:
    labels, scores, qid = data.labels.astype(np.float32), data.scores.astype(np.float32), data.qid
    return lambda: ra.evaluate(labels, scores, CONVENTION, qid=qid)


def evaluated(evaluate: Any, df: Any, partitions: str, expected: ra.Score) -> Callable[[int], None]:
    def call(_: int) -> None:
        found = evaluate(df, CONVENTION, **COLUMNS, partitions=partitions)
        if found.to_dict() != expected.to_dict():
            raise AssertionError(found)

    return call


def counted(df: Any) -> int:
    """What Spark takes to hand its rows over, which no function in `mapInArrow` can do without."""

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        yield pa.RecordBatch.from_pydict({"n": [sum(batch.num_rows for batch in batches)]})

    rows = df.select(*COLUMNS.values()).mapInArrow(count, "n long").collect()
    return sum(row.n for row in rows)


def windows(df: Any) -> float:
    """NDCG@10 by windows over each query, which break ties by luck."""
    from pyspark.sql import Window
    from pyspark.sql import functions as to

    def dcg(rank: Any) -> Any:
        return to.sum(to.when(rank <= 10, (to.pow(2.0, df.label) - 1) / to.log2(rank + 1)).otherwise(0))

    by = Window.partitionBy("qid")
    ranks = {"rank": to.row_number().over(by.orderBy(df.score.desc()))}
    ranks["best"] = to.row_number().over(by.orderBy(df.label.desc()))
    each = (
        df.withColumns(ranks).groupBy("qid").agg(to.try_divide(dcg(to.col("rank")), dcg(to.col("best"))).alias("value"))
    )
    [[value]] = each.agg(to.avg(to.coalesce("value", to.lit(0.0)))).collect()
    return float(value)


def ranking_metrics(df: Any) -> float:
    """MLlib's NDCG@10, which Python can give no grades: of lists of documents by score, and of the relevant ones."""
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


def written(data: Data, file: Path) -> Path:
    """One file, whose row groups cut queries."""
    from pyarrow import parquet

    parquet.write_table(table(data), file, row_group_size=ROW_GROUP)
    return file


def written_whole(data: Data, folder: Path) -> Path:
    """Files that cut no query."""
    from pyarrow import parquet

    folder.mkdir()
    ends = np.cumsum([0, *(part.sum() for part in np.array_split(data.sizes, SPARK_FILES))]).tolist()
    for number, (first, last) in enumerate(pairwise(ends)):
        parquet.write_table(table(data).slice(first, last - first), folder / f"{number}.parquet")
    return folder


@contextmanager
def session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    found = SparkSession.builder.master("local[2]").config(map=SPARK).getOrCreate()
    try:
        yield found
    finally:
        found.stop()


def tell(title: str, found: dict[str, float], n_rows: int, ours: str) -> None:
    print(f"\n{title}: nanoseconds a row")
    for name, seconds in found.items():
        print(f"  {name:48s} {seconds / n_rows * 1e9:10.0f} {seconds / found[ours]:8.2f}x")
