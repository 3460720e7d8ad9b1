"""Rows of a partition are grouped into queries, and Arrow columns give the order of rows."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.arrow_columns import ArrowColumns
from rankadapters.core.errors import InputError
from rankadapters.partitions.request import FrameRequest, frame_function
from rankadapters.partitions.rows import FrameRows, split


def frame_rows(query):
    arrays = {"label": np.zeros(query.size), "score": np.arange(float(query.size))}
    return FrameRows(arrays, query, None)


@pytest.mark.parametrize("size", [1, 40])
def test_rows_of_a_query_that_are_apart_become_one_query(size):
    queries, rows = frame_rows(np.repeat([3, 1, 3], size)).grouped()
    assert np.diff(queries.indptr).tolist() == [size, 2 * size]
    assert rows.arrays["score"].tolist() == [*range(size, 2 * size), *range(size), *range(2 * size, 3 * size)]


@pytest.mark.parametrize(("size", "shares_memory"), [(3, False), (4, True), (40, True)])
def test_adjacent_rows_of_long_queries_are_not_copied(size, shares_memory):
    rows = frame_rows(np.repeat([3, 1, 2], size))
    queries, grouped = rows.grouped()
    assert queries.query_ids.tolist() == ([3, 1, 2] if shares_memory else [1, 2, 3])
    assert np.shares_memory(grouped.arrays["score"], rows.arrays["score"]) == shares_memory


def test_two_rows_may_have_the_same_order_unless_they_share_a_query():
    query, order = np.array([1, 2, 2, 3, 3, 4]), np.array([5, 5, 6, 7, 6, 7])
    arrays = {**frame_rows(query).arrays, "order": order}
    queries, grouped = FrameRows(arrays, query, None).grouped()
    assert queries.n_queries == 4
    assert grouped.arrays["order"].tolist() == [5, 5, 6, 6, 7, 7]
    arrays["order"] = np.array([5, 5, 6, 6, 6, 7])
    with pytest.raises(ra.InputError, match=r"^two rows of query 3 have order 6, so neither comes first"):
        FrameRows(arrays, query, None).grouped()


def test_the_first_query_out_of_order_is_refused_by_name():
    with pytest.raises(ra.InputError, match=r"not sorted by qid: query 2 is after query 3"):
        split(frame_rows(np.array([1, 3, 2, 4, 0])))


@pytest.mark.parametrize("n_queries", [1, 2, 3, 4])
def test_split_separates_the_first_and_last_query_from_the_others(n_queries):
    query = np.repeat(np.arange(n_queries), 2)
    inner, edges, span = split(frame_rows(query))
    assert edges.query.tolist() == [number for number in query if number in {0, n_queries - 1}]
    assert (inner.query.tolist() if inner else []) == [number for number in query if 0 < number < n_queries - 1]
    assert span == (0, n_queries - 1)


def make_arrow_columns(values, kind):
    pa = pytest.importorskip("pyarrow")
    return ArrowColumns(pa.table({"x": pa.array(values, kind)}), "", "row {}".format)


TIMES = np.array([3, 1, 2], "datetime64[us]").tolist()
ORDERS = {"uint64": [2**64 - 1, 0, 2**53 + 1], "int8": [3, -1, 2], "float32": [0.5, -1.0, 0.25], "timestamp[us]": TIMES}


@pytest.mark.parametrize("kind", ORDERS)
def test_columns_of_numbers_and_times_give_the_order_of_rows(kind):
    assert make_arrow_columns(ORDERS[kind], kind).sort_keys("x").tolist() == ORDERS[kind]


@pytest.mark.parametrize(("kind", "values"), [("bool", [True, False]), ("string", ["1", "2"])])
def test_columns_of_other_types_give_no_order_of_rows(kind, values):
    with pytest.raises(InputError, match=f"column 'x' has type {kind}, but numbers or times are needed"):
        make_arrow_columns(values, kind).sort_keys("x")


@pytest.mark.parametrize("name", ["evaluate", "per_query"])
def test_frame_functions_show_their_keywords_and_by_only_where_it_applies(name):
    def function(df, convention, **keywords):
        """Evaluate a frame.

        {KEYWORDS}
        """

    function.__name__ = name
    shown = signature(frame_function(function)).parameters
    keywords = [keyword for keyword in signature(FrameRequest.of).parameters if keyword not in {"convention", "names"}]
    if name == "per_query":
        keywords.remove("by")
    assert list(shown) == ["df", "convention", *keywords]
    assert "ids_up_to : int" in function.__doc__
