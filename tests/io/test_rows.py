"""The rows of a partition become queries, whose rows `order` sorts."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.io.rows import Names, rows_of_partition

pa = pytest.importorskip("pyarrow")


def read(**columns):
    """Read columns, each of which has the name of its role."""
    n_rows = len(columns["qid"])
    names = Names(**{role: role for role in columns})
    columns = {"label": np.zeros(n_rows), "score 0": np.arange(float(n_rows)), **columns}
    return rows_of_partition({role: pa.array(column) for role, column in columns.items()}, names)


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("size", [1, 40])
def test_rows_of_a_query_that_are_apart_become_one_query(size, kind):
    rows = read(qid=np.repeat([3, 1, 3], size).astype(kind))
    assert rows.queries.query_ids.tolist() == [kind(3), kind(1)]
    assert rows.queries.rows.tolist() == [*range(size), *range(2 * size, 3 * size), *range(size, 2 * size)]
    assert rows.scores[0].tolist() == [*range(3 * size)]


def test_two_rows_may_have_the_same_order_unless_they_share_a_query():
    queries = read(qid=[1, 2, 2, 3, 3, 4], order=[5, 5, 6, 7, 6, 7]).queries
    assert (queries.n_queries, queries.rows.tolist()) == (4, [0, 1, 2, 4, 3, 5])
    with pytest.raises(ra.InputError, match=r"^two rows of query 3 have order 6, so neither comes first"):
        read(qid=[1, 2, 2, 3, 3, 4], order=[5, 5, 6, 6, 6, 7])


TIMES = np.array([3, 1, 2], "datetime64[us]").tolist()
ORDERS = {"uint64": [2**64 - 1, 0, 2**53 + 1], "int8": [3, -1, 2], "float32": [0.5, -1.0, 0.25], "timestamp[us]": TIMES}


@pytest.mark.parametrize("kind", ORDERS)
def test_columns_of_numbers_and_times_give_the_order_of_rows(kind):
    assert read(qid=[7, 7, 7], order=pa.array(ORDERS[kind], kind)).queries.rows.tolist() == [1, 2, 0]
