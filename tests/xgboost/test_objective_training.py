"""Where XGBoost takes an objective: its functions, its matrices, and a training that goes on."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_data import graded
from tests.helpers.objective_drivers import SEED
from tests.tables import short

xgb = pytest.importorskip("xgboost")
from tests.helpers.xgboost_objective_data import (  # noqa: E402 - after the skip
    CONVENTIONS,
    DRAWN,
    MEAN,
    PARAMS,
    PRESETS,
    assert_same,
    dmatrix,
    fitting,
    margins,
    ours,
)


@pytest.mark.parametrize(("name", "options"), [("rank:ndcg", {}), ("rank:map", MEAN)])
def test_a_quantile_dmatrix_trains_the_built_in_model(name, options):
    data = fitting(graded(9), name)
    expected = margins(data, kind=xgb.QuantileDMatrix, objective=name, **options)
    assert_same(margins(data, kind=xgb.QuantileDMatrix, obj=ours(PRESETS[name](**options))), expected)


@pytest.mark.parametrize(
    "params", [{"tree_method": "exact"}, {"subsample": 0.5, "colsample_bytree": 0.5, "seed": 3}], ids=short
)
def test_other_trainers_train_the_built_in_model(params):
    data = graded(9)
    expected = margins(data, 5, objective="rank:ndcg", **params)
    assert_same(margins(data, 5, obj=ours(objectives.xgboost.ndcg()), **params), expected)


@pytest.mark.parametrize(("name", "options"), [("rank:ndcg", {}), ("rank:map", {}), ("rank:ndcg", MEAN)])
def test_cv_keeps_queries_whole_and_equals_the_built_in_objective(name, options):
    data, results = fitting(graded(10, 60), name), []
    for params, obj in (({}, ours(PRESETS[name](**options))), ({"objective": name, **options}, None)):
        metric = ra.xgboost.custom_metric(CONVENTIONS[0])
        results.append(
            xgb.cv(
                {**PARAMS, **params}, dmatrix(data), 5, nfold=3, seed=1, obj=obj, custom_metric=metric, as_pandas=False
            )
        )
        assert len(metric.history) == 5 * 3 * 2
    assert results[0].keys() == results[1].keys()
    for key, values in results[0].items():
        np.testing.assert_allclose(values, results[1][key], rtol=0, atol=2e-6)  # XGBoost logs six decimals


def test_metrics_and_early_stopping_work_beside_it():
    train, valid, convention = graded(11), graded(12), CONVENTIONS[2]
    sets = [(dmatrix(train), "train"), (dmatrix(valid), "valid")]
    metric, log = ra.xgboost.custom_metric(convention), {}
    report = ra.xgboost.EvalCallback(convention, [(sets[1][0], "again")])
    stop = ra.xgboost.early_stopping(convention, rounds=5, data_name="valid")
    booster = xgb.train({**PARAMS, "eta": 0.5}, sets[0][0], 60, obj=ours(objectives.xgboost.ndcg()), evals=sets,
                        custom_metric=metric, callbacks=[report, stop], evals_result=log,
                        verbose_eval=False)  # fmt: skip
    rounds = booster.num_boosted_rounds()
    assert rounds == booster.best_iteration + 6 < 60
    values = [entry.value for entry in metric.history]
    assert values[1::2] == [entry.value for entry in report.history] == log["again"][convention.name]
    for number in range(rounds):
        scores = booster.predict(sets[1][0], output_margin=True, iteration_range=(0, number + 1))
        expected = ra.evaluate(valid.y, scores, convention, group_sizes=valid.sizes).value
        assert report.history[number] == ("again", convention, expected)


def pickled(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("interruption", [lambda objective: objective, pickled], ids=["same object", "pickle"])
@pytest.mark.parametrize("value", DRAWN, ids=lambda value: value.kind)
def test_continued_training_equals_training_without_interruption(value, interruption):
    data = graded(13)
    expected = margins(data, 6, obj=ours(value))
    train, objective = dmatrix(data), ours(value)
    booster = xgb.train(PARAMS, train, 3, obj=objective)
    objective = interruption(objective)
    again = xgb.train(PARAMS, train, 3, obj=objective, xgb_model=booster)
    assert_same(again.predict(train, output_margin=True), expected)
    objective.reset()
    afresh = xgb.train(PARAMS, train, 3, obj=objective, xgb_model=booster)
    assert np.ptp(afresh.predict(train, output_margin=True) - expected) > 0.01


@pytest.mark.parametrize("start", [{}, {"base_score": None}], ids=["base_score", "estimated"])
@pytest.mark.parametrize("model", ["Booster", "file"])
def test_continued_training_is_that_of_the_built_in_objective(model, start, tmp_path):
    # A file holds no generator, and XGBoost counts rounds from 0 again; from 3.4 on a Booster's generator goes on.
    data, path = graded(13), tmp_path / "model.ubj"
    train, objective, found = dmatrix(data), ours(DRAWN[0]), []
    told = {**PARAMS, **start}
    replayed = objective.replay_params(train, base_score=told["base_score"])
    for params, obj in ((replayed, objective), ({"objective": "rank:ndcg", **MEAN}, None)):
        known = {name: value for name, value in {**told, **params}.items() if value is not None}
        booster = xgb.train(known, train, 3, obj=obj)
        booster.save_model(path)
        if model == "file" or not SEED:
            objective.reset()
        booster = xgb.train(known, train, 3, obj=obj, xgb_model=booster if model == "Booster" else path)
        found.append(booster.predict(train, output_margin=True))
    assert_same(*found)


@pytest.mark.parametrize("value", DRAWN, ids=lambda value: value.kind)
@pytest.mark.parametrize("anew", ["reset", "deepcopy", "DMatrix"])
def test_another_training_starts_anew_after_reset_in_a_deep_copy_and_on_its_own_dmatrix(value, anew):
    data, objective = graded(14), ours(value)
    train = dmatrix(data)
    expected = xgb.train(PARAMS, train, 3, obj=objective).predict(train, output_margin=True)
    assert np.ptp(xgb.train(PARAMS, train, 3, obj=objective).predict(train, output_margin=True) - expected) > 0.01
    if anew == "reset":
        objective.reset()
    second = dmatrix(data) if anew == "DMatrix" else train
    again = copy.deepcopy(objective) if anew == "deepcopy" else objective
    found = xgb.train(PARAMS, second, 3, obj=again).predict(train, output_margin=True)
    np.testing.assert_array_equal(found, expected)


def test_a_margin_that_is_not_finite_stops_a_training():
    data = graded(17)
    margin = np.where(np.arange(data.y.size) == 11, np.inf, 0)
    with pytest.raises(ra.InputError, match=r"round 1: scores\[11\] is inf"):
        xgb.train(PARAMS, dmatrix(data, base_margin=margin), 2, obj=ours(objectives.xgboost.ndcg()))


def test_the_scikit_learn_interface_is_told_where_to_go():
    pytest.importorskip("sklearn")
    data, objective = graded(17), ours(objectives.xgboost.ndcg())
    with pytest.raises(
        ra.InputError, match=r"do not pass queries(.|\n)*Hint: xgb.train\(params, dmatrix, obj=objective\)"
    ):
        xgb.XGBRegressor(n_estimators=1, objective=objective, n_jobs=1).fit(data.X, data.y)
    with pytest.raises(ValueError, match="custom objective function not supported by XGBRanker"):
        xgb.XGBRanker(n_estimators=1, objective=objective).fit(data.X, data.y, qid=data.qid)
