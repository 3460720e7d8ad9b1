"""Evaluate a Spark DataFrame; the value is bit for bit the same as in one process. Needs a Java runtime.

    python examples/scale/spark_evaluate.py [--queries 2000]

First the rows are in any partition, so Spark shuffles them; then each query is in one partition, and no row moves.
"""

import argparse
import os
import sys
import warnings

import numpy as np
from pyspark.sql import SparkSession

import rankadapters as ra

CONVENTION = ra.parse("textbook@10")
COLUMNS = {"label": "grade", "score": "model", "qid": "query"}
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def rows(n_queries):
    """Return queries of 1 to 49 rows, whose scores correlate with their grades."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(n_queries), rng.integers(1, 50, n_queries))
    grade = rng.choice(5, query.size, p=[0.5, 0.3, 0.13, 0.05, 0.02])
    model = (grade + 2 * rng.standard_normal(query.size)).round(1)
    return {"query": query, "grade": grade, "model": model}


def run(spark, n_queries):
    table = rows(n_queries)
    listed = zip(*(column.tolist() for column in table.values()), strict=True)
    df = spark.createDataFrame(list(listed), list(table))
    print(f"{df.count():,} rows under {CONVENTION.name}")
    print(f"one process  {ra.evaluate(table['grade'], table['model'], CONVENTION, qid=table['query']).value:.16f}")
    for name, frame in (("shuffle", df), ("whole", df.repartition(3, "query"))):
        score = ra.spark.evaluate(frame, CONVENTION, **COLUMNS, partitions=name)
        print(f"{name:12s} {score.value:.16f}")
    worst = ra.spark.per_query(df, CONVENTION, **COLUMNS, partitions="shuffle").sort(f"`{CONVENTION.name}`", "qid")
    print(f"worst query: {worst.first()['qid']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=2000)
    n_queries = parser.parse_args().queries
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    spark = SparkSession.builder.master("local[2]").config(map=SETTINGS).getOrCreate()
    run(spark, n_queries)
    spark.stop()


if __name__ == "__main__":
    main()
