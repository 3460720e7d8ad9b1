"""A plugin of pytest that skips a test or doctest if it needs a package which is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from doctest import UnexpectedException
from importlib.util import find_spec

import pytest

PACKAGES = (
    "adjustText", "catboost", "dask", "duckdb", "lightgbm", "matplotlib", "numba", "pyspark", "rich",
    "sklearn", "tqdm", "xgboost",
)  # fmt: skip
MISSING = [name for name in PACKAGES if find_spec(name) is None]  # listed before tests pretend that one is missing


@contextmanager
def skipped_if_a_package_is_missing() -> Iterator[None]:
    """Skip the test or doctest if its ImportError is about a package that is not installed."""
    try:
        yield
    except (ImportError, UnexpectedException) as failure:
        error = failure.exc_info[1] if isinstance(failure, UnexpectedException) else failure
        texts = " ".join(map(str, (error, error.__cause__, error.__context__)))
        missing = [name for name in MISSING if name in texts] if isinstance(error, ImportError) else []
        if missing:
            pytest.skip(f"needs {missing[0]}")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """Skip the test or doctest that is about to run if its package is not installed."""
    with skipped_if_a_package_is_missing():
        return (yield)
