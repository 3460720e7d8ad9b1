"""Rows of a partition as queries."""

from __future__ import annotations

import numpy as np
import pytest

from rankadapters.partitions.rows import FrameRows


@pytest.mark.parametrize("size", [1, 40])
def test_a_query_that_returns_is_one_query(size):
    query = np.repeat([3, 1, 3], size)
    rows = FrameRows(
        label=np.zeros(query.size), score=np.arange(float(query.size)), query=query, names=None, weight=None,
        docid=None, order=None,
    )  # fmt: skip
    queries, scores = rows.queries()
    assert np.diff(queries.indptr).tolist() == [size, 2 * size]
    assert scores.tolist() == [*range(size, 2 * size), *range(size), *range(2 * size, 3 * size)]
