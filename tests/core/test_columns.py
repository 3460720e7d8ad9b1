"""Types of columns."""

from __future__ import annotations

import numpy as np
import pytest

from rankadapters.core.data.columns import as_numbers, index_dtype


@pytest.mark.parametrize(("n", "expected"), [(1, np.int32), (2**31 - 1, np.int32), (2**31, np.int64)])
def test_rows_are_numbered_in_half_the_bits_as_far_as_these_go(n, expected):
    assert index_dtype(n) is expected


@pytest.mark.parametrize("kind", ["?", "i1", ">u2", "i4", ">i8", "f2", "<f4", ">f4", "<f8", ">f8"])
def test_numbers_are_read_in_the_machines_own_float64_or_float32(kind):
    found = as_numbers("scores", np.array([0, 1, 1], kind))
    assert found.dtype == (np.float32 if np.dtype(kind) == np.float32 else np.float64)
    assert found.dtype.isnative
    assert found.tolist() == [0, 1, 1]
