"""`check_parity` of each toolkit passes rows, weights and gains in the toolkit's form and says what this changed."""

from __future__ import annotations

import dataclasses
import importlib
import re
import sys

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.evaluation.evaluator import Evaluator
from tests.helpers.rankings import ranking

TOOLKITS = ("sklearn", "lightgbm", "xgboost", "catboost")


def checker(toolkit):
    pytest.importorskip(toolkit)
    return getattr(ra, toolkit).check_parity


def load_toolkit(toolkit):
    pytest.importorskip(toolkit)
    return importlib.import_module(f"rankadapters.{toolkit}.parity").TOOLKIT


def test_scikit_learn_has_no_models_to_check():
    with pytest.raises(ra.InputError, match=r"scikit-learn has no models that know their metric\.\nHint: check_parity"):
        load_toolkit("sklearn").check_model(None, None, "sklearn@5")


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_one_number_takes_one_pass(toolkit, monkeypatch):
    data, check, evaluators, measure = ranking(0), checker(toolkit), [], Evaluator.measure
    monkeypatch.setattr(
        Evaluator, "measure", lambda evaluator, columns: evaluators.append(evaluator) or measure(evaluator, columns)
    )
    for scores in (data.X[:, 1], data.X[:, 1] + np.arange(data.y.size) * 1e-3):  # tied, and without a tie
        evaluators.clear()
        assert [row.verdict for row in check(data.y, scores, f"{toolkit}@5", qid=data.qid).rows] == ["equal"]
        assert len(evaluators) == 1


@pytest.mark.parametrize(
    ("toolkit", "source"),
    [
        ("sklearn", "sklearn.metrics.ndcg_score(k=5)"),
        ("lightgbm", "lightgbm ndcg@5"),
        ("xgboost", "xgboost ndcg@5 ndcg_exp_gain=True"),
        ("catboost", "catboost.utils.eval_metric NDCG:top=5;type=Base;denominator=LogPosition"),
    ],
)
def test_interleaved_weighted_queries_with_any_ids_agree_and_name_the_source(toolkit, source):
    data, convention = ranking(3), getattr(ra.presets, toolkit)(5)
    shuffle = np.random.default_rng(1).permutation(data.qid.size)
    qid = np.array([f"q{query}" for query in data.qid])[shuffle]
    queries = ra.Queries(data.y[shuffle], qid=qid, query_weight=np.linspace(2, 3, np.unique(qid).size))
    report = checker(toolkit)(queries, data.X[shuffle, 1], convention)
    report.raise_if_failed()
    [row] = report.rows
    assert (row.convention, row.source, row.tolerance) == (convention, source, 1e-9)
    assert row.version == sys.modules[toolkit].__version__


# The report names what a toolkit rounds or leaves out.

NDCG_3 = ra.presets.sklearn(3)
DCG_3 = ra.DCG(**{name: value for name, value in NDCG_3.to_dict().items() if name in ra.DCG.fields()})
FLOAT32_MEANS = "query_weight is the float32 mean of row weights."
ROUNDED = "labels rounded to float32, as XGBoost stores them.\nquery_weight rounded to float32."
LEFT_OUT = "scikit-learn refuses one-document queries: 1 left out on both sides."


@pytest.mark.parametrize(
    ("convention", "labels", "scores", "sizes", "weights", "source", "reason"),
    [
        (ra.presets.lightgbm(5, label_gain=[0, 1, 5]), [2, 0, 1], [1, 2, 2], [3], None,
         "lightgbm ndcg@5 label_gain", ""),
        (ra.presets.lightgbm(2), [1, 0, 1], [1, 2, 3], [2, 1], [0.1, 1], "lightgbm ndcg@2", FLOAT32_MEANS),
        (ra.presets.xgboost(2, ndcg_exp_gain=False), [0.1, 0.7, 1], [1, 2, 3], [3], [0.1],
         "xgboost ndcg@2 ndcg_exp_gain=False", ROUNDED),
        (DCG_3, [3, -1, 2, 1, 0], [0.1, 0.2, 0.3, 0.3, 1], [3, 2], [1, 3], "sklearn.metrics.dcg_score(k=3)", ""),
        (NDCG_3, [3, 1, 2, 1], [0.1, 0.2, 0.3, 0.3], [3, 1], None, "sklearn.metrics.ndcg_score(k=3)", LEFT_OUT),
    ],
)  # fmt: skip
def test_the_row_names_the_metric_and_what_the_toolkit_rounds_or_leaves_out(
    *, convention, labels, scores, sizes, weights, source, reason
):
    check = checker(source.replace(".", " ").partition(" ")[0])
    report = check(labels, scores, convention, group_sizes=sizes, query_weight=weights)
    assert report.ok
    assert [(row.source, row.reason) for row in report.rows] == [(source, reason)]


@pytest.mark.parametrize("toolkit", TOOLKITS)
@pytest.mark.parametrize(
    ("scores", "verdict"),
    [([1, 2, 2, 4], "not-comparable"), ([1, 2, 3, 4], "equal-on-this-data")],
    ids=["tied", "apart"],
)
def test_parity_holds_only_if_the_declared_convention_was_compared(toolkit, scores, verdict):
    check, labels = checker(toolkit), [2, 0, 1, 0]
    convention = f"{toolkit}@3+ties=best"  # no toolkit ranks the relevant one of tied rows first
    for report in (
        check(labels, scores, convention, group_sizes=[4]),
        ra.parity.crosscheck(labels, scores, convention, group_sizes=[4], toolkits=[toolkit]),
    ):
        nearest, declared = report.rows  # what was compared instead is a row of its own
        assert (nearest.verdict, declared.verdict) == ("equal", verdict)
        assert report.ok is (verdict != "not-comparable")
        if report.ok:
            report.raise_if_failed()
            continue
        fix = re.escape(repr(nearest.convention.short_name))
        with pytest.raises(
            ra.parity.ParityError,
            match=r"^parity fails: 1 equal, 1 not-comparable; 1 toolkit must be compared under the declared "
            rf"convention, none could be \(of: {toolkit}\); declare what was compared instead: {fix}\n",
        ):
            report.raise_if_failed()
        assert check(labels, scores, nearest.convention.short_name, group_sizes=[4]).ok


def test_xgboost_differs_from_a_float64_convention_only_where_scores_tie_in_float32():
    convention = ra.presets.xgboost(2).replace(precision="float64")
    report = checker("xgboost")([1, 0], [0.5, 0.5 + 1e-12], convention, group_sizes=[2])
    assert report.rows[1].verdict == "not-comparable"
    assert "precision='float64'" in report.rows[1].reason
    assert checker("xgboost")([1, 0], [0.5, 0.6], convention, group_sizes=[2]).rows[1].verdict == "equal-on-this-data"


@pytest.mark.long
@pytest.mark.parametrize("sizes", [[10_000], [3, 10_000, 2]])
def test_lightgbm_takes_ten_thousand_rows_in_a_query(sizes):
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 3, sum(sizes)), rng.normal(size=sum(sizes))
    checker("lightgbm")(labels, scores, ra.presets.lightgbm(None), group_sizes=sizes).raise_if_failed()


def test_weights_that_bring_xgboosts_mean_above_1_give_its_own_error():
    # XGBoost 3.2.0, rank_metric.cc: an empty query adds 1 whatever its weight.
    columns = {"group_sizes": [2, 2], "query_weight": [0.1, 0.2]}
    with pytest.raises(ra.InputError, match=r"^xgboost refuses: (?!\[\d).*Invalid output score.*\nHint: fix the data"):
        checker("xgboost")([0, 0, 1, 0], [4, 3, 2, 1], ra.presets.xgboost(2), **columns)


@pytest.mark.parametrize("toolkit", ["sklearn", "lightgbm", "xgboost"])
def test_a_toolkit_that_ranks_some_queries_wrongly_is_caught(toolkit, monkeypatch):
    toolkit_class = type(load_toolkit(toolkit))
    ask, data = toolkit_class.ask, ranking(5)
    scores = data.X[:, 0] - data.y * 0.01

    def ask_wrongly(self, prepared, words):
        size_of_query = np.repeat(np.diff(prepared.queries.indptr), np.diff(prepared.queries.indptr))
        flipped = np.where(size_of_query == data.sizes.max(), -prepared.scores, prepared.scores)
        return ask(self, dataclasses.replace(prepared, scores=flipped), words)

    monkeypatch.setattr(toolkit_class, "ask", ask_wrongly)
    report = checker(toolkit)(data.y, scores, getattr(ra.presets, toolkit)(5), qid=data.qid)
    assert (report.rows[0].verdict, report.ok) == ("different", False)


# Interleaved rows and weights.


def interleaved(n_queries=6):
    """Make labels, scores and query ids of interleaved rows, and a weight per query."""
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.arange(n_queries), rng.integers(2, 7, n_queries)))
    labels, scores = rng.integers(0, 4, qid.size).astype(float), rng.normal(size=qid.size)
    return labels, scores, qid, rng.uniform(0.2, 5, n_queries).astype(np.float32).astype(float)


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("metrics", [None, ["NDCG:top=3"]])
def test_group_weights_of_interleaved_rows_reach_catboost_with_their_rows(even, metrics):
    cb = pytest.importorskip("catboost")
    labels, scores, qid, weights = interleaved()
    by_row = weights[qid].copy()
    if not even:
        by_row[np.flatnonzero(qid == qid[-1])[-1]] += 1  # not the first row of its query
    convention = ra.presets.catboost(3)
    row = ra.catboost.check_parity(labels, scores, convention, qid=qid, group_weight=by_row, metrics=metrics).rows[0]
    order = np.argsort(qid, kind="stable")
    [catboost_value] = cb.utils.eval_metric(
        labels[order], scores[order], "NDCG:top=3", group_id=qid[order], group_weight=by_row[order]
    )
    assert row.value == pytest.approx(catboost_value, abs=1e-12)
    assert row.verdict == "equal"
    ids_by_first_row = list(dict.fromkeys(qid.tolist()))
    our_value = ra.evaluate(labels, scores, convention, qid=qid, query_weight=weights[ids_by_first_row]).value
    assert row.our_value == our_value
    assert abs(our_value - ra.evaluate(labels, scores, convention, qid=qid).value) > 0.001
    assert ("varies within query" in row.reason) is not even


def test_object_weights_of_interleaved_rows_reach_catboosts_auc_with_their_rows():
    check = checker("catboost")
    labels, scores, qid, _ = interleaved()
    queries = ra.Queries(labels > 1, qid=qid, row_weight=np.arange(1.0, qid.size + 1))
    report = check(queries, scores, ra.presets.catboost.auc(weights="row"))
    report.raise_if_failed()
    assert report.rows[0].our_value != ra.evaluate(labels > 1, scores, ra.presets.catboost.auc(), qid=qid).value


@pytest.mark.parametrize(
    ("toolkit", "label"), [("sklearn", -1), ("lightgbm", 40), ("xgboost", 40), ("lightgbm", 0.5), ("catboost", -1)]
)
def test_an_error_names_the_index_of_the_callers_row(toolkit, label):
    check = checker(toolkit)
    labels, scores, qid, _ = interleaved()
    row = int(np.flatnonzero(qid == qid[0])[1])
    assert row != 1  # 1 is its index once rows are sorted by query
    labels[row] = label
    convention = getattr(ra.presets, toolkit)(3)
    if toolkit == "catboost":
        convention = convention.replace(gain="exp2")
    with pytest.raises(ra.InputError, match=rf"labels\[{row}\] is {label:g}"):
        check(labels, scores, convention, qid=qid)
    if toolkit == "lightgbm":
        weights = np.where(np.arange(qid.size) == row, 1e300, 1)
        queries = ra.Queries(scores > 1, qid=qid, row_weight=weights)
        with pytest.raises(ra.InputError, match=rf"row_weight\[{row}\] is 1e\+300, beyond float32, in which LightGBM"):
            check(queries, scores, ra.presets.lightgbm.auc())


@pytest.mark.parametrize(("metric", "weighted"), [("auc", True), ("auc", False), ("average_precision", True)])
def test_row_weights_reach_lightgbms_metrics_over_all_rows(metric, weighted):
    check, data = checker("lightgbm"), ranking(2)
    weights = np.random.default_rng(0).uniform(0.1, 3, data.y.size) if weighted else None
    convention = getattr(ra.presets.lightgbm, metric)()
    report = check(ra.Queries(data.y > 0, qid=data.qid, row_weight=weights), data.X[:, 1], convention)
    report.raise_if_failed()
    assert report.rows[0].reason == ("row_weight rounded to float32." if weighted else "")
    if weighted:
        plain = ra.evaluate(data.y > 0, data.X[:, 1], convention, qid=data.qid).value
        assert abs(report.rows[0].value - plain) > 1e-4


def weighted_data(*, interleaved):
    """Make binary labels, tied scores, query ids and query weights in the order of the queries' first rows."""
    rng = np.random.default_rng(0)
    labels, scores, weights = rng.integers(0, 2, 200), rng.normal(size=200).round(1), rng.uniform(0.5, 2, 10)
    rows = rng.permutation(200) if interleaved else np.arange(200)
    qid = np.repeat(np.arange(10), 20)[rows]
    return labels[rows], scores[rows], {"qid": qid, "query_weight": weights[list(dict.fromkeys(qid.tolist()))]}


WEIGHTED = [weighted_data(interleaved=False), weighted_data(interleaved=True)]
for_both_data_sets = pytest.mark.parametrize(
    "data", [pytest.param(data, id=name) for data, name in zip(WEIGHTED, ("together", "interleaved"), strict=True)]
)


@for_both_data_sets
@pytest.mark.parametrize("text", ["xgboost.auc", "catboost.precision_at@5", "catboost.recall_at@5", "catboost.map@5"])
def test_weights_that_neither_side_counts_are_ignored_and_the_report_says_so(data, text):
    labels, scores, columns = data
    [row] = checker(text.partition(".")[0])(labels, scores, text, **columns).rows
    unweighted = ra.evaluate(labels, scores, text, qid=columns["qid"]).value
    assert (row.verdict, row.our_value) == ("equal", pytest.approx(unweighted, abs=1e-12))
    assert row.reason.startswith("query_weight does not count: neither under average='uniform' nor in ")


@for_both_data_sets
@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost"])
def test_weights_that_the_toolkit_counts_are_refused_under_a_convention_that_does_not(data, toolkit):
    labels, scores, columns = data
    with pytest.raises(ra.InputError, match=r"would ignore it.\nHint: convention.replace\(average='query'\)"):
        checker(toolkit)(labels, scores, f"{toolkit}@5+average=uniform", **columns)


OVER_ALL_ROWS = [
    "lightgbm.auc", "lightgbm.average_precision", "sklearn.roc_auc_score", "sklearn.average_precision_score",
    f"xgboost.{ra.presets.xgboost.auc(groups=False)}",
]  # fmt: skip


@for_both_data_sets
@pytest.mark.parametrize("text", OVER_ALL_ROWS)
def test_a_metric_over_all_rows_counts_query_weights_as_row_weights(data, text):
    labels, scores, columns = data
    toolkit, _, signature = text.partition(".")
    declared = ra.parse(text if toolkit != "xgboost" else signature).replace(average="query")
    report = checker(toolkit)(labels, scores, declared, **columns)
    assert [row.verdict for row in report.rows] == ["equal", "equal-on-this-data"]
    expected = ra.evaluate(labels, scores, declared, **columns).value
    assert report.rows[1].our_value == pytest.approx(expected, abs=1e-7)  # LightGBM rounds the weights to float32
    assert abs(expected - ra.evaluate(labels, scores, declared, qid=columns["qid"]).value) > 1e-4  # the weights matter
    assert ra.parity.crosscheck(labels, scores, declared, toolkits=[toolkit], **columns).ok
