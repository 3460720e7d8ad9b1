"""Rows of a partition as queries, and columns of Arrow."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.arrow_columns import ArrowColumns
from rankadapters.core.errors import InputError
from rankadapters.partitions.request import FrameRequest, frame_function
from rankadapters.partitions.rows import FrameRows, split


def rows_of(query):
    arrays = {"label": np.zeros(query.size), "score": np.arange(float(query.size))}
    return FrameRows(arrays, query, None)


@pytest.mark.parametrize("size", [1, 40])
def test_a_query_that_returns_is_one_query(size):
    queries, rows = rows_of(np.repeat([3, 1, 3], size)).grouped()
    assert np.diff(queries.indptr).tolist() == [size, 2 * size]
    assert rows.arrays["score"].tolist() == [*range(size, 2 * size), *range(size), *range(2 * size, 3 * size)]


@pytest.mark.parametrize(("size", "is_kept"), [(3, False), (4, True), (40, True)])
def test_rows_of_long_queries_that_stand_together_are_not_copied(size, is_kept):
    rows = rows_of(np.repeat([3, 1, 2], size))
    queries, grouped = rows.grouped()
    assert queries.query_ids.tolist() == ([3, 1, 2] if is_kept else [1, 2, 3])
    assert np.shares_memory(grouped.arrays["score"], rows.arrays["score"]) == is_kept


def test_an_order_may_return_in_the_next_query_but_not_within_one():
    query, order = np.array([1, 2, 2, 3, 3, 4]), np.array([5, 5, 6, 7, 6, 7])
    arrays = {**rows_of(query).arrays, "order": order}
    queries, grouped = FrameRows(arrays, query, None).grouped()
    assert queries.n_queries == 4
    assert grouped.arrays["order"].tolist() == [5, 5, 6, 6, 7, 7]
    arrays["order"] = np.array([5, 5, 6, 6, 6, 7])
    with pytest.raises(ra.InputError, match=r"^two rows of query 3 have order 6, so neither comes first"):
        FrameRows(arrays, query, None).grouped()


def test_the_first_query_out_of_order_is_named():
    with pytest.raises(ra.InputError, match=r"not sorted by qid: query 2 is after query 3"):
        split(rows_of(np.array([1, 3, 2, 4, 0])))


@pytest.mark.parametrize("n_queries", [1, 2, 3, 4])
def test_queries_between_the_first_and_the_last_are_whole(n_queries):
    query = np.repeat(np.arange(n_queries), 2)
    inner, edges, span = split(rows_of(query))
    assert edges.query.tolist() == [number for number in query if number in {0, n_queries - 1}]
    assert (inner.query.tolist() if inner else []) == [number for number in query if 0 < number < n_queries - 1]
    assert span == (0, n_queries - 1)


def column_of(values, kind):
    pa = pytest.importorskip("pyarrow")
    return ArrowColumns(pa.table({"x": pa.array(values, kind)}), "", "row {}".format)


TIMES = np.array([3, 1, 2], "datetime64[us]").tolist()
ORDERS = {"uint64": [2**64 - 1, 0, 2**53 + 1], "int8": [3, -1, 2], "float32": [0.5, -1.0, 0.25], "timestamp[us]": TIMES}


@pytest.mark.parametrize("kind", ORDERS)
def test_numbers_and_times_are_orders_of_rows(kind):
    assert column_of(ORDERS[kind], kind).sort_keys("x").tolist() == ORDERS[kind]


@pytest.mark.parametrize(("kind", "values"), [("bool", [True, False]), ("string", ["1", "2"])])
def test_columns_that_are_no_numbers_or_times_are_no_order(kind, values):
    with pytest.raises(InputError, match=f"column 'x' has type {kind}, but numbers or times are needed"):
        column_of(values, kind).sort_keys("x")


@pytest.mark.parametrize("name", ["evaluate", "per_query"])
def test_functions_of_frames_show_the_keywords_and_segments_only_where_there_are_some(name):
    def function(df, convention, **keywords):
        """Evaluate a frame.

        {KEYWORDS}
        """

    function.__name__ = name
    shown = signature(frame_function(function)).parameters
    keywords = [each for each in signature(FrameRequest.of).parameters if each not in {"convention", "names"}]
    assert list(shown) == ["df", "convention", *(each for each in keywords if each != "by" or name == "evaluate")]
    assert "ids_up_to : int" in function.__doc__
