"""`xgboost.objective` in XGBoost's training functions: cross-validation, early stopping, and continued training."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.built_in_trainings import XGBoost, assert_same_predictions
from tests.helpers.objective_rankings import graded_ranking
from tests.helpers.objective_trainings import MEAN_PAIRS, PAIR_SEED, XENDCG, with_accepted_labels

xgb = pytest.importorskip("xgboost")

DRIVER = XGBoost()
PARAMS, dmatrix = DRIVER.params, DRIVER.dataset
LETOR, TEXTBOOK = ra.presets.letor4(10), ra.presets.textbook(10)
DRAWN = [objectives.xgboost.ndcg(**MEAN_PAIRS), XENDCG]
for_drawn_objectives = pytest.mark.parametrize("value", DRAWN, ids=lambda value: value.kind)


def our_objective(objective):
    return ra.xgboost.objective(objective, n_threads=1)


def margins(train, objective, **options):
    return xgb.train(PARAMS, train, 3, obj=objective, **options).predict(train, output_margin=True)


@pytest.mark.parametrize(("name", "options"), [("rank:ndcg", {}), ("rank:map", {}), ("rank:ndcg", MEAN_PAIRS)])
def test_cv_keeps_queries_whole_and_equals_the_built_in_objective(name, options):
    value, results = DRIVER.presets[name](**options), []
    data = with_accepted_labels(graded_ranking(10, 60), value)
    for params, obj in (({}, our_objective(value)), ({"objective": name, **options}, None)):
        arguments = {"obj": obj, "custom_metric": ra.xgboost.eval_metric(LETOR), "as_pandas": False}
        results.append(xgb.cv({**PARAMS, **params}, dmatrix(data), 5, nfold=3, seed=1, **arguments))
    assert results[0].keys() == results[1].keys()
    for key, log in results[0].items():
        np.testing.assert_allclose(log, results[1][key], rtol=0, atol=2e-6)  # XGBoost logs six decimals


def test_metrics_and_early_stopping_work_beside_the_objective():
    train, valid = graded_ranking(11), graded_ranking(12)
    sets = [(dmatrix(train), "train"), (dmatrix(valid), "valid")]
    metric, log = ra.xgboost.eval_metric(TEXTBOOK), {}
    callback = ra.xgboost.EvalCallback(TEXTBOOK, [(sets[1][0], "again")])
    stop = ra.xgboost.early_stopping(TEXTBOOK, rounds=5, data_name="valid")
    booster = xgb.train({**PARAMS, "eta": 0.5}, sets[0][0], 60, obj=our_objective(objectives.xgboost.ndcg()),
                        evals=sets, custom_metric=metric, callbacks=[metric, callback, stop], evals_result=log,
                        verbose_eval=False)  # fmt: skip
    rounds = booster.num_boosted_rounds()
    assert rounds == booster.best_iteration + 6 < 60
    values = log["valid"][TEXTBOOK.name]
    assert values == log["again"][TEXTBOOK.name]
    for iteration in range(rounds):
        scores = booster.predict(sets[1][0], output_margin=True, iteration_range=(0, iteration + 1))
        expected = ra.evaluate(valid.y, scores, TEXTBOOK, group_sizes=valid.sizes).value
        assert values[iteration] == expected


@for_drawn_objectives
def test_continued_training_equals_training_without_interruption(value):
    data, objective = graded_ranking(13), our_objective(value)
    expected, train = DRIVER.predictions(data, value, 6), dmatrix(data)
    booster = xgb.train(PARAMS, train, 3, obj=objective)
    assert_same_predictions(margins(train, objective, xgb_model=booster), expected)
    objective.reset()
    assert np.ptp(margins(train, objective, xgb_model=booster) - expected) > 0.01


@pytest.mark.parametrize("model", ["Booster", "file"])
def test_continued_training_equals_that_of_the_built_in_objective(model, tmp_path):
    # A file has no random generator, so XGBoost counts rounds from 0 again. From 3.4 on, a Booster keeps its generator.
    path, train, objective, predictions = (
        tmp_path / "model.ubj",
        dmatrix(graded_ranking(13)),
        our_objective(DRAWN[0]),
        [],
    )
    replayed = objective.replay_params(train, base_score=PARAMS["base_score"])
    for params, obj in ((replayed, objective), ({"objective": "rank:ndcg", **MEAN_PAIRS}, None)):
        parameters = {**PARAMS, **params}
        booster = xgb.train(parameters, train, 3, obj=obj)
        booster.save_model(path)
        if model == "file" or not PAIR_SEED:
            objective.reset()
        booster = xgb.train(parameters, train, 3, obj=obj, xgb_model=booster if model == "Booster" else path)
        predictions.append(booster.predict(train, output_margin=True))
    assert_same_predictions(*predictions)


@for_drawn_objectives
@pytest.mark.parametrize("restart", ["reset", "deepcopy", "pickle", "DMatrix"])
def test_draws_start_again_after_reset_in_a_copy_and_on_a_new_dmatrix(value, restart):
    data, objective = graded_ranking(14), our_objective(value)
    train = dmatrix(data)
    expected = margins(train, objective)
    assert np.ptp(margins(train, objective) - expected) > 0.01
    if restart == "reset":
        objective.reset()
    copies = {"deepcopy": copy.deepcopy, "pickle": lambda objective: pickle.loads(pickle.dumps(objective))}
    restarted = copies[restart](objective) if restart in copies else objective
    np.testing.assert_array_equal(margins(dmatrix(data) if restart == "DMatrix" else train, restarted), expected)


def test_the_scikit_learn_interface_raises_with_a_hint_to_xgb_train():
    pytest.importorskip("sklearn")
    data, objective = graded_ranking(17), our_objective(objectives.xgboost.ndcg())
    message = r"do not pass queries(.|\n)*Hint: xgb.train\(params, dmatrix, obj=objective\)"
    with pytest.raises(ra.InputError, match=message):
        xgb.XGBRegressor(n_estimators=1, objective=objective, n_jobs=1).fit(data.X, data.y)
    with pytest.raises(ValueError, match="custom objective function not supported by XGBRanker"):
        xgb.XGBRanker(n_estimators=1, objective=objective).fit(data.X, data.y, qid=data.qid)
