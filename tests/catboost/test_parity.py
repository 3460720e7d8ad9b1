"""CatBoost's metric strings and weights through the checker, and planted faults that it must name."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.tables import for_each

cb = pytest.importorskip("catboost")

from tests.helpers.catboost_records import (  # noqa: E402
    BASE,
    convention_of,
    float32,
    make_data,
    printed,
    records,
    without_exp,
)  # fmt: skip

# CatBoost's metric strings through the checker.


@for_each("record", records())
def test_every_recorded_metric_agrees_live_and_with_the_record(record):
    recorded = printed(record)
    assert len(recorded) == 49
    columns = {"group_sizes": record["group"], "query_weight": record.get("query_weight")}
    extra = {"weight": record["row_weight"]} if "row_weight" in record else {}
    report = ra.catboost.check_parity(record["labels"], record["scores"], BASE, **columns, **extra, metrics=recorded)
    rows = {row.source.removeprefix("catboost.utils.eval_metric "): row for row in report.rows[: len(recorded)]}
    assert {metric: row.value for metric, row in rows.items()} == pytest.approx(recorded, rel=1e-9)
    for metric, row in rows.items():
        if metric in without_exp(recorded, record["labels"]):
            assert (row.verdict, row.convention) == ("equal", convention_of(metric))
        else:
            assert row.verdict == "not-comparable"
            assert "our exp2 refuses it" in row.reason
    assert report.ok is (min(record["labels"]) >= 0)


def test_metrics_that_are_not_the_declared_convention_say_what_differs():
    columns = {"labels": [1, 0], "scores": [2, 1], "convention": BASE, "group_sizes": [2]}
    asked, declared = ra.catboost.check_parity(**columns, metrics=["NDCG:top=10;type=Exp"]).rows
    assert asked.reason == "Declared is gain='linear', only gain='exp2'."
    assert (declared.verdict, declared.our_value) == ("not-comparable", 1.0)
    assert "None of the metrics above is the declared convention. CatBoost can express it." in declared.reason
    assert [row.verdict for row in ra.catboost.check_parity(**columns, metrics=["NDCG:top=10"]).rows] == ["equal"]


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
def test_a_metric_string_that_catboost_misreads_or_refuses_is_caught_before_it_sees_it(metric, message, monkeypatch):
    monkeypatch.setattr("rankadapters.catboost.parity.eval_metric", lambda *args, **kwargs: pytest.fail("asked"))
    with pytest.raises(ra.ConventionError) as caught:
        ra.catboost.read_metric(metric)
    assert message in str(caught.value)
    report = ra.catboost.check_parity([1, 0], [2, 1], BASE, group_sizes=[2], metrics=[metric])
    assert not report.ok
    assert report.unmet == f"not compared: catboost.utils.eval_metric {metric}"
    assert report.rows[0].reason.startswith("CatBoost was not asked: ")
    assert message in report.rows[0].reason


@pytest.mark.parametrize("top", ["0", "-1"])
def test_top_0_is_1_to_catboost_whatever_the_scores_and_top_minus_1_is_all(top):
    # What read_metric refuses, and why: CatBoost 1.2.10.
    [value] = cb.utils.eval_metric([0, 1, 2], [3, 2, 1], f"NDCG:top={top}", group_id=[0, 0, 0])
    all_rows = ra.evaluate([0, 1, 2], [3, 2, 1], BASE.at(None), group_sizes=[3]).value
    assert value == (1.0 if top == "0" else pytest.approx(all_rows))


def test_what_a_metric_string_leaves_out_has_catboosts_default():
    for metric in ("NDCG", "NDCG:type=Base", "NDCG:hints=skip_train~true", "NDCG:use_weights=true"):
        assert ra.catboost.read_metric(metric) == BASE.at(None)
    with pytest.raises(ra.ConventionError, match="is not a metric string"):
        ra.catboost.read_metric(BASE)


# CatBoost's own weights.


def test_group_weights_by_row_are_query_weights():
    labels, scores, qid, weights = make_data()
    one = ra.catboost.check_parity(labels, scores, BASE, qid=qid, group_weight=weights[qid])
    other = ra.catboost.check_parity(labels, scores, BASE, qid=qid, query_weight=weights)
    assert one == other
    assert one.ok


def test_uneven_group_weights_are_named_and_taken_as_catboost_takes_them():
    labels, scores, qid, weights = make_data()
    uneven = weights[qid].copy()
    uneven[5] *= 7  # not the first row of query 3
    [row] = ra.catboost.check_parity(labels, scores, BASE, qid=qid, group_weight=uneven).rows
    assert row.verdict == "equal"
    assert row.our_value == ra.evaluate(labels, scores, BASE, qid=qid, query_weight=weights).value
    assert row.reason.startswith("group_weight varies within query 3: catboost.utils.eval_metric silently uses the ")


def test_object_weights_are_named_as_ignored():
    labels, scores, qid, weights = make_data()
    [row] = ra.catboost.check_parity(labels, scores, BASE, qid=qid, weight=weights[qid]).rows
    assert row.verdict == "equal"
    assert row.our_value == ra.evaluate(labels, scores, BASE, qid=qid).value
    assert row.reason == "weight= has object weights, which CatBoost's NDCG and DCG ignore; group_weight= counts."


@for_each(
    ("given", "message"),
    [
        ({"query_weight": [1], "group_weight": [1, 1]}, "query_weight and group_weight are the same weights"),
        ({"group_weight": [1.0]}, "group_weight has 1 rows but labels has 2"),
        ({"metrics": "NDCG:top=5"}, r"metrics='NDCG:top=5'; allowed are lists of metric strings"),
    ],
)
def test_weights_and_metrics_that_are_none_are_refused(given, message):
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.check_parity([1, 0], [2, 1], BASE, group_sizes=[2], **given)


def asked_otherwise(monkeypatch, change):
    """Let the checker ask CatBoost about other data than it was given: a fault in someone's pipeline."""
    asked = ra.catboost.parity.eval_metric

    def other(labels, approx, metric, group_id, group_weight=None, **more):
        given = [labels, approx, group_id, group_weight]
        labels, approx, group_id, group_weight = change(*given) if len(np.unique(group_id)) > 1 else given
        return asked(labels, approx, metric, group_id=group_id, group_weight=group_weight, **more)

    monkeypatch.setattr("rankadapters.catboost.parity.eval_metric", other)


def without_query_4(labels, approx, group_id, group_weight):
    kept = group_id != 4
    return labels[kept], approx[kept], group_id[kept], group_weight[kept]


def swapped_weights(labels, approx, group_id, group_weight):
    place = group_id.copy()
    place[group_id == 6], place[group_id == 9] = 9, 6
    by_query = np.array([group_weight[group_id == q][0] for q in range(30)])
    return labels, approx, group_id, by_query[place]


def without_weights(labels, approx, group_id, group_weight):
    return labels, approx, group_id, None


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (without_query_4, "it is the value without query 4"),
        (swapped_weights, "it is the value with the weights of queries 6 and 9 swapped"),
        (
            without_weights,
            "average='uniform' in place of average='query'; it is the value with the query weights ignored",
        ),
    ],
)
def test_a_planted_fault_is_caught_and_named(monkeypatch, change, named):
    labels, scores, qid, weights = make_data(seed=2)
    weights[4] += 0.123
    asked_otherwise(monkeypatch, change)
    report = ra.catboost.check_parity(labels, scores, BASE, qid=qid, query_weight=float32(weights))
    assert not report.ok
    assert named in report.rows[0].reason


def test_a_fault_in_one_query_names_that_query(monkeypatch):
    labels, scores, qid, _ = make_data(seed=2)
    [longest] = np.flatnonzero(np.bincount(qid) == np.bincount(qid).max())
    size, asked = (qid == longest).sum(), ra.catboost.parity.eval_metric

    def turned_round(labels, approx, metric, group_id, **more):
        of = np.bincount(group_id)[group_id]
        return asked(labels, np.where(of == size, -approx, approx), metric, group_id=group_id, **more)

    monkeypatch.setattr("rankadapters.catboost.parity.eval_metric", turned_round)
    row = ra.catboost.check_parity(labels, scores, BASE, qid=qid).rows[0]
    assert row.verdict == "different"
    assert [name for name, *_ in row.per_query.largest(30)] == [longest]
    assert row.per_query.contributions.sum() == pytest.approx(row.difference)
