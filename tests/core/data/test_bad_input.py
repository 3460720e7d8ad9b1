"""Bad input is refused with an error that names the value and suggests a fix."""

from __future__ import annotations

import pickle
import re
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankadapters as ra
from tests.helpers.tables import for_each
from tests.helpers.two_queries import CONV, LABELS, QID, SCORES, WEIGHTED

MIXED = ["b", "a", "b", "b"]  # grouped by query, row 1 is the last row


def assert_refused(problem, labels, scores, convention, **columns):
    """Assert that evaluating is refused; `error.row` is the row that the message names, or None for a column."""
    with pytest.raises(ra.InputError, match=problem) as caught:
        ra.evaluate(labels, scores, convention, **columns)
    named_row = re.search(r"(?:(?:labels|scores|qid|docid|row_weight)\[|row )(\d+)", str(caught.value))
    names_a_column = re.search(r"must be numbers.* is np\.", str(caught.value))
    assert caught.value.row == (int(named_row[1]) if named_row and not names_a_column else None)
    assert pickle.loads(pickle.dumps(caught.value)).row == caught.value.row


@for_each(
    ("labels", "problem"),
    [
        ([], "labels is empty"),
        ([[1, 0, 2, 0]], "two dimensions"),
        (np.zeros((4, 1)), r"shape \(4, 1\).*\nHint: labels.ravel\(\)"),
        (
            [Fraction(1, 2), 0, 1, Decimal(2)],
            r"labels\[0\] is Fraction\(1, 2\) \(dtype object\).*\n.*asarray\(labels, 'float64'\)",
        ),
        (np.array([0, "x", 2, 0], object), r"labels must be numbers, but labels\[1\] is 'x' \(dtype object\)"),
        (np.array([0, 1, pd.NA, 0], object), r"labels\[2\] is <NA> \(dtype object\)"),
        ([2**60, 0.5, 1, 2], r"labels has an integer of 1152921504606846976, beyond 2\^53"),
        ([1, None, 2, 0], r"labels must be numbers, but labels\[1\] is None"),
        ([1, np.nan, 2, 0], r"labels\[1\] is nan"),
        ([1, 0, np.inf, 0], r"labels\[2\] is inf"),
        ([1, 0, 2, -1], r"labels\[3\] is -1, negative, which exp2"),
        ([1, 0, 1024, 0], r"labels\[2\] is 1024, so large that 2\^label overflows"),
        ([1023, 0, 1023, 1023], "ideal DCG of query b overflows"),
        (np.array([1, 0, 2**60, 0]), r"integer of 1152921504606846976, beyond 2\^53"),
        (np.zeros(4, np.longdouble), "labels must be numbers.*dtype (float128|longdouble)"),
    ],
)
def test_bad_labels_are_refused(labels, problem):
    assert_refused(problem, labels, SCORES, CONV, qid=MIXED)


@for_each(
    ("convention", "labels", "scores", "problem"),
    [
        (
            "letor4@1",
            [0, 7, 0, 0],
            SCORES,
            r"labels\[1\] is 7, outside the gain table of table_0_1_3 \(labels 0 to 2\)",
        ),
        ("letor4@1", [0, 0.5, 0, 0], SCORES, r"labels\[1\] is 0.5, outside the gain table of table_0_1_3"),
        ("xgboost@2", LABELS, [0.0, 1e300, 0.0, 0.0], r"scores\[1\] is 1e\+300, beyond float32"),
        ("xgboost.auc+pairs=unit", [1, 2, 0, 1], SCORES, r"labels\[1\] is 2, but pairs='unit' takes labels in"),
    ],
)
def test_values_outside_the_domain_of_a_convention_are_refused(convention, labels, scores, problem):
    assert_refused(problem, labels, scores, convention, qid=MIXED)


@for_each(
    ("scores", "problem"),
    [
        ([0.1], "scores has 1 rows but the queries cover 4"),
        ([], "scores is empty"),
        (np.zeros((4, 1)), r"Hint: scores.ravel\(\)"),
        ([0.1, np.nan, 0.2, 0.3], r"scores\[1\] is nan"),
        ([0.1, 0.2, 0.3, -np.inf], r"scores\[3\] is -inf"),
        *(
            (np.array([1, 2, 3, n]), rf"scores has an integer of {abs(n)}, beyond 2\^53")
            for n in (2**53 + 1, -(2**53) - 1)
        ),
    ],
)
@pytest.mark.parametrize("ties", ["input", "reverse", "average", "worst", "best"])
def test_bad_scores_are_refused(scores, problem, ties):
    assert_refused(problem, LABELS, scores, CONV.replace(ties=ties), qid=MIXED)


@for_each(
    ("columns", "problem"),
    [
        ({"qid": QID, "group_sizes": [4]}, "both were given"),
        ({"group_sizes": [3]}, "adds up to 3 but labels has 4"),
        ({"group_sizes": [4, 0]}, r"group_sizes\[1\] is 0"),
        ({"group_sizes": [2.0, 2.0]}, "whole numbers are needed"),
        ({"group_sizes": []}, "group_sizes is empty"),
        ({"qid": ["a"]}, "qid has 1 rows but labels has 4"),
        ({"qid": [1.0, 1.0, np.nan, 2.0]}, r"qid\[2\] is nan"),
        ({"qid": ["a", None, "b", "b"]}, r"qid\[1\] is None"),
        ({"qid": [("a", 1), ("a", 1), ("b", np.nan), ("b", 2)]}, r"qid\[2\] is \('b', nan\), but every row belongs"),
        ({"qid": [("a", (1, None)), ("a", 1), ("b", 1), ("b", 2)]}, r"qid\[0\] is \('a', \(1, None\)\)"),
        (
            {"qid": pd.MultiIndex.from_tuples([("a", 1), ("a", 1), ("b", pd.NaT), ("b", 1)])},
            r"qid\[2\] is \('b', (nan|NaT)\)",
        ),
        ({"qid": pd.array([1, None, 2, 2], dtype="Int64")}, r"qid\[1\] is"),
        ({"qid": pd.to_datetime(["2020-01-01", None, "2020-01-02", "2020-01-02"])}, r"qid\[1\] is NaT"),
        ({"qid": [["a"], ["a"], ["b"], ["b"]]}, "holds lists"),
        ({"qid": [7, 7, {}, {}]}, r"qid\[2\] is {} \(dict\); allowed are integers, .*\nHint: qid=\[str\(query\)"),
        ({"qid": ["a", ("a", Decimal(7)), "a", "b"]}, r"qid\[1\] is \('a', Decimal\('7'\)\) \(tuple\); allowed are"),
        ({"qid": [timedelta(1), 7, 7, 8]}, r"qid\[0\] is 1 day, 0:00:00 \(timedelta\); allowed are"),
        *(({"qid": np.array([1, 1, 2, 2], dtype)}, r"qid\[0\] is .*; allowed are") for dtype in ("m8[s]", "c16")),
        ({"qid": QID, "docid": ["x", "x", "y", "z"]}, r"docid\[1\] = 'x' occurs twice in its query"),
        ({"qid": MIXED, "docid": ["x", "z", "x", "y"]}, r"docid\[2\] = 'x' occurs twice in its query"),
        ({"qid": QID, "docid": ["x", None, "y", "z"]}, r"docid\[1\] is None, but docids are strings"),
        ({"qid": QID, "docid": [1, 2, 3, 4]}, r"docid\[0\] is .*1.*, but docids are strings"),
        ({"qid": QID, "docid": ["x"]}, "docid has 1 rows"),
        ({"qid": QID, "retrieved": [1, 1, 0, 1]}, "one bool per row"),
        ({"qid": QID, "judged": [True]}, "judged has 1 rows"),
        (
            {"qid": MIXED, "retrieved": [True, False, True, True], "judged": [True, False, True, True]},
            "row 1 is neither",
        ),
        ({"qid": MIXED, "judged": [True, False, True, True]}, "row 1 was retrieved but not judged"),
    ],
)
def test_bad_columns_are_refused(columns, problem):
    assert_refused(problem, LABELS, SCORES, CONV, **columns)


def test_ties_by_docid_are_refused_without_docids():
    with pytest.raises(ra.InputError, match=r"needs docid=(.|\n)*Hint: .*replace\(ties='input'\)"):
        ra.evaluate(LABELS, SCORES, CONV.replace(ties="docid-descending"), qid=QID)


@for_each(
    ("changes", "columns", "problem"),
    [
        ({"empty": "error"}, {"qid": ["a", "b", "c", "b"]}, "query b has nothing to find"),
        ({"missing": "error"}, {"qid": QID, "retrieved": [False, False, True, True]}, "query a is judged but nothing"),
    ],
)
def test_empty_and_missing_queries_are_refused_under_the_policy_error(changes, columns, problem):
    assert_refused(problem, [1, 0, 0, 0], SCORES, CONV.replace(**changes), **columns)


def test_different_pandas_indexes_are_refused():
    reversed_index = [3, 2, 1, 0]
    labels, scores, qid = (pd.Series(column, index=reversed_index) for column in (LABELS, SCORES, QID))
    assert_refused(
        "scores has a different pandas index from labels", labels, pd.Series(SCORES), CONV, qid=np.array(QID)
    )
    assert_refused("qid has a different pandas index from labels", labels, SCORES, CONV, qid=pd.Series(QID))
    assert_refused("scores has a different pandas index", LABELS, pd.Series(SCORES), CONV, qid=qid)
    assert_refused("docid has a different pandas index", LABELS, SCORES, CONV, qid=qid, docid=pd.Series(list("abcd")))
    assert ra.evaluate(labels, scores, CONV, qid=np.array(QID))


def test_queries_passed_as_labels_take_no_other_columns():
    queries = ra.Queries(LABELS, qid=QID)
    assert ra.evaluate(queries, SCORES, CONV) == ra.evaluate(LABELS, SCORES, CONV, qid=QID)
    with pytest.raises(ra.InputError, match="qid was passed together with a Queries"):
        ra.evaluate(queries, SCORES, CONV, qid=QID)


COLUMN_KINDS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.asarray,
    "float32": lambda column: np.asarray(column, None if isinstance(column[0], str) else np.float32),
    "pandas": pd.Series,
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow chunked": lambda column: pa.chunked_array([pa.array(column[:1]), pa.array(column[1:])]),
}


@for_each("kind", COLUMN_KINDS)
def test_columns_of_every_library_give_the_same_score(kind):
    to_column = COLUMN_KINDS[kind]
    score = ra.evaluate(to_column(LABELS), to_column(SCORES), CONV, qid=to_column(QID))
    assert score.value == ra.evaluate(LABELS, SCORES, CONV, qid=QID).value


def test_inputs_are_copied_and_not_changed():
    labels, scores, qid = np.array([1.0, 0.0]), np.array([0.1, 0.2]), np.array([1, 1])
    evaluator = ra.Evaluator(labels, CONV, qid=qid)
    score = evaluator.evaluate(scores)
    labels[:] = 0
    qid[:] = [1, 2]
    assert evaluator.evaluate(scores) == score
    assert scores.tolist() == [0.1, 0.2]
    with pytest.raises(ValueError, match="read-only"):
        evaluator.queries.labels[0] = 5


def test_unused_labels_and_scores_may_be_nan():
    convention = CONV.replace(unjudged="zero")
    score = ra.evaluate([np.nan, 1, 1], [0.9, 0.5, np.nan], convention, group_sizes=[3],
                        judged=[False, True, True], retrieved=[True, True, False])  # fmt: skip
    assert score.value == pytest.approx((1 / np.log2(3)) / (1 + 1 / np.log2(3)))


@for_each("name", ["labels", "scores", "qid"])
def test_masked_entries_are_refused(name):
    columns = {"labels": np.array(LABELS), "scores": np.array(SCORES), "qid": np.array([1, 1, 2, 2])}
    columns[name] = np.ma.masked_array(columns[name], [False, True, False, False])
    with pytest.raises(ra.InputError, match=f"{name} has masked entries"):
        ra.evaluate(columns["labels"], columns["scores"], CONV, qid=columns["qid"])


def test_weights_indexed_by_query_id_in_another_order_are_refused():
    weights = pd.Series({"a": 0.5, "b": 1.0})
    with pytest.raises(ra.InputError, match="indexed by query id, in an order other than"):
        ra.evaluate(LABELS, SCORES, WEIGHTED, qid=["b", "b", "a", "a"], query_weight=weights)
    assert ra.evaluate(LABELS, SCORES, WEIGHTED, qid=QID, query_weight=weights)
    ids = ra.Queries(LABELS, qid=["b", "b", "a", "a"]).query_ids
    assert ra.evaluate(LABELS, SCORES, WEIGHTED, qid=["b", "b", "a", "a"], query_weight=weights.loc[ids])


@for_each("qid", [[2**63, 2**63, 2**63 + 1, -1], [2**53, 2**53, 2**53 + 1, 0.5]])
def test_large_query_ids_that_float64_would_merge_stay_apart(qid):
    assert ra.Queries(LABELS, qid=qid).n_queries == 3


class Tensor:
    """An array that supports only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.array.__dlpack__()


def test_arrays_that_support_dlpack_are_read():
    labels, scores, qid = np.array([0.0, 2.0, 1.0]), np.array([0.1, 0.4, 0.3], np.float32), np.array([1, 1, 2])
    expected = ra.evaluate(labels, scores, "lightgbm@10", qid=qid)
    assert ra.evaluate(Tensor(labels), Tensor(scores), "lightgbm@10", qid=Tensor(qid)) == expected
    tensor = pytest.importorskip("torch").tensor
    assert ra.evaluate(tensor(labels), tensor(scores), "lightgbm@10", qid=tensor(qid)) == expected
