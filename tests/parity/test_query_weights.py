"""Query weights where a toolkit's metric knows none, and where it knows weights of rows only."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.parity.checks import compare_numbers

QID = np.repeat(np.arange(10), 20)
IDLE = [
    ("xgboost", "xgboost.auc"),
    *(("catboost", f"catboost.{name}@5") for name in ("precision_at", "recall_at", "map")),
]
BY_ROW = [
    ("lightgbm", "lightgbm.auc"),
    ("lightgbm", "lightgbm.average_precision"),
    ("sklearn", "sklearn.roc_auc_score"),
    ("sklearn", "sklearn.average_precision_score"),
    ("xgboost", str(ra.presets.xgboost.auc(groups=False))),
]


@pytest.fixture(params=["together", "mixed"])
def data(request):
    """Binary labels, tied scores and weights of the queries, in the order of their first rows."""
    rng = np.random.default_rng(0)
    labels, scores, weights = rng.integers(0, 2, 200), rng.normal(size=200).round(1), rng.uniform(0.5, 2, 10)
    rows = np.arange(200) if request.param == "together" else rng.permutation(200)
    qid = QID[rows]
    return labels[rows], scores[rows], {"qid": qid, "query_weight": weights[list(dict.fromkeys(qid.tolist()))]}


@pytest.mark.parametrize(("toolkit", "convention"), IDLE)
def test_weights_that_neither_side_counts_are_told_the_toolkit_and_left_aside(data, toolkit, convention):
    pytest.importorskip(toolkit)
    labels, scores, columns = data
    [row] = getattr(ra, toolkit).check_parity(labels, scores, convention, **columns).rows
    assert (row.verdict, row.our_value) == (
        "equal", pytest.approx(ra.evaluate(labels, scores, convention, qid=columns["qid"]).value, abs=1e-12)
    )  # fmt: skip
    assert row.reason.startswith("query_weight does not count: neither under average='uniform' nor in ")


@pytest.mark.parametrize(("toolkit", "convention"), [("lightgbm", "lightgbm@5"), ("xgboost", "xgboost@5")])
def test_weights_that_the_toolkit_counts_are_refused_under_a_convention_that_does_not(data, toolkit, convention):
    pytest.importorskip(toolkit)
    labels, scores, columns = data
    with pytest.raises(ra.InputError, match=r"would ignore it.\nHint: convention.replace\(average='query'\)"):
        getattr(ra, toolkit).check_parity(labels, scores, f"{convention}+average=uniform", **columns)


@pytest.mark.parametrize(("toolkit", "own"), BY_ROW)
def test_a_weight_of_each_rows_query_is_a_row_weight_to_a_metric_of_all_rows(data, toolkit, own):
    pytest.importorskip(toolkit)
    labels, scores, columns = data
    declared = ra.parse(own).replace(average="query")
    report = getattr(ra, toolkit).check_parity(labels, scores, declared, **columns)
    assert [row.verdict for row in report.rows] == ["equal", "equal-on-this-data"]
    expected = ra.evaluate(labels, scores, declared, **columns).value
    assert report.rows[1].our_value == pytest.approx(expected, abs=1e-7)  # LightGBM rounds the weights to float32
    assert abs(expected - ra.evaluate(labels, scores, declared, qid=columns["qid"]).value) > 1e-4  # the weights matter


def test_a_cross_check_under_lightgbms_auc_with_query_weights_holds(data):
    pytest.importorskip("lightgbm")
    labels, scores, columns = data
    report = ra.parity.crosscheck(labels, scores, "lightgbm.auc+average=query", toolkits=["lightgbm"], **columns)
    assert report.ok


@pytest.mark.parametrize("column", ["query_weight", "row_weight"])
def test_weights_that_the_convention_does_not_count_are_refused_beside_numbers(data, column):
    labels, scores, columns = data
    weights = {column: columns["query_weight"] if column == "query_weight" else np.linspace(1, 2, labels.size)}
    columns = {"qid": columns["qid"], **weights}
    convention, refused = ra.parse("textbook@5"), f"{column} .*would ignore it"
    with pytest.raises(ra.InputError, match=refused):
        ra.parity.check_value(labels, scores, convention, value=0.5, **columns)
    with pytest.raises(ra.InputError, match=refused):
        ra.parity.crosscheck(labels, scores, convention, toolkits=[], **columns)
    with pytest.raises(ra.InputError, match=refused):
        compare_numbers(0.25, 0.5, convention=convention, queries=ra.Queries(labels, **columns), scores=scores)
