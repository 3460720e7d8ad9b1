"""`ArrowColumns` converts columns of each Arrow type, and names the first wrong row."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.arrow_columns import ArrowColumns
from tests.helpers.tables import for_each

pa = pytest.importorskip("pyarrow")

EDGE = 2**53
DICTIONARY, VIEW, DECIMAL = pa.dictionary(pa.int8(), pa.string()), pa.string_view(), pa.decimal128(20, 3)
DATES = [dt.date(2020, 1, 2), dt.date(2020, 1, 1)]


def arrow_columns(values, kind=None, source="file"):
    array = pa.array(values, kind)
    columns = pa.table({"x": pa.chunked_array([array[row : row + 1] for row in range(len(values))])})
    return ArrowColumns(columns, source, lambda row: f"line {row + 10}")


@for_each(
    ("values", "kind", "dtype"),
    [
        ([1.5, 2], pa.float32(), np.float32), ([1.5, 2], pa.float16(), np.float16), ([1.5, 2], None, np.float64),
        ([True, False], None, np.bool_), ([3, 2], pa.int8(), np.float64), ([3, 2], DECIMAL, np.float64),
        ([EDGE, -EDGE], None, np.float64), ([-EDGE, 0], None, np.float64),
    ],
)  # fmt: skip
def test_floats_keep_their_type_and_integers_become_float64(values, kind, dtype):
    numbers = arrow_columns(values, kind).numbers("x")
    assert (numbers.tolist(), numbers.dtype) == (values, dtype)


@for_each(
    ("read", "values", "kind", "row", "problem"),
    [
        ("numbers", [1, EDGE, EDGE + 1, EDGE + 5], None, 2, f"line 12: x is {EDGE + 1}, which is an integer beyond"),
        ("numbers", [1, -EDGE, -EDGE - 1], None, 2, f"line 12: x is {-EDGE - 1}, which is an integer beyond"),
        ("numbers", [EDGE + 1, -1], DECIMAL, 0, f"line 10: x is {EDGE + 1}.000, which"),
        ("numbers", [1, 2, math.nan, math.inf], None, 2, "line 12: x is nan; expected a finite"),
        ("numbers", [-math.inf, 1], None, 0, "line 10: x is -inf; expected a finite"),
        ("sort_keys", [1, math.nan], None, 1, "line 11: x is nan"),
        ("numbers", [None, 1], None, 0, "line 10: x is missing"), ("queries", [1, None], None, 1, "line 11: x is miss"),
        ("queries", [1.5, math.nan], None, 1, "line 11: x is missing"),
        ("docids", ["a", "", None], None, 1, "line 11: x is missing"), ("codes", ["", "a"], None, 0, "line 10: x is m"),
        ("docids", ["a", None, ""], DICTIONARY, 1, "line 11: x is"), ("docids", ["a", ""], VIEW, 1, "line 11: x is m"),
        ("numbers", ["1"], None, None, "file: column 'x' has type string, but numbers are needed"),
        ("numbers", [[1]], None, None, "file: column 'x' has type list<item: int64>, but"),
        ("queries", [[1]], None, None, r"list<item: int64>, but one value per row is needed"),
        ("codes", [1.0], None, None, "double, but strings or"), ("docids", [1.0], None, None, "double, but strings or"),
        ("docids", [True], None, None, "bool, but strings or"), ("sort_keys", ["a"], None, None, "string, but numbers"),
        ("sort_keys", [True], None, None, "bool, but numbers or times are needed"),
    ],
)  # fmt: skip
def test_an_error_names_the_first_wrong_row_or_the_wrong_type(read, values, kind, row, problem):
    with pytest.raises(ra.InputError) as caught:
        getattr(arrow_columns(values, kind), read)("x")
    assert problem in str(caught.value)
    assert caught.value.row == row
    with pytest.raises(ra.InputError, match=r"^(line|column)"):
        getattr(arrow_columns(values, kind, source=""), read)("x")


@for_each("kind", [None, pa.large_string(), VIEW, DICTIONARY])
def test_texts_of_every_arrow_type_are_read_alike(kind):
    columns = arrow_columns(["b", "b", "a", "b", "c", "c"], kind)
    queries, starts = columns.queries("x")
    assert (list(queries), starts.tolist()) == (["b", "a", "b", "c"], [0, 2, 3, 4])
    codes, texts = columns.codes("x")
    assert (codes.tolist(), codes.dtype, list(texts)) == ([0, 0, 1, 0, 2, 2], np.int64, ["b", "a", "c"])
    assert columns.docids("x") == ["b", "b", "a", "b", "c", "c"]


def test_integers_and_dates_can_be_ids_docids_and_sort_keys():
    columns = arrow_columns([7, 7, 5, 7])
    queries, starts = columns.queries("x")
    assert (queries.tolist(), starts.tolist()) == ([7, 5, 7], [0, 2, 3])
    codes, texts = columns.codes("x")
    assert (codes.tolist(), texts) == ([7, 7, 5, 7], None)
    assert columns.docids("x") == ["7", "7", "5", "7"]
    assert arrow_columns([EDGE + 1, EDGE]).sort_keys("x").tolist() == [EDGE + 1, EDGE]
    assert np.argsort(arrow_columns(DATES).sort_keys("x")).tolist() == [1, 0]
