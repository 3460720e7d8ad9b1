"""Types of columns."""

from __future__ import annotations

import numpy as np
import pytest

from rankadapters.core.columns import index_dtype


@pytest.mark.parametrize(("n", "expected"), [(1, np.int32), (2**31 - 1, np.int32), (2**31, np.int64)])
def test_rows_are_numbered_in_half_the_bits_as_far_as_these_go(n, expected):
    assert index_dtype(n) is expected
