"""Rows of a partition as queries."""

from __future__ import annotations

import numpy as np
import pytest

from rankadapters.partitions.rows import FrameRows


def rows_of(query):
    return FrameRows(
        label=np.zeros(query.size), score=np.arange(float(query.size)), query=query, names=None,
    )  # fmt: skip


@pytest.mark.parametrize("size", [1, 40])
def test_a_query_that_returns_is_one_query(size):
    queries, scores = rows_of(np.repeat([3, 1, 3], size)).queries()
    assert np.diff(queries.indptr).tolist() == [size, 2 * size]
    assert scores.tolist() == [*range(size, 2 * size), *range(size), *range(2 * size, 3 * size)]


def test_rows_of_long_queries_that_stand_together_are_not_copied():
    rows = rows_of(np.repeat([3, 1, 2], 40))
    queries, scores = rows.queries()
    assert queries.query_ids.tolist() == [3, 1, 2]
    assert np.shares_memory(scores, rows.score)
