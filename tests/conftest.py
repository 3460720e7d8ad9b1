"""Settings, hooks and fixtures of all tests."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import io
import os
import signal
import sys

import pytest
from _pytest.doctest import DoctestItem, DoctestModule
from hypothesis import settings

import rankadapters as ra
from rankadapters.objectives import Objective
from tests.helpers import missing_packages
from tests.helpers.engines import dask_client, spark_session

LONGEST_ID = 40  # characters
# Modules whose doctests compile kernels, or make all vectors of a convention, which takes seconds.
LONG_DOCTESTS = (
    "conformance/checking.py", "conformance/vectors.py",
    "objectives/listwise.py", "objectives/ndcg_losses.py", "objectives/noisy.py", "objectives/pairwise.py",
)  # fmt: skip

# Idle threads of OpenMP must sleep. By default they spin and take the other cores: with two test runs side by side,
# scikit-learn's and LightGBM's trainings took five times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# There is no deadline, since other programs on the machine can slow down any example.
settings.register_profile("rankadapters", deadline=None)
settings.load_profile("rankadapters")


def pytest_configure(config):
    """Load a hook for the package's doctests too, which hooks of this file do not reach."""
    config.pluginmanager.register(missing_packages)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Let idle workers take tests from other workers, since a few tests take long."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Do not let a search for doctests, which skips what it cannot import, hide that a test module is broken.

    It leaves the module half imported, in which pytest then finds no test and no error.
    """
    report = yield
    if report.skipped and isinstance(collector, DoctestModule) and collector.path.name.startswith("test_"):
        sys.modules.pop(".".join(collector.path.relative_to(collector.config.rootpath).with_suffix("").parts), None)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Run the doctests that take seconds with the long tests."""
    for item in items:
        if isinstance(item, DoctestItem) and item.path.as_posix().endswith(LONG_DOCTESTS):
            item.add_marker(pytest.mark.long)


def pytest_collection_finish():
    """Remove half-imported packages, and hide the collected tests from the garbage collector.

    pytest leaves packages in `sys.modules` whose doctests it could not import because a toolkit is missing. Each full
    run of the garbage collector took a second.
    """
    for name in ra._SUBMODULES:
        module = sys.modules.get(f"rankadapters.{name}")
        if hasattr(module, "__path__") and not hasattr(module, "__all__"):
            del sys.modules[f"rankadapters.{name}"]
    gc.collect()
    gc.freeze()


def pytest_sessionfinish():
    """Show all objects to the garbage collector again, since extension modules report the remaining ones as leaks."""
    gc.unfreeze()


def pytest_make_parametrize_id(val):
    """Return a short name of a convention, an objective, a long text or a container; None for pytest's own id."""
    if isinstance(val, Objective):
        return val.kind
    if isinstance(val, ra.Convention):
        return val.name[:LONGEST_ID]
    if (isinstance(val, str | bytes | int) and len(repr(val)) > LONGEST_ID) or is_literal(val):
        return repr(val).strip("'\"")[:LONGEST_ID]
    return None


def is_literal(value):
    """Tell whether a value is a container whose text is the same in every process."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    plain = (str, bytes, int, float, type(None))
    return isinstance(value, list | tuple) and all(isinstance(item, plain) or is_literal(item) for item in value)


@pytest.fixture(params=["LightGBM", "XGBoost"], ids=["lightgbm", "xgboost"])
def toolkit(request):
    """Return LightGBM and XGBoost in turn, trained with a declared metric by the same calls."""
    return getattr(importlib.import_module("tests.helpers.metric_trainings"), request.param)()


@pytest.fixture(scope="session")
def cluster2():
    """Yield the client of a Dask cluster of two worker processes."""
    with dask_client(2) as client:
        yield client


@pytest.fixture(scope="session")
def cluster3():
    """Yield the client of a Dask cluster of three worker processes."""
    with dask_client(3) as client:
        yield client


@pytest.fixture(scope="session")
def spark():
    """Yield a Spark session of two threads."""
    with spark_session() as session:
        yield session


@pytest.fixture
def metadata_routing():
    """Turn on scikit-learn's metadata routing for one test."""
    sklearn = pytest.importorskip("sklearn")
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def default_sigint():
    """Restore the default handler of SIGINT, which processes ignore if a shell runs the tests in the background."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a small file and returns its path."""

    def write(text, name="rows.txt"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def stdin(monkeypatch):
    """Return a function that replaces standard input by a text."""

    def replace_stdin(text):
        content = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))

    return replace_stdin
