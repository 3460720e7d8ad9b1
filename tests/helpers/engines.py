"""Dask clusters and a Spark session on this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading

import pytest

from tests.helpers.checkout import CHECKOUT
from tests.helpers.python_processes import TIMEOUT


@contextlib.contextmanager
def dask_client(n_workers):
    """Start a Dask cluster of worker processes and yield its client."""
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
