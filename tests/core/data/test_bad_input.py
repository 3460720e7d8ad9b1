"""Bad input is refused with an error that names the value and suggests a fix."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankadapters as ra

CONV = ra.presets.textbook(3)
LABELS, SCORES, QID = [1, 0, 2, 0], [0.1, 0.4, 0.3, 0.2], ["a", "a", "b", "b"]
WEIGHTED = CONV.replace(average="query")


def assert_refused(problem, labels, scores, convention, **columns):
    with pytest.raises(ra.InputError, match=problem):
        ra.evaluate(labels, scores, convention, **columns)


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


@pytest.mark.parametrize("kind", COLUMN_KINDS)
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


def test_weights_indexed_by_query_id_in_another_order_are_refused():
    weights = pd.Series({"a": 0.5, "b": 1.0})
    with pytest.raises(ra.InputError, match="indexed by query id, in an order other than"):
        ra.evaluate(LABELS, SCORES, WEIGHTED, qid=["b", "b", "a", "a"], query_weight=weights)
    assert ra.evaluate(LABELS, SCORES, WEIGHTED, qid=QID, query_weight=weights)
    ids = ra.Queries(LABELS, qid=["b", "b", "a", "a"]).query_ids
    assert ra.evaluate(LABELS, SCORES, WEIGHTED, qid=["b", "b", "a", "a"], query_weight=weights.loc[ids])


@pytest.mark.parametrize("qid", [[2**63, 2**63, 2**63 + 1, -1], [2**53, 2**53, 2**53 + 1, 0.5]])
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


def chunked_categories(values):
    """Return a column as pyarrow reads a pandas Categorical from a Parquet file."""
    return pa.chunked_array([pa.array(values)]).dictionary_encode()


@pytest.mark.parametrize(
    ("name", "values", "problem"),
    [
        ("labels", [1.0, None, 2.0, 0.0], r"labels\[1\] is nan"),
        ("labels", [1, None, 2, 0], r"labels\[1\] is nan"),
        ("scores", [0.5, None, 2.0, 0.0], r"scores\[1\] is nan"),
        ("qid", ["a", None, "b", "b"], r"qid\[1\] is None, but every row belongs to a query"),
        ("qid", [7, None, 8, 8], r"qid\[1\] is nan, but every row belongs to a query"),
        ("by", ["x", None, "y", "y"], r"by\[1\] is None, but every query belongs to a segment"),
        ("docid", ["x", None, "y", "z"], r"docid\[1\] is None, but docids are strings"),
        ("row_weight", [1.0, None, 2.0, 0.0], r"row_weight\[1\] is nan"),
        ("query_weight", [1.0, None], r"query_weight\[1\] is nan"),
        ("retrieved", [True, None, True, False], "retrieved has dtype object"),
    ],
)
def test_a_null_among_the_categories_of_chunks_is_missing(name, values, problem):
    columns = {"labels": LABELS, "scores": SCORES, "qid": QID} | {name: chunked_categories(values)}
    assert_refused(problem, columns.pop("labels"), columns.pop("scores"), CONV, **columns)


@pytest.mark.parametrize("kind", [list, lambda column: pa.table({"model": chunked_categories(column)})["model"]])
def test_categories_of_chunks_are_their_values(kind):
    chunks = pa.chunked_array([pa.array(["b", "a"]).dictionary_encode(), pa.array(["a", "c"]).dictionary_encode()])
    queries = ra.Queries(kind([1, 0, 2, 0]), qid=chunks)
    assert (queries.query_ids.tolist(), queries.labels.tolist()) == (["b", "a", "c"], [1, 0, 2, 0])


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        ([1, 1, "1", "1"], r"qid\[2\] is '1' \(text\), but qid\[0\] is 1 \(number\)"),
        ([True, True, 1, 1], r"qid\[2\] is 1 \(number\), but qid\[0\] is True \(bool\)"),
        ([0.0, False, 1, 2], r"qid\[1\] is False \(bool\), but qid\[0\] is 0.0 \(number\)"),
        (["a", b"a", "a", "b"], r"qid\[1\] is b'a' \(bytes\)"),
        ([("a", 1), ("a", "1"), ("b", 1), ("b", 1)], r"qid\[1\] is \('a', '1'\) \(\(text, text\)\)"),
        ([(1, 2), (True, 2), (1, 3), (1, 3)], r"qid\[1\] is \(True, 2\) \(\(bool, number\)\)"),
        ([date(2026, 1, 31), pd.Timestamp("2026-01-31")] * 2, r"\(datetime\), but qid\[0\] .*\(date\)"),
    ],
)
def test_ids_of_several_types_in_one_column_are_refused(ids, problem):
    column = np.fromiter(ids, object, len(ids))
    for qid in (ids, column, pd.Series(column, dtype=object)):
        assert_refused(problem + r"(.|\n)*Hint: one type in the column", LABELS, SCORES, CONV, qid=qid)
    if isinstance(ids[0], tuple):
        return
    with pytest.raises(ra.InputError, match=r"qid (cannot become an Arrow column|holds values of several types)"):
        ra.evaluate_table({"label": LABELS, "score": SCORES, "qid": ids}, CONV)


def test_bools_among_numbers_are_labels_and_scores():
    mixed = ra.evaluate([True, 0, 2, False], [0.1, True, 0.3, 0.2], CONV, qid=QID)
    assert mixed == ra.evaluate([1, 0, 2, 0], [0.1, 1, 0.3, 0.2], CONV, qid=QID)
    table = {"label": [True, 0, 2, False], "score": [0.1, True, 0.3, 0.2], "qid": QID}
    assert ra.evaluate_table(table, CONV) == mixed


@pytest.mark.parametrize(
    ("sizes", "hint"),
    [
        ([0, 2, 5], "numpy.diff(group_sizes)"), ([2, 5], "numpy.diff(group_sizes, prepend=0)"),
        (np.array([0, 1, 3, 5]), "numpy.diff(group_sizes)"), ([0, 5], "numpy.diff(group_sizes)"),
    ],
)  # fmt: skip
def test_offsets_as_group_sizes_are_recognized(sizes, hint):
    with pytest.raises(ra.InputError, match="as offsets do, but the number of rows of each query") as caught:
        ra.Queries([1, 0, 1, 0, 2], group_sizes=sizes)
    assert str(caught.value).endswith(f"Hint: {hint}.")
    assert ra.Queries([1, 0, 1, 0, 2], group_sizes=eval(hint, {"numpy": np, "group_sizes": sizes}))  # noqa: S307 - ours


@pytest.mark.parametrize("sizes", [[5], [1, 4], [2, 3]])
def test_rising_group_sizes_are_no_offsets(sizes):
    assert ra.Queries([1, 0, 1, 0, 2], group_sizes=sizes).group_sizes.tolist() == sizes


def test_matrices_with_a_query_in_each_row_are_refused_with_the_columns_to_make():
    labels, scores = np.array([[1, 0, 2], [0, 1, 0]]), np.array([[0.5, 0.2, 0.1], [0.1, 0.2, 0.3]])
    with pytest.raises(ra.InputError, match=r"if each row is a query, labels\.ravel\(\) and group_sizes=\[3\] \* 2"):
        ra.evaluate(labels, scores, "sklearn@3")
    with pytest.raises(ra.InputError, match=r"scores\.ravel\(\) and group_sizes=\[3\] \* 2"):
        ra.evaluate(labels.ravel(), scores, "sklearn@3", group_sizes=[3, 3])
    assert ra.evaluate(labels.ravel(), scores.ravel(), "sklearn@3", group_sizes=[3] * 2).n_queries == 2


@pytest.mark.parametrize(
    ("problem", "columns"),
    [
        (r"qid has shape \(2, 3\), .*\nHint: a single column\.", {"qid": np.zeros((2, 3))}),
        (r"labels has shape \(2, 2, 2\), .*\nHint: a single column\.", {"labels": np.zeros((2, 2, 2))}),
        (r"labels has shape \(\), .*\nHint: a single column\.", {"labels": 1}),
        (r"labels is \{'a': 1\}, .*\nHint: an array, a list or a column\.", {"labels": {"a": 1}}),
        (r"scores is 'score', .*\nHint: an array, a list or a column, such as df\['score'\]", {"scores": "score"}),
        (r"scores is \{'m': .*\nHint: the scores of one model", {"scores": {"m": [1, 2]}}),
        (r"scores has an integer of 9007199254740993, beyond 2\^53", {"scores": [-(2**53) - 1, 0.5]}),
        (r"qid\[0\] is \(1\+2j\) \(complex128\)", {"qid": np.array([1 + 2j, 1])}),
        (r"pairs winner has dtype float64, but row numbers are needed", {"pairs": ([0.5], [1])}),
        (r"pairs loser\[0\] is 2, but the rows are 0 to 1", {"pairs": ([0], [2])}),
        (r"pairs winner\[0\] is -1, but the rows are 0 to 1", {"pairs": ([-1], [1])}),
    ],
    ids=str,
)
def test_a_column_of_a_wrong_shape_or_type_is_refused_with_a_fitting_hint(problem, columns):
    columns = {"labels": [1, 0], "qid": [7, 7], "scores": [2, 1], **columns}
    scores = columns.pop("scores")
    with pytest.raises(ra.InputError, match=problem):
        ra.Evaluator(columns.pop("labels"), "textbook@1", **columns).evaluate(scores)


def test_the_largest_exact_integer_is_a_score_beside_a_float():
    assert ra.evaluate([1, 0], [2**53, 0.5], "textbook@1", group_sizes=[2]).value == 1
