"""`lightgbm.eval_metric` called in ways that only LightGBM has: LGBMRanker, arrays, and row weights.

Properties shared with XGBoost's metric are tested in `tests/callbacks`.
"""

from __future__ import annotations

import copy
import gc
import inspect

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.metric_trainings import IGNORED_WEIGHTS, LETOR, TEXTBOOK
from tests.helpers.rankings import ranking

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from rankadapters.lightgbm.metrics import query_weights  # noqa: E402 - after the skip
from tests.helpers.lightgbm_datasets import PARAMS, dataset, fit_ranker  # noqa: E402 - after the skip

LIGHTGBM = ra.presets.lightgbm(5)
TRAIN, VALID = ranking(5, 60), ranking(6, 40)


def ranker(n_estimators=3, **more):
    return lgb.LGBMRanker(n_estimators=n_estimators, verbosity=-1, min_child_samples=5, n_jobs=1, **more)


def value(data, scores, convention, **weights):
    return ra.evaluate(data.y, scores, convention, group_sizes=data.sizes, **weights).value


@pytest.mark.parametrize("in_list", [False, True], ids=["alone", "in a list"])
def test_lgbmranker_records_history_binds_sets_once_and_shares_history_with_copies(in_list, monkeypatch):
    metric, bound_sets = ra.lightgbm.eval_metric([LETOR, LETOR.at(3)]), []
    panels = metric._monitor._panels
    monkeypatch.setattr(metric._monitor, "_panels", lambda columns: bound_sets.append(columns) or panels(columns))
    model = ranker(metric="None")
    for run in range(2):
        fit_ranker(model, TRAIN, VALID, eval_metric=[metric, lambda y, s: ("zero", 0.0, True)] if in_list else metric)
        log = model.evals_result_["valid_0"]
        for convention in (LETOR, LETOR.at(3)):
            expected = value(VALID, model.predict(VALID.X), convention)
            assert log[convention.name][-1] == pytest.approx(expected, abs=1e-15)
            entries = metric.history.only(run=run, dataset="valid_0", convention=convention)
            assert [entry.value for entry in entries] == log[convention.name]
            assert [entry.iteration for entry in entries] == [0, 1, 2]
    assert len(bound_sets) == 2
    assert copy.deepcopy(metric).history is metric.history


def test_early_stopping_stops_lgbmranker_at_the_best_round():
    stop = ra.lightgbm.early_stopping(TEXTBOOK, rounds=5, verbose=False)
    model = ranker(80, learning_rate=0.5)
    fit_ranker(model, TRAIN, VALID, eval_metric=ra.lightgbm.eval_metric(TEXTBOOK), callbacks=[stop])
    values = model.evals_result_["valid_0"][TEXTBOOK.name]
    assert model.best_iteration_ == int(np.argmax(values)) + 1 < 80


@pytest.mark.filterwarnings("ignore:a mean under:rankadapters.AboveValuesWarning")  # the mean weight is 1/2
def test_lgbmranker_weights_count_and_ignored_weights_warn_once_for_all_fits():
    metric, weights = ra.lightgbm.eval_metric([LIGHTGBM, TEXTBOOK]), np.random.default_rng(3).random(VALID.y.size)
    model = ranker(2)
    with pytest.warns(UserWarning, match=IGNORED_WEIGHTS) as warnings:
        fit_ranker(model, TRAIN, VALID, eval_metric=metric, eval_sample_weight=[weights])
    assert len(warnings) == 1
    fit_ranker(
        model, TRAIN, VALID, eval_metric=metric, eval_sample_weight=[weights]
    )  # a second warning would fail this test
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


def test_arrays_changed_in_place_are_noticed_and_not_kept_alive():
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
def test_a_direct_call_takes_lists(kind):
    metric = ra.lightgbm.eval_metric(LIGHTGBM)
    columns = VALID.y, VALID.X[:, 0], np.repeat(VALID.sizes % 3 + 1.0, VALID.sizes), VALID.sizes
    arrays = metric(*columns)
    for _ in range(2):
        assert metric(*(kind(column.tolist()) for column in columns)) == arrays
    assert [entry.dataset for entry in metric.history] == ["set_0", "set_1", "set_1"]


def test_a_regressor_without_groups_is_refused():
    regressor = lgb.LGBMRegressor(n_estimators=1, verbosity=-1)
    new = "eval_X" in inspect.signature(regressor.fit).parameters
    evals = {"eval_X": VALID.X, "eval_y": VALID.y} if new else {"eval_set": [(VALID.X, VALID.y)]}
    with pytest.raises(ra.InputError, match="the evaluation set has no group"):
        regressor.fit(VALID.X, VALID.y, eval_metric=ra.lightgbm.eval_metric(LETOR), **evals)


@pytest.mark.parametrize("cv", [False, True])
def test_rounds_are_counted_even_if_no_tree_is_added(cv):
    from sklearn.model_selection import GroupKFold

    metric, params, train_set = ra.lightgbm.eval_metric(LETOR), {**PARAMS, "min_gain_to_split": 50}, dataset(TRAIN)
    if cv:
        folds = GroupKFold(2).split(TRAIN.X, TRAIN.y, TRAIN.qid)
        lgb.cv(params, train_set, 4, folds=folds, feval=metric)
    else:
        booster = lgb.train(params, train_set, 4, valid_sets=[train_set], feval=metric)
        assert booster.current_iteration() < 4  # no further split gains enough
    sets = ["valid_fold_0", "valid_fold_1"] if cv else ["training"]
    assert [(entry.iteration, entry.dataset) for entry in metric.history] == [(i, s) for i in range(4) for s in sets]


def test_interleaved_trainings_have_separate_runs():
    metric = ra.lightgbm.eval_metric(LETOR)
    boosters = [lgb.Booster(PARAMS, dataset(TRAIN)) for _ in range(2)]
    for _ in range(3):
        for booster in boosters:
            booster.update()
            booster.eval_train(metric)
    entries = [(entry.run, entry.iteration, entry.dataset) for entry in metric.history]
    assert entries == [(run, i, "training") for i in range(3) for run in (0, 1)]
