"""pyarrow, which the tests of tables and streams skip without."""

from __future__ import annotations

import pytest


@pytest.fixture
def arrow():
    return pytest.importorskip("pyarrow")
