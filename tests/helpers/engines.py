"""Dask clusters and a Spark session on this machine, and rows in chosen parts on them."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.checkout import CHECKOUT
from tests.helpers.python_processes import TIMEOUT
from tests.helpers.rankings import Ranking


@contextlib.contextmanager
def dask_client(n_workers):
    distributed = pytest.importorskip("distributed")
    with (
        worker_environment(),
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            # Any free port, since two test processes may each have a cluster. No dashboard uses the port.
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=50,
        ) as cluster,
        # Not the default client: a test names its cluster, and code that names none must find none.
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextlib.contextmanager
def spark_session():
    """Start a Spark session of two threads, bound to loopback and without a user interface, and yield it."""
    sql = pytest.importorskip("pyspark.sql")
    if not shutil.which("java") and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs a Java runtime: apt-get install openjdk-17-jre-headless")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        # A session of seconds gains nothing from the second compiler and from threads that collect garbage.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "ERROR",
    }
    with worker_environment(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1"):
        session = sql.SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        gateway = session.sparkContext._gateway
        yield session
        session.stop()
        gateway.shutdown()  # otherwise the virtual machine lives as long as this process
        gateway.proc.stdin.close()
        gateway.proc.wait(TIMEOUT)


@contextlib.contextmanager
def worker_environment(**variables):
    """Let processes that an engine starts import what this process can, and use one thread each."""
    paths = [str(CHECKOUT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    with pytest.MonkeyPatch.context() as patch:
        variables = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "OMP_NUM_THREADS": "1", **variables}
        for name, value in variables.items():
            patch.setenv(name, value)
        yield


def failure_of(run, seconds=TIMEOUT):
    """Call a function that must fail, and return its error; it hangs if it still runs after `seconds`."""
    errors = []

    def catch():
        try:
            run()
        except BaseException as error:  # noqa: BLE001 - the test checks which error it is
            errors.append(error)

    thread = threading.Thread(target=catch, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), f"still runs after {seconds} s"
    assert errors, "did not fail"
    return errors[0]


def workers_of(client):
    """Return the sorted addresses of the workers.

    `client.scheduler_info()` now and then has no workers: the client replaces it every two seconds by one without them.
    """
    return sorted(client.nthreads())


def cut_at_queries(data: Ranking, n_parts: int) -> list[Ranking]:
    bounds = np.linspace(0, data.sizes.size, n_parts + 1).astype(int)
    rows = [data.sizes[:bound].sum() for bound in bounds]
    return [_part(data, first, last) for first, last in pairwise(rows)]


def cut_at_rows(data: Ranking, n_parts: int) -> list[Ranking]:
    """Cut rows into parts of about equal size; a part may end within a query."""
    bounds = np.linspace(0, data.y.size, n_parts + 1).astype(int)
    return [_part(data, first, last) for first, last in pairwise(bounds)]


def _part(data, first, last):
    qid = data.qid[first:last]
    return Ranking(data.X[first:last], data.y[first:last], qid, ra.Queries(data.y[first:last], qid=qid).group_sizes)


def scatter_parts(client, parts: list[Ranking]) -> Ranking:
    """Return Dask arrays whose chunks are the parts, placed on the workers in turn."""
    da, delayed = pytest.importorskip("dask.array"), pytest.importorskip("dask").delayed
    workers = workers_of(client)

    def place(array, index):
        future = client.scatter(array, workers=[workers[index % len(workers)]], hash=False)
        return da.from_delayed(delayed(future), array.shape, array.dtype)

    def column(name):
        chunks = [place(getattr(part, name), index) for index, part in enumerate(parts)]
        return client.persist(da.concatenate(chunks))

    return Ranking(*(column(name) for name in Ranking._fields))


class OnDask:
    """Dask DataFrames, computed in this thread."""

    def __init__(self, request):
        self.dask, self.pd = pytest.importorskip("dask"), pytest.importorskip("pandas")
        context = self.dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False})
        context.__enter__()
        request.addfinalizer(lambda: context.__exit__(None, None, None))
        self.module = ra.dask

    def frame(self, parts):
        return dask_frame(parts)

    def in_memory(self, frame):
        return frame.compute()


class OnSpark:
    """Spark DataFrames of a local session."""

    def __init__(self, request):
        self.pd = pytest.importorskip("pandas")
        self.session, self.module = request.getfixturevalue("spark"), ra.spark

    def frame(self, parts):
        return spark_frame(self.session, parts)

    def in_memory(self, frame):
        return self.pd.DataFrame([row.asDict() for row in frame.collect()])


def dask_frame(parts, **types):
    """Return a Dask DataFrame with exactly these partitions and column types."""
    dask, dd = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    tables = [pytest.importorskip("pandas").DataFrame(part).astype(types) for part in parts]
    return dd.from_delayed([dask.delayed(table) for table in tables], meta=tables[0].iloc[:0], verify_meta=False)


SQL_TYPES = {"i": "long", "f": "double", "U": "string", "O": "long"}


def spark_frame(spark, parts):
    """Return a DataFrame with exactly these partitions, which keeps the order of their rows."""

    def read_parts(batches):
        import pyarrow as pa

        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield pa.RecordBatch.from_pydict(lists[number])

    lists = [{name: np.asarray(column).tolist() for name, column in part.items()} for part in parts]
    schema = ", ".join(f"{name} {SQL_TYPES[np.asarray(column).dtype.kind]}" for name, column in parts[0].items())
    return spark.range(0, len(parts), 1, len(parts)).mapInArrow(read_parts, schema)
