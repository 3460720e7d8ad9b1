"""pyarrow, which the tests of tables and streams skip without."""

from __future__ import annotations

import pytest


@pytest.fixture
def arrow():
    """Return pyarrow; skip the test where it is not installed."""
    return pytest.importorskip("pyarrow")
