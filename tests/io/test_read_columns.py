"""`read_columns` converts columns of each Arrow type to one form, and names the first wrong row; `order` sorts rows."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.errors import InputError
from rankadapters.io.rows import Names, ScoredRows, read_columns, rows_of_partition

pa = pytest.importorskip("pyarrow")

EDGE = 2**53
DICTIONARY, VIEW, DECIMAL = pa.dictionary(pa.int8(), pa.string()), pa.string_view(), pa.decimal128(20, 3)
ROLES = {"label": "label", "score": "score 0", "qid": "qid", "docid": "docid", "by": "by", "order": "order"}


def table_of(**columns):
    """Return a table of chunks of one row, with the missing columns of labels, scores and queries."""
    n_rows = len(next(iter(columns.values())))
    arrays = {"label": [1.0] * n_rows, "score": [1.0] * n_rows, "qid": [7] * n_rows, **columns}
    arrays = {name: column if isinstance(column, pa.Array) else pa.array(column) for name, column in arrays.items()}
    return pa.table(
        {name: pa.chunked_array([column[i : i + 1] for i in range(n_rows)]) for name, column in arrays.items()}
    )


def read(name, values, kind=None):
    names = Names(**{name: name} if name in {"docid", "by", "order", "query_weight"} else {})
    return read_columns(table_of(**{name: pa.array(values, kind)}), names).column(ROLES.get(name, name))


@pytest.mark.parametrize(
    ("values", "kind", "dtype"),
    [
        ([1.5, 2], pa.float32(), np.float32), ([1.5, 2], pa.float16(), np.float64), ([1.5, 2], None, np.float64),
        ([True, False], None, np.float64), ([3, 2], pa.int8(), np.float64), ([3, 2], DECIMAL, np.float64),
        ([EDGE, -EDGE], None, np.float64), ([-EDGE, 0], None, np.float64), ([2, 2], DICTIONARY, np.float64),
    ],
)  # fmt: skip
def test_scores_stay_float32_or_become_float64_and_labels_become_float64(values, kind, dtype):
    if kind is DICTIONARY:
        values, kind = pa.array(values).dictionary_encode(), None
    column = values if isinstance(values, pa.Array) else pa.array(values, kind)
    for name, expected in (("score", dtype), ("label", np.float64)):
        numbers = read(name, column).to_numpy()
        assert (numbers.tolist(), numbers.dtype) == (column.to_pylist(), expected)


@pytest.mark.parametrize(
    ("name", "values", "kind", "row", "problem"),
    [
        ("score", [1, EDGE, EDGE + 1, EDGE + 5], None, None, f"score has an integer of {EDGE + 5}, beyond 2^53"),
        ("label", [1, -EDGE, -EDGE - 1], None, None, f"label has an integer of {EDGE + 1}, beyond 2^53"),
        ("label", [EDGE * 3, -1], DECIMAL, None, "label has a decimal beyond 2^53"),
        ("score", [1, 2, math.nan, math.inf], None, 2, "score is nan, which is not a finite number"),
        ("label", [-math.inf, 1], None, 0, "label is -inf, which is not a finite number"),
        ("order", [1, math.nan], None, 1, "order is nan"),
        ("query_weight", [1.0, -2.0], None, 1, "query_weight is -2.0, but weights are >= 0"),
        ("label", [None, 1], None, 0, "label is missing"), ("qid", [1, None], None, 1, "qid is missing"),
        ("qid", [1.5, math.nan], None, 1, "qid is missing"), ("by", [1.5, math.nan], None, 1, "by is missing"),
        ("docid", ["a", "", None], None, 1, "docid is missing"), ("qid", ["", "a"], None, 0, "qid is missing"),
        ("docid", ["a", None, ""], DICTIONARY, 1, "docid is missing"), ("docid", ["a", ""], VIEW, 1, "docid is miss"),
        ("score", ["1"], None, None, "column 'score' has type string, but numbers are needed"),
        ("score", [[1]], None, None, "column 'score' has type list<item: int64>, but"),
        ("qid", [[1]], None, None, "list<item: int64>, but one value per row is needed"),
        ("docid", [1.0], None, None, "double, but strings or"), ("docid", [True], None, None, "bool, but strings or"),
        ("order", ["a"], None, None, "string, but integers, floats or times are needed"),
        ("order", [True], None, None, "bool, but integers, floats or times are needed"),
    ],
)  # fmt: skip
def test_an_error_names_the_first_wrong_row_or_the_wrong_type(name, values, kind, row, problem):
    with pytest.raises(InputError) as caught:
        read(name, values, kind)
    assert problem in str(caught.value)
    assert caught.value.row == row


@pytest.mark.parametrize("kind", [None, pa.large_string(), VIEW, DICTIONARY])
def test_texts_of_every_arrow_type_are_read_alike(kind):
    texts = pa.array(["b", "b", "a", "b", "c", "c"], kind)
    columns = read_columns(table_of(qid=texts, docid=list("uvwxyz"), by=texts), Names(docid="docid", by="by"))
    rows = ScoredRows.of(columns, Names(docid="docid", by="by"), str)
    assert (rows.queries.query_ids.tolist(), rows.queries.sizes.tolist()) == (["b", "a", "c"], [3, 1, 2])
    assert rows.by.tolist() == texts.to_pylist()
    assert rows.queries.digest == ra.Queries([1] * 6, qid=texts.to_pylist()).digest


def test_integers_and_dates_can_be_ids_docids_and_sort_keys():
    assert read("qid", [7, 7, 5], pa.int8()).to_pylist() == [7, 7, 5]
    assert read("docid", [7, 10, 9]).to_pylist() == ["7", "10", "9"]
    assert read("order", [EDGE + 1, EDGE]).to_pylist() == [EDGE + 1, EDGE]
    dates = [dt.date(2020, 1, 2), dt.date(2020, 1, 1)]
    assert read("order", dates).to_pylist() == read("qid", dates).to_pylist() == dates


def test_a_document_whose_name_is_its_query_is_known_for_text_ids():
    """The ids are read as codes, and the names of queries and documents must be compared."""
    names = Names(docid="docid")
    rows = ScoredRows.of(read_columns(table_of(qid=["x", "x", "0"], docid=["0", "x", "1"]), names), names, str)
    assert rows.queries.own_docid.tolist() == [False, True, False]


def read_partition(**columns):
    """Read columns, each of which has the name of its role."""
    n_rows = len(columns["qid"])
    names = Names(**{role: role for role in columns})
    columns = {"label": np.zeros(n_rows), "score 0": np.arange(float(n_rows)), **columns}
    return rows_of_partition({role: pa.array(column) for role, column in columns.items()}, names)


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("size", [1, 40])
def test_rows_of_a_query_that_are_apart_become_one_query(size, kind):
    rows = read_partition(qid=np.repeat([3, 1, 3], size).astype(kind))
    assert rows.queries.query_ids.tolist() == [kind(3), kind(1)]
    assert rows.queries.rows.tolist() == [*range(size), *range(2 * size, 3 * size), *range(size, 2 * size)]
    assert rows.scores[0].tolist() == [*range(3 * size)]


def test_two_rows_may_have_the_same_order_unless_they_share_a_query():
    queries = read_partition(qid=[1, 2, 2, 3, 3, 4], order=[5, 5, 6, 7, 6, 7]).queries
    assert (queries.n_queries, queries.rows.tolist()) == (4, [0, 1, 2, 4, 3, 5])
    with pytest.raises(ra.InputError, match=r"^two rows of query 3 have order 6, so neither comes first"):
        read_partition(qid=[1, 2, 2, 3, 3, 4], order=[5, 5, 6, 6, 6, 7])


TIMES = np.array([3, 1, 2], "datetime64[us]").tolist()
ORDERS = {"uint64": [2**64 - 1, 0, 2**53 + 1], "int8": [3, -1, 2], "float32": [0.5, -1.0, 0.25], "timestamp[us]": TIMES}


@pytest.mark.parametrize("kind", ORDERS)
def test_columns_of_numbers_and_times_give_the_order_of_rows(kind):
    assert read_partition(qid=[7, 7, 7], order=pa.array(ORDERS[kind], kind)).queries.rows.tolist() == [1, 2, 0]
