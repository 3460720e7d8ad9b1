"""What holds for all tests."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import io
import os
import signal
import sys

import pytest
from hypothesis import settings

import rankadapters as ra
from rankadapters.objectives import Objective
from tests.helpers.compile_kernels import start_compiling
from tests.helpers.engines import dask_client, spark_session

LONGEST_ID = 40  # characters

# Threads of OpenMP that have nothing to do sleep. As they come they spin, which takes the other core from whatever else
# the machine does: with two test runs side by side, scikit-learn's and LightGBM's trainings took five times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# How long an example takes, on a machine that does other things too, is not a property of what is tested.
settings.register_profile("rankadapters", deadline=None)
settings.load_profile("rankadapters")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Let workers that have nothing left to do take tests from others, since a few tests take long."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"


COMPILERS = []  # processes that compile kernels


def pytest_sessionstart(session):
    """When the whole suite is run, compile every kernel on all cores, once for all workers of pytest-xdist."""
    config = session.config
    n_workers = getattr(config.option, "numprocesses", None)
    whole = config.args == config.getini("testpaths") and not config.option.collectonly
    if whole and not hasattr(config, "workerinput"):
        COMPILERS.extend(start_compiling(min(n_workers or os.cpu_count() or 1, 8)))
    if n_workers:
        await_kernels()


def await_kernels():
    """Wait until every kernel is compiled."""
    while COMPILERS:
        COMPILERS.pop().wait()


def pytest_collection_finish():
    """Wait for the kernels, forget half-imported packages, and keep what collection made from the garbage collector.

    pytest leaves packages behind whose doctests it could not import, since their toolkit is missing. Each full run of
    the garbage collector took a second.
    """
    await_kernels()
    for name in ra._SUBMODULES:
        module = sys.modules.get(f"rankadapters.{name}")
        if hasattr(module, "__path__") and not hasattr(module, "__all__"):
            del sys.modules[f"rankadapters.{name}"]
    gc.collect()
    gc.freeze()


def pytest_sessionfinish():
    """Free all objects again, since extension modules report those that are left at the end as leaks."""
    await_kernels()
    gc.unfreeze()


def pytest_make_parametrize_id(val):
    """Return the name of a convention, the kind of an objective, the start of a long text; None for pytest's own id."""
    if isinstance(val, Objective):
        return val.kind
    if isinstance(val, ra.Convention):
        return val.name[:LONGEST_ID]
    if isinstance(val, str | bytes | int) and len(repr(val)) > LONGEST_ID:
        return repr(val).strip("'\"")[:LONGEST_ID]
    return None


@pytest.fixture(params=["LightGBM", "XGBoost"], ids=["lightgbm", "xgboost"])
def toolkit(request):
    """LightGBM and XGBoost in turn, trained with a declared metric by the same calls."""
    return getattr(importlib.import_module("tests.helpers.metric_trainings"), request.param)()


@pytest.fixture(scope="session")
def cluster2():
    """Client of a Dask cluster of two worker processes."""
    with dask_client(2) as client:
        yield client


@pytest.fixture(scope="session")
def cluster3():
    """Client of a Dask cluster of three worker processes."""
    with dask_client(3) as client:
        yield client


@pytest.fixture(scope="session")
def spark():
    """Spark session of two threads."""
    with spark_session() as session:
        yield session


@pytest.fixture
def routing():
    """Metadata routing of scikit-learn, for one test."""
    sklearn = pytest.importorskip("sklearn")
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(autouse=True)
def _machine_code_where_numba_is(monkeypatch):
    """Skip a test where it asks for machine code and numba cannot be imported."""
    if importlib.util.find_spec("numba") is None:
        dispatch = importlib.import_module("rankadapters.core.kernels.dispatch")
        checked = dispatch._checked
        monkeypatch.setattr(
            dispatch, "_checked", lambda choice: pytest.skip("needs numba") if choice == "now" else checked(choice)
        )


@pytest.fixture
def heeded():
    """SIGINT is ignored where a shell runs the tests in the background, and so it would be in our processes."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def write(tmp_path):
    """Write a small file and give its path."""

    def write(text, name="rows.txt"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def stdin(monkeypatch):
    """Hand a text to standard input."""

    def hand(text):
        data = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))

    return hand
