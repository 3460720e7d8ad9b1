"""Which training and which round XGBoost's histories say they are of."""

from __future__ import annotations

import pytest

import rankadapters as ra
from tests.helpers.ranking_data import ranking

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")
from tests.helpers.xgboost_data import LETOR, PARAMS, TEXTBOOK, dmatrix, train  # noqa: E402 - after the skip

ONE, TWO = ranking(1), ranking(2)
TWICE = [(0, 0), (0, 1), (1, 0), (1, 1)]  # run and iteration of two trainings of two rounds


def rounds(history):
    return [(entry.run, entry.iteration) for entry in history]


def test_a_second_training_on_the_same_matrices_is_another_run():
    data, other, metric = dmatrix(ONE), dmatrix(TWO), ra.xgboost.custom_metric([LETOR, TEXTBOOK])
    for _ in range(2):
        train({}, data, 2, evals=[(data, "train"), (other, "valid")], custom_metric=metric)
    assert rounds(metric.history) == [at for at in TWICE for _ in range(4)]
    assert [entry.dataset for entry in metric.history[:4]] == ["train", "train", "valid", "valid"]


def test_trainings_of_one_round_are_runs_of_their_own():
    metric = ra.xgboost.custom_metric(LETOR)
    for _ in range(2):
        data = dmatrix(ONE)
        train({}, data, 1, evals=[(data, "train")], custom_metric=metric)
    assert rounds(metric.history) == [(0, 0), (1, 0)]


def test_the_folds_of_a_cross_validation_are_one_run():
    metric, data = ra.xgboost.custom_metric(LETOR), dmatrix(ONE)
    for _ in range(2):
        xgb.cv(PARAMS, data, 2, nfold=2, custom_metric=metric)
    assert rounds(metric.history) == [at for at in TWICE for _ in range(4)]
    sets = ["train_fold_0", "test_fold_0", "train_fold_1", "test_fold_1"]
    assert [entry.dataset for entry in metric.history] == sets * 4


def test_a_matrix_under_two_names_is_evaluated_twice_in_one_round():
    metric, data = ra.xgboost.custom_metric(LETOR), dmatrix(ONE)
    train({}, data, 2, evals=[(data, "a"), (data, "b")], custom_metric=metric)
    assert rounds(metric.history) == [(0, 0), (0, 0), (0, 1), (0, 1)]
    assert [entry.dataset for entry in metric.history] == ["a", "b"] * 2


def test_a_continued_training_counts_its_own_rounds():
    metric, data = ra.xgboost.custom_metric(LETOR), dmatrix(ONE)
    watch = ra.xgboost.EvalCallback(TEXTBOOK, [(data, "train")])
    more = {"evals": [(data, "train")], "custom_metric": metric, "callbacks": [watch]}
    booster = train({}, data, 2, **more)
    train({}, data, 2, xgb_model=booster, **more)
    assert rounds(metric.history) == rounds(watch.history) == TWICE


def test_calls_by_hand_are_one_run_and_none_of_a_training():
    metric, data = ra.xgboost.custom_metric(LETOR), dmatrix(ONE)
    train({}, data, 2, evals=[(data, "train")], custom_metric=metric)
    for _ in range(2):
        metric(ONE.X[:, 0], data)
    assert rounds(metric.history) == TWICE
    assert [entry.dataset for entry in metric.history] == ["train", "train", "set_0", "set_0"]


def test_a_booster_that_is_asked_by_hand_tells_the_name():
    metric, data = ra.xgboost.custom_metric(LETOR), dmatrix(ONE)
    xgb.Booster(PARAMS, [data]).eval_set([(data, "mine")], feval=metric)
    assert [entry.dataset for entry in metric.history] == ["mine"]


def test_eval_callback_counts_the_fits_of_a_ranker():
    watch = ra.xgboost.EvalCallback(LETOR, [((TWO.X, TWO.y, TWO.qid), "valid")], names=["mine"])
    ranker = xgb.XGBRanker(n_estimators=2, callbacks=[watch], n_jobs=1)
    for _ in range(2):
        ranker.fit(ONE.X, ONE.y, qid=ONE.qid, verbose=False)
    assert rounds(watch.history) == TWICE
    assert {(entry.dataset, entry.name) for entry in watch.history} == {("valid", "mine")}


def test_global_eval_counts_as_custom_metric_does():
    watch, data = ra.xgboost.global_eval(LETOR), dmatrix(ONE)
    for _ in range(2):
        train({}, data, 2, evals=[(data, "train")], custom_metric=watch, callbacks=[watch])
    assert rounds(watch.history) == TWICE
