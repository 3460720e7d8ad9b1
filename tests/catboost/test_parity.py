"""`catboost.check_parity`: metric strings and weights, what the report says, and bad input."""

from math import log2

import numpy as np
import pytest

import rankadapters as ra

cb = pytest.importorskip("catboost")

from rankadapters.catboost import models  # noqa: E402
from tests.catboost.records import (  # noqa: E402
    BASE,
    convention_of,
    records,
    values_by_metric,
    weighted_columns,
    without_undefined_gains,
)  # fmt: skip

# Metric strings.


@pytest.mark.long
@pytest.mark.parametrize("record", records())
def test_every_recorded_metric_equals_the_record_and_ours(record):
    recorded = values_by_metric(record)
    assert len(recorded) == 49
    columns = {"group_sizes": record["group"], "query_weight": record.get("query_weight")}
    extra = {"weight": record["row_weight"]} if "row_weight" in record else {}
    report = ra.catboost.check_parity(record["labels"], record["scores"], BASE, **columns, **extra, metrics=recorded)
    rows = {row.source.removeprefix("catboost.utils.eval_metric "): row for row in report.rows[: len(recorded)]}
    assert {metric: row.value for metric, row in rows.items()} == pytest.approx(recorded, rel=1e-9)
    for metric, row in rows.items():
        if metric in without_undefined_gains(recorded, record["labels"]):
            assert (row.verdict, row.convention) == ("equal", convention_of(metric))
        else:
            assert row.verdict == "not-comparable"
            assert "our exp2 refuses it" in row.reason
    assert report.ok is (min(record["labels"]) >= 0)


@pytest.mark.parametrize(
    ("metric", "is_rounded"),
    [("ERR", True), ("AUC", True), ("QueryAUC:type=Classic", True), ("PFound", False), ("AUC:type=Ranking", False)],
)
def test_the_tolerance_covers_complements_that_catboost_rounds_to_float32(metric, is_rounded):
    """In ERR and the classic AUC, CatBoost subtracts labels from 1 in float32, with a rounding error of up to 2^-24."""
    rng = np.random.default_rng(0)
    labels, scores = rng.uniform(0, 1, 60), rng.normal(size=60)
    report = ra.catboost.check_parity(labels, scores, BASE, group_sizes=[6] * 10, metrics=[metric])
    row = report.rows[0]
    assert (row.verdict, row.tolerance) == ("equal", 2e-7 if is_rounded else 1e-9)
    assert (abs(row.difference) > 1e-12) is is_rounded


def test_metrics_that_are_not_the_declared_convention_say_what_differs():
    columns = {"labels": [1, 0], "scores": [2, 1], "convention": BASE, "group_sizes": [2]}
    report = ra.catboost.check_parity(**columns, metrics=["NDCG:top=10;type=Exp"])
    assert not report.ok
    assert report.unmet.endswith("(of: catboost); declare what was compared instead: 'catboost@10+gain=exp2'")
    metric_row, declared_row = report.rows
    assert metric_row.reason == "Declared is gain='linear', only gain='exp2'."
    assert (declared_row.verdict, declared_row.our_value) == ("not-comparable", 1.0)
    assert "None of the metrics above is the declared convention. CatBoost can express it." in declared_row.reason
    assert [row.verdict for row in ra.catboost.check_parity(**columns, metrics=["NDCG:top=10"]).rows] == ["equal"]


@pytest.mark.parametrize(("scores", "verdict"), [([2, 2, 1], "not-comparable"), ([3, 2, 1], "equal-on-this-data")])
def test_the_nearest_metric_stands_for_the_declared_convention_where_they_cannot_differ(scores, verdict):
    columns = {"labels": [1, 0, 2], "scores": scores, "convention": "textbook@10", "group_sizes": [3]}
    report = ra.catboost.check_parity(**columns, metrics=["NDCG:top=10;type=Exp;use_weights=false"])
    assert [row.verdict for row in report.rows] == ["equal", verdict]
    assert report.rows[1:] == ra.catboost.check_parity(**columns).rows[1:]
    assert report.ok is (verdict != "not-comparable")


@pytest.mark.parametrize(("weights", "verdict"), [([1, 3], "not-comparable"), ([2, 2], "equal-on-this-data")])
def test_a_nearest_metric_that_ignores_weights_stands_for_a_declared_convention_that_counts_them(weights, verdict):
    columns = {"group_sizes": [2, 3], "query_weight": weights}
    rows = {"labels": [1, 0, 1, 1, 0], "scores": [2, 1, 1, 2, 3], "convention": "catboost.map@2+average=query"}
    report = ra.catboost.check_parity(**rows, **columns, metrics=["MAP:top=2"])
    assert [row.verdict for row in report.rows] == ["equal", verdict]
    assert report.rows[1:] == ra.catboost.check_parity(**rows, **columns).rows[1:]


def test_a_metric_that_is_the_declared_convention_but_differs_has_one_row(monkeypatch):
    monkeypatch.setattr("rankadapters.catboost.parity.eval_metric", lambda *args, **kwargs: [0.5])
    report = ra.catboost.check_parity([1, 0], [2, 1], BASE, group_sizes=[2], metrics=["NDCG:top=10"])
    assert [row.verdict for row in report.rows] == ["different"]


def test_a_metric_string_that_catboost_misreads_or_refuses_is_not_passed_to_catboost(monkeypatch):
    monkeypatch.setattr("rankadapters.catboost.parity.eval_metric", lambda *args, **kwargs: pytest.fail("asked"))
    report = ra.catboost.check_parity([1, 0], [2, 1], BASE, group_sizes=[2], metrics=["NDCG:top=0"])
    assert (report.ok, report.unmet) == (False, "not compared: catboost.utils.eval_metric NDCG:top=0")
    assert report.rows[0].reason.startswith("CatBoost was not asked: 'NDCG:top=0' has top='0', at which CatBoost gives")


def test_parameters_that_a_metric_string_omits_have_catboosts_defaults():
    for metric in ("NDCG", "NDCG:type=Base", "NDCG:hints=skip_train~true", "NDCG:use_weights=true"):
        assert ra.catboost.read_metric(metric) == BASE.at(None)
    with pytest.raises(ra.ConventionError, match="is not a metric string"):
        ra.catboost.read_metric(BASE)


# CatBoost's own weights.


def test_uneven_group_weights_are_named_and_taken_as_catboost_takes_them():
    labels, scores, qid, weights = weighted_columns()
    uneven = weights[qid].copy()
    uneven[5] *= 7  # not the first row of query 3
    [row] = ra.catboost.check_parity(labels, scores, BASE, qid=qid, group_weight=uneven).rows
    assert row.verdict == "equal"
    assert row.our_value == ra.evaluate(labels, scores, BASE, qid=qid, query_weight=weights).value
    assert row.reason.startswith("group_weight varies within query 3: catboost.utils.eval_metric silently uses the ")


def test_object_weights_are_named_as_ignored():
    labels, scores, qid, weights = weighted_columns()
    [row] = ra.catboost.check_parity(labels, scores, BASE, qid=qid, weight=weights[qid]).rows
    assert row.verdict == "equal"
    assert row.our_value == ra.evaluate(labels, scores, BASE, qid=qid).value
    expected = "weight= has object weights, which CatBoost ignores in NDCG; group_weight= has weights of queries."
    assert row.reason == expected


@pytest.mark.parametrize("metric", ["AUC", "QueryAUC", "QueryRMSE", "QuerySoftMax", "QueryCrossEntropy"])
def test_object_weights_that_catboost_counts_and_we_do_not_are_named(metric):
    labels, scores, qid, _ = weighted_columns()
    columns = {"qid": qid, "weight": np.linspace(0.5, 2, len(labels))}
    [row] = ra.catboost.check_parity(np.minimum(labels, 1), scores, f"catboost.{metric}", **columns).rows
    assert row.verdict == "different"
    assert row.reason.startswith(f"weight= has object weights. CatBoost's eval_metric counts them in {metric}, even ")


# What the report says: agreement, what CatBoost cannot express, and what float32 changes


def test_an_expressible_convention_gives_one_equal_row():
    labels, scores, qid, weights = columns = weighted_columns()
    before = [array.copy() for array in columns]
    [row] = ra.catboost.check_parity(labels, scores, BASE, qid=qid, query_weight=weights).rows
    assert all(map(np.array_equal, before, columns))
    assert (row.verdict, row.convention, row.version, row.reason) == ("equal", BASE, cb.__version__, "")
    assert row.source == "catboost.utils.eval_metric NDCG:top=10;type=Base;denominator=LogPosition"
    assert row.our_value == ra.evaluate(labels, scores, BASE, qid=qid, query_weight=weights).value
    assert abs(row.value - row.our_value) <= row.tolerance == 1e-9


def test_an_inexpressible_convention_has_a_row_for_the_nearest_and_one_for_itself():
    labels, scores = [2, 0, 1], [0.1, 0.7, 0.7]
    report = ra.catboost.check_parity(labels, scores, ra.presets.textbook(2), group_sizes=[3])
    nearest, declared = report.rows
    ideal = 3 + 1 / log2(3)
    assert not report.ok
    assert nearest.value == pytest.approx(1 / log2(3) / ideal)  # the tied label 1 ranks below the tied 0
    assert declared.our_value == pytest.approx((1 + 1 / log2(3)) / 2 / ideal)
    assert (declared.verdict, declared.value) == ("not-comparable", None)
    assert declared.reason.startswith(
        "CatBoost cannot express ties='average', only ties='worst', which matters here. "
        "Of no consequence here: empty=0, only empty=1.\nThe nearest it can: ndcg@2/"
    )


@pytest.mark.parametrize(
    ("labels", "weights", "reason"),
    [
        ([0.1, 0.7, 1], None, "labels rounded to float32"),
        ([0, 2, 1], [0.1, 0.7], "query_weight rounded to float32"),
        ([0.1, 0.7, 1], [0.1, 0.7], "labels and query_weight rounded to float32"),
        ([0, 0.5, 1], [0.5, 2], ""),
    ],
)
def test_the_reason_says_what_float32_rounded(labels, weights, reason):
    report = ra.catboost.check_parity(labels, [3, 2, 1], BASE, group_sizes=[2, 1], query_weight=weights)
    assert report.ok
    assert report.rows[0].reason.startswith(reason)
    assert bool(report.rows[0].reason) == bool(reason)


@pytest.mark.parametrize(("labels", "catboost_value"), [([3, 2, 1, 0], 1.0), ([0, 1, 2, 3], 0.6138273133441086)])
def test_nan_scores_are_not_comparable_and_catboosts_value_is_reported(labels, catboost_value):
    # CatBoost 1.2.10 leaves NaN scores in row order, so the same four documents have NDCG 1 or 0.61.
    report = ra.catboost.check_parity(labels, [np.nan] * 4, BASE, group_sizes=[4])
    [row] = report.rows
    assert not report.ok
    assert (row.verdict, row.our_value) == ("not-comparable", None)
    assert row.value == pytest.approx(catboost_value)
    assert row.reason.startswith("scores[0] is NaN, which has no rank, so we refuse it.")


def test_a_check_writes_no_file(monkeypatch, tmp_path):
    models._zero_model.cache_clear()  # another test may have made it
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for convention in (ra.presets.catboost(2), ra.presets.catboost.pair_accuracy(pairs="label")):
        assert ra.catboost.check_parity([2, 0, 1], [3, 2, 1], convention, group_sizes=[3]).ok
    assert list(tmp_path.iterdir()) == []


def test_a_check_of_a_model_leaves_the_logs_of_its_training_as_they_are(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pool = cb.Pool(np.arange(6).reshape(-1, 1), [2, 0, 1, 0, 1, 0], group_id=[0, 0, 0, 1, 1, 1])
    model = cb.CatBoostRanker(iterations=2, thread_count=1, verbose=False).fit(pool)
    logs = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert tmp_path / "catboost_info" / "catboost_training.json" in logs
    assert ra.catboost.check_model(model, pool, ra.presets.catboost(2)).ok
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == logs
    assert [path.name for path in tmp_path.iterdir()] == ["catboost_info"]
