"""`lightgbm.eval_metric` where only LightGBM calls it so: LGBMRanker, arrays, and weights of rows.

What holds of XGBoost's metric too is in `tests/callbacks`.
"""

from __future__ import annotations

import copy
import gc
import inspect

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.rankings import ranking

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from rankadapters.lightgbm.metrics import query_weights  # noqa: E402 - after the skip
from tests.helpers.lightgbm_datasets import IGNORED, LETOR, PARAMS, TEXTBOOK, dataset, fit  # noqa: E402 - after the skip

LIGHTGBM = ra.presets.lightgbm(5)
TRAIN, VALID = ranking(5, 60), ranking(6, 40)


def ranker(n_estimators=3, **more):
    return lgb.LGBMRanker(n_estimators=n_estimators, verbosity=-1, min_child_samples=5, n_jobs=1, **more)


def value(data, scores, convention, **weights):
    return ra.evaluate(data.y, scores, convention, group_sizes=data.sizes, **weights).value


@pytest.mark.parametrize("several", [False, True], ids=["alone", "in a list"])
def test_lgbmranker_reports_it_binds_its_set_once_and_shares_the_history_with_its_copy(several, monkeypatch):
    metric, bound = ra.lightgbm.eval_metric([LETOR, LETOR.at(3)]), []
    kind = type(metric._monitor)
    monkeypatch.setattr(metric._monitor, "_panels", lambda j: bound.append(j) or kind._panels(metric._monitor, j))
    model = ranker(metric="None")
    for run in range(2):
        fit(model, TRAIN, VALID, eval_metric=[metric, lambda y, s: ("zero", 0.0, True)] if several else metric)
        log = model.evals_result_["valid_0"]
        for convention in (LETOR, LETOR.at(3)):
            expected = value(VALID, model.predict(VALID.X), convention)
            assert log[convention.name][-1] == pytest.approx(expected, abs=1e-15)
            entries = metric.history.only(run=run, dataset="valid_0", convention=convention)
            assert [entry.value for entry in entries] == log[convention.name]
            assert [entry.iteration for entry in entries] == [0, 1, 2]
    assert len(bound) == 2
    assert copy.deepcopy(metric).history is metric.history


def test_early_stopping_in_lgbmranker():
    stop = ra.lightgbm.early_stopping(TEXTBOOK, rounds=5, verbose=False)
    model = ranker(80, learning_rate=0.5)
    fit(model, TRAIN, VALID, eval_metric=ra.lightgbm.eval_metric(TEXTBOOK), callbacks=[stop])
    values = model.evals_result_["valid_0"][TEXTBOOK.name]
    assert model.best_iteration_ == int(np.argmax(values)) + 1 < 80


@pytest.mark.filterwarnings("ignore:a mean under:rankadapters.AboveValuesWarning")  # weights of mean 1/2
def test_weights_of_lgbmranker_count_and_ignored_ones_are_told_once_for_all_rounds_and_fits():
    metric, weights = ra.lightgbm.eval_metric([LIGHTGBM, TEXTBOOK]), np.random.default_rng(3).random(VALID.y.size)
    model = ranker(2)
    with pytest.warns(UserWarning, match=IGNORED) as warned:
        fit(model, TRAIN, VALID, eval_metric=metric, eval_sample_weight=[weights])
    assert len(warned) == 1
    fit(model, TRAIN, VALID, eval_metric=metric, eval_sample_weight=[weights])  # another would fail this test
    expected = value(VALID, model.predict(VALID.X), LIGHTGBM, query_weight=query_weights(weights, VALID.sizes))
    assert model.evals_result_["valid_0"][LIGHTGBM.name][-1] == pytest.approx(expected, abs=1e-15)


def test_query_weights_add_up_in_float32_one_by_one():
    weights, total = np.random.default_rng(1).random(1000).astype(np.float32), np.float32(0)
    for weight in weights:
        total += weight
    assert query_weights(weights, np.array([1000]))[0] == total / np.float32(1000)


@pytest.mark.parametrize(("weights", "sizes"), [([1, 2], [3]), ([1, 2], [1]), ([], []), ([1.0], [1, 0])])
def test_query_weights_need_sizes_that_add_up(weights, sizes):
    with pytest.raises(ra.InputError, match="adds up to"):
        query_weights(np.array(weights), np.array(sizes, int))


def test_arrays_that_their_owner_writes_into_are_noticed_and_not_kept_alive():
    metric = ra.lightgbm.eval_metric(LIGHTGBM)
    labels, sizes, weights = VALID.y.copy(), VALID.sizes.copy(), np.ones(VALID.y.size)
    scores = np.random.default_rng(0).random(labels.size)
    changes = [
        (labels, VALID.y),
        (labels, 2 - VALID.y),
        (sizes, VALID.sizes[::-1]),
        (weights, np.arange(labels.size) % 4 + 1),
    ]
    for column, new in changes:
        column[:] = new
        by_query = query_weights(weights, sizes)
        expected = ra.evaluate(labels, scores, LIGHTGBM, group_sizes=sizes, query_weight=by_query).value
        assert metric(labels, scores, weights, sizes)[0][1] == expected
    del labels, changes
    gc.collect()
    assert metric._monitor._bound == {}


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_call_by_hand_takes_lists(kind):
    metric = ra.lightgbm.eval_metric(LIGHTGBM)
    columns = VALID.y, VALID.X[:, 0], np.repeat(VALID.sizes % 3 + 1.0, VALID.sizes), VALID.sizes
    arrays = metric(*columns)
    for _ in range(2):
        assert metric(*(kind(column.tolist()) for column in columns)) == arrays
    assert [entry.dataset for entry in metric.history] == ["set_0", "set_1", "set_1"]


def test_a_regressor_has_no_groups():
    regressor = lgb.LGBMRegressor(n_estimators=1, verbosity=-1)
    new = "eval_X" in inspect.signature(regressor.fit).parameters
    evals = {"eval_X": VALID.X, "eval_y": VALID.y} if new else {"eval_set": [(VALID.X, VALID.y)]}
    with pytest.raises(ra.InputError, match="the evaluation set has no group"):
        regressor.fit(VALID.X, VALID.y, eval_metric=ra.lightgbm.eval_metric(LETOR), **evals)


@pytest.mark.parametrize("cv", [False, True])
def test_rounds_count_on_where_no_tree_can_be_added(cv):
    from sklearn.model_selection import GroupKFold

    metric, params, first = ra.lightgbm.eval_metric(LETOR), {**PARAMS, "min_gain_to_split": 50}, dataset(TRAIN)
    if cv:
        folds = GroupKFold(2).split(TRAIN.X, TRAIN.y, TRAIN.qid)
        lgb.cv(params, first, 4, folds=folds, feval=metric)
    else:
        booster = lgb.train(params, first, 4, valid_sets=[first], feval=metric)
        assert booster.current_iteration() < 4  # all that the gains allow
    sets = ["valid_fold_0", "valid_fold_1"] if cv else ["training"]
    assert [(entry.iteration, entry.dataset) for entry in metric.history] == [(i, s) for i in range(4) for s in sets]


def test_trainings_that_take_turns_stay_apart():
    metric = ra.lightgbm.eval_metric(LETOR)
    boosters = [lgb.Booster(PARAMS, dataset(TRAIN)) for _ in range(2)]
    for _ in range(3):
        for booster in boosters:
            booster.update()
            booster.eval_train(metric)
    found = [(entry.run, entry.iteration, entry.dataset) for entry in metric.history]
    assert found == [(run, i, "training") for i in range(3) for run in (0, 1)]
