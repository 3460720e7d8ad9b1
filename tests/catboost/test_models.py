"""`catboost.check_model`: the numbers of a trained model by each of its routes."""

from functools import cache

import numpy as np
import pytest

import rankadapters as ra
from tests.catboost.trainings import LAST_ITERATION, fit_ranker, weighted_rows

cb = pytest.importorskip("catboost")

DECLARED = ra.presets.catboost(3)


def pools(*, weighted=False):
    result = []
    for seed in (0, 1):
        X, labels, qid, weights = weighted_rows(seed)
        result.append(cb.Pool(X, labels, group_id=qid, group_weight=weights if weighted else None))
    return result


@pytest.fixture(scope="module")
def trained():
    train, valid = pools()
    return fit_ranker(train, valid), train, valid


@pytest.mark.long
@pytest.mark.parametrize("iteration", [None, 0, 2, LAST_ITERATION])
@pytest.mark.parametrize("border", [None, 1])
@pytest.mark.parametrize("dataset", ["learn", "validation"])
def test_every_route_agrees_at_every_iteration_with_and_without_a_target_border(trained, dataset, border, iteration):
    model, *pools_of_sets = trained if border is None else (bordered(), *pools())
    seed = ["learn", "validation"].index(dataset)
    report = ra.catboost.check_model(model, pools_of_sets[seed], DECLARED, dataset=dataset, iteration=iteration)
    assert [row.verdict for row in report.rows] == ["equal"] * 4
    last_iteration = LAST_ITERATION if iteration is None else iteration
    metric = "NDCG:top=3;type=Base;denominator=LogPosition"
    assert [row.source for row in report.rows] == [
        f"model.predict and catboost.utils.eval_metric {metric}",
        f"model.staged_predict and catboost.utils.eval_metric {metric}",
        f"model.eval_metrics {metric}",
        f"log of {dataset}, iteration {last_iteration}, NDCG:top=3;type=Base",
    ]
    X, labels, qid, _ = weighted_rows(seed)
    labels = labels if border is None else labels > border
    our_value = ra.evaluate(labels, model.predict(X, ntree_end=last_iteration + 1), DECLARED, qid=qid).value
    assert {row.our_value for row in report.rows} == {our_value}
    border_note = "labels above 1 are 1 and the others 0, as the model's target_border makes them."
    assert report.rows[0].reason == ("" if border is None else border_note)


@cache
def bordered():
    return fit_ranker(*pools(), target_border=1)


def test_every_route_agrees_on_a_pool_with_a_baseline():
    X, labels, qid, _ = weighted_rows()
    start = np.random.default_rng(3).normal(size=labels.size).astype(np.float32).astype(float)
    pool = cb.Pool(X, labels, group_id=qid, baseline=start)
    report = ra.catboost.check_model(fit_ranker(*pools()), pool, DECLARED)
    assert [row.verdict for row in report.rows] == ["equal"] * 3


@pytest.mark.long
@pytest.mark.parametrize(("route", "row_index"), [("predict", 0), ("staged_predict", 1)])
def test_a_wrong_prediction_changes_only_the_row_of_its_route(trained, route, row_index, monkeypatch):
    model, _, valid = trained
    scores = np.arange(float(valid.num_row()))
    right_rows = ra.catboost.check_model(model, valid, DECLARED).rows
    monkeypatch.setattr(cb.CatBoost, route, lambda *_, **__: [scores] if route == "staged_predict" else scores)
    rows = ra.catboost.check_model(model, valid, DECLARED).rows
    differs = [right_row.value != row.value for right_row, row in zip(right_rows, rows, strict=True)]
    assert differs == [index == row_index for index in range(len(rows))]


def test_other_gains_and_discounts_agree_and_a_foreign_convention_is_not_comparable(trained):
    model, _, valid = trained
    for convention in (DECLARED.replace(gain="exp2"), DECLARED.at(None).replace(discount="reciprocal")):
        assert ra.catboost.check_model(model, valid, convention).ok
    report = ra.catboost.check_model(model, valid, ra.presets.textbook(3))
    assert [row.verdict for row in report.rows] == ["equal", "equal", "equal", "not-comparable"]
    assert "ties='average'" in report.rows[-1].reason


def test_group_weights_are_passed_beside_the_pool(trained):
    model, _, _ = trained
    _, valid = pools(weighted=True)
    X, labels, qid, weights = weighted_rows(1)
    report = ra.catboost.check_model(model, valid, DECLARED, group_weight=weights)
    report.raise_if_failed()
    first = np.unique(qid, return_index=True)[1]
    our_value = ra.evaluate(labels, model.predict(X), DECLARED, qid=qid, query_weight=weights[first]).value
    assert report.rows[0].our_value == our_value


def test_group_weights_that_were_not_passed_are_noticed(trained):
    model, _, _ = trained
    _, valid = pools(weighted=True)
    report = ra.catboost.check_model(model, valid, DECLARED)
    assert not report.ok
    differing = [row for row in report.rows if row.verdict == "different"]
    assert [row.source.partition(" ")[0] for row in differing] == ["model.eval_metrics"]
    assert "The Pool has group weights, which we cannot read" in differing[0].reason


def test_a_pool_without_groups_is_a_row_with_catboosts_error(trained):
    model, _, _ = trained
    X, labels, qid, _ = weighted_rows(1)
    report = ra.catboost.check_model(model, cb.Pool(X, labels), DECLARED, qid=qid)
    [row] = report.rows
    assert not report.ok
    assert row.value is None
    assert row.our_value == ra.evaluate(labels, model.predict(X), DECLARED, qid=qid).value
    assert row.reason.startswith("The Pool has no group ids, and CatBoost refuses it: Groupwise loss/metrics require ")
    assert row.reason.endswith("Hint: catboost.Pool(X, labels, group_id=qid).")
    assert ra.catboost.check_model(model, cb.Pool(X, labels), DECLARED).rows[0].our_value is None


def test_qid_must_agree_with_the_groups_of_the_pool(trained):
    model, _, valid = trained
    qid = weighted_rows(1)[2]
    assert ra.catboost.check_model(model, valid, DECLARED, qid=[f"q{query}" for query in qid]).ok
    begins = np.flatnonzero(np.diff(qid))[2] + 1
    later, earlier = qid.copy(), qid.copy()
    later[begins], earlier[begins - 1] = qid[begins - 1], qid[begins]
    for wrong_qid, row, reason in (
        (later, begins, "the Pool begins a group but qid does not"),
        (earlier, begins - 1, "qid begins a query but the Pool does not"),
    ):
        with pytest.raises(ra.InputError, match=rf"^at row {row} {reason}\.") as caught:
            ra.catboost.check_model(model, valid, DECLARED, qid=wrong_qid)
        assert caught.value.row == row


def test_a_pool_without_groups_shows_the_value_of_all_rows_where_catboost_gives_one(trained):
    model, (X, labels, qid, _) = trained[0], weighted_rows(1)
    [row] = ra.catboost.check_model(model, cb.Pool(X, labels > 0), ra.presets.catboost.auc(), qid=qid).rows
    assert (row.verdict, row.value) == ("not-comparable", pytest.approx(row.our_value, rel=1e-7))
    assert row.reason.startswith("The Pool has no group ids, and CatBoost gives the value of all rows as one query.")


def test_a_log_without_use_weights_has_the_metric():
    """Without group weights, CatBoost refuses `use_weights` in a training, and its log has plain AUC."""
    train, valid = (cb.Pool(X, labels > 0, group_id=qid) for X, labels, qid, _ in map(weighted_rows, (0, 1)))
    model = fit_ranker(train, valid, metric="AUC")
    report = ra.catboost.check_model(model, valid, ra.presets.catboost.auc(), dataset="validation")
    assert [row.verdict for row in report.rows] == ["equal"] * 4
    assert report.rows[-1].source == f"log of validation, iteration {LAST_ITERATION}, AUC"
