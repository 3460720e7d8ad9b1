"""The engines of partitions: every test runs on Dask, and as a long test on Spark."""

import pytest

from tests.helpers.engines import OnDask, OnSpark


@pytest.fixture(params=[OnDask, pytest.param(OnSpark, marks=pytest.mark.long)], ids=["dask", "spark"])
def engine(request):
    return request.param(request)
