"""`catboost.check_parity` of metric strings and weights, and planted faults that the report must name."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.tables import for_each

cb = pytest.importorskip("catboost")

from tests.helpers.catboost_records import (  # noqa: E402
    BASE,
    as_float32,
    convention_of,
    records,
    values_by_metric,
    weighted_columns,
    without_undefined_gains,
)  # fmt: skip

# Metric strings.


@for_each("record", records())
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


@for_each(
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


@for_each(("scores", "verdict"), [([2, 2, 1], "not-comparable"), ([3, 2, 1], "equal-on-this-data")])
def test_the_nearest_metric_stands_for_the_declared_convention_where_they_cannot_differ(scores, verdict):
    columns = {"labels": [1, 0, 2], "scores": scores, "convention": "textbook@10", "group_sizes": [3]}
    report = ra.catboost.check_parity(**columns, metrics=["NDCG:top=10;type=Exp;use_weights=false"])
    assert [row.verdict for row in report.rows] == ["equal", verdict]
    assert report.rows[1:] == ra.catboost.check_parity(**columns).rows[1:]
    assert report.ok is (verdict != "not-comparable")


def test_a_metric_that_is_the_declared_convention_but_differs_has_one_row(monkeypatch):
    monkeypatch.setattr("rankadapters.catboost.parity.eval_metric", lambda *args, **kwargs: [0.5])
    report = ra.catboost.check_parity([1, 0], [2, 1], BASE, group_sizes=[2], metrics=["NDCG:top=10"])
    assert [row.verdict for row in report.rows] == ["different"]


MISREAD = [
    ("NDCG:top=0", "top='0', at which CatBoost gives every query 1 as NDCG and 0 as DCG"),
    ("NDCG:top=-5", "top='-5', which CatBoost takes as all rows"),
    ("NDCG:top=1.5", "allowed are whole numbers from 1 on, or -1"),
    ("NDCG:type=exp", "type='exp'; allowed are 'Base', 'Exp'"),
    ("DCG:denominator=position", "denominator='position'; allowed are 'LogPosition', 'Position'"),
    ("NDCG:use_weights=0", "use_weights='0'; allowed are 'true', 'false'"),
    ("NDCG: top=5", "' top', which is not a parameter of it"),
    ("NDCG:top=5;top=3", "'top', twice"),
    ("NDCG:sigma=1", "'sigma', which is not a parameter of it"),
    ("ndcg:top=5", "'ndcg:top=5' is none of CatBoost's NDCG, DCG, MAP"),
    ("Precision", "'Precision' is none of CatBoost's NDCG, DCG, MAP"),
]


@pytest.mark.parametrize(("metric", "message"), MISREAD)
def test_a_metric_string_that_catboost_misreads_or_refuses_is_not_passed_to_catboost(metric, message, monkeypatch):
    monkeypatch.setattr("rankadapters.catboost.parity.eval_metric", lambda *args, **kwargs: pytest.fail("asked"))
    with pytest.raises(ra.ConventionError) as raised:
        ra.catboost.read_metric(metric)
    assert message in str(raised.value)
    report = ra.catboost.check_parity([1, 0], [2, 1], BASE, group_sizes=[2], metrics=[metric])
    assert not report.ok
    assert report.unmet == f"not compared: catboost.utils.eval_metric {metric}"
    assert report.rows[0].reason.startswith("CatBoost was not asked: ")
    assert message in report.rows[0].reason


@pytest.mark.parametrize("top", ["0", "-1"])
def test_catboosts_ndcg_at_top_0_is_1_and_at_top_minus_1_of_all_rows(top):
    # CatBoost 1.2.10. This is why read_metric refuses top=0.
    [value] = cb.utils.eval_metric([0, 1, 2], [3, 2, 1], f"NDCG:top={top}", group_id=[0, 0, 0])
    all_rows = ra.evaluate([0, 1, 2], [3, 2, 1], BASE.at(None), group_sizes=[3]).value
    assert value == (1.0 if top == "0" else pytest.approx(all_rows))


def test_parameters_that_a_metric_string_omits_have_catboosts_defaults():
    for metric in ("NDCG", "NDCG:type=Base", "NDCG:hints=skip_train~true", "NDCG:use_weights=true"):
        assert ra.catboost.read_metric(metric) == BASE.at(None)
    with pytest.raises(ra.ConventionError, match="is not a metric string"):
        ra.catboost.read_metric(BASE)


# CatBoost's own weights.


def test_group_weights_by_row_mean_the_same_as_query_weights():
    labels, scores, qid, weights = weighted_columns()
    by_row = ra.catboost.check_parity(labels, scores, BASE, qid=qid, group_weight=weights[qid])
    by_query = ra.catboost.check_parity(labels, scores, BASE, qid=qid, query_weight=weights)
    assert by_row == by_query
    assert by_row.ok


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
    assert row.reason == "weight= has object weights, which CatBoost's NDCG and DCG ignore; group_weight= counts."


@for_each(
    ("arguments", "message"),
    [
        ({"query_weight": [1], "group_weight": [1, 1]}, "query_weight and group_weight are the same weights"),
        ({"group_weight": [1.0]}, "group_weight has 1 rows but labels has 2"),
        ({"metrics": "NDCG:top=5"}, r"metrics='NDCG:top=5'; allowed are lists of metric strings"),
        ({"metrics": 5}, "metrics=5; allowed are lists of metric strings"),
        ({"metrics": [5]}, "allowed are lists of metric strings"),
        ({"weight": "x"}, "weight is 'x', but one entry per row is needed"),
    ],
)
def test_bad_weights_and_metrics_are_refused(arguments, message):
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.check_parity([1, 0], [2, 1], BASE, group_sizes=[2], **arguments)


def plant_fault(monkeypatch, change):
    """Change the data on their way to CatBoost, which plants a fault in a pipeline."""
    original = ra.catboost.parity.eval_metric

    def with_fault(labels, approx, metric, group_id, group_weight=None, **options):
        columns = [labels, approx, group_id, group_weight]
        labels, approx, group_id, group_weight = change(*columns) if len(np.unique(group_id)) > 1 else columns
        return original(labels, approx, metric, group_id=group_id, group_weight=group_weight, **options)

    monkeypatch.setattr("rankadapters.catboost.parity.eval_metric", with_fault)


def without_query_4(labels, approx, group_id, group_weight):
    is_kept = group_id != 4
    return labels[is_kept], approx[is_kept], group_id[is_kept], group_weight[is_kept]


def without_weights(labels, approx, group_id, group_weight):
    return labels, approx, group_id, None


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (without_query_4, "it is the value without query 4"),
        (
            without_weights,
            "average='uniform' in place of average='query'; it is the value with the query weights ignored",
        ),
    ],
)
def test_a_planted_fault_is_caught_and_named(monkeypatch, change, cause):
    labels, scores, qid, weights = weighted_columns(seed=2)
    weights[4] += 0.123
    plant_fault(monkeypatch, change)
    report = ra.catboost.check_parity(labels, scores, BASE, qid=qid, query_weight=as_float32(weights))
    assert not report.ok
    assert cause in report.rows[0].reason
