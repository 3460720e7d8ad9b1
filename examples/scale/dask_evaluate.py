"""Evaluate rows on two Dask workers; the value is bit for bit the same as in one process.

    python examples/scale/dask_evaluate.py [--queries 2000]

First each query is in one partition, so no row moves; then the rows are in any partition, so Dask shuffles them.
"""

import argparse

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

import rankadapters as ra

CONVENTIONS = ["textbook@10", "letor4@10+gain=exp2", "catboost.mrr@10"]
COLUMNS = {"label": "grade", "score": "model", "qid": "query", "order": "place"}


def rows(n_queries):
    """Return queries of 1 to 99 rows, whose scores correlate with their grades."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(n_queries), rng.integers(1, 100, n_queries))
    grade = rng.choice(5, query.size, p=[0.5, 0.3, 0.13, 0.05, 0.02])
    model = (grade + 2 * rng.standard_normal(query.size)).round(1)
    return pd.DataFrame({"query": query, "grade": grade, "model": model, "place": np.arange(query.size)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=2000)
    table = rows(parser.parse_args().queries)
    mixed = table.sample(frac=1, random_state=0, ignore_index=True)
    local = ra.evaluate(table.grade, table.model, CONVENTIONS, qid=table["query"])
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster,
        Client(cluster),
    ):
        by_query = dd.from_pandas(table.set_index("query"), npartitions=7).reset_index()  # cuts between index values
        scattered = dd.from_pandas(mixed, npartitions=7, sort=False)
        whole = ra.dask.evaluate(by_query, CONVENTIONS, **COLUMNS, partitions="whole")
        shuffled = ra.dask.evaluate(scattered, CONVENTIONS, **COLUMNS, partitions="shuffle")
        values = ra.dask.per_query(by_query, CONVENTIONS[0], **COLUMNS, partitions="whole").compute()
    print(f"{len(table):,} rows of {len(values):,} queries in 7 partitions")
    print(f"{'':32s} {'one process':>18s} {'whole':>18s} {'shuffle':>18s}")
    for convention, score in local.items():
        columns = (score.value, whole[convention].value, shuffled[convention].value)
        print(f"{convention.name:32s} " + " ".join(f"{value:18.16f}" for value in columns))


if __name__ == "__main__":
    main()
