"""Settings under which LightGBM trains differently with a callable objective: our warnings, and the causes."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_rankings import graded_ranking
from tests.helpers.tables import for_each

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

PARAMS = {"metric": "None", "verbosity": -1, "num_threads": 1, "num_leaves": 7, "min_data_in_leaf": 5}
DATA = graded_ranking(1, 20, 20, grades=5)
BAGGING = {"bagging_freq": 1, "bagging_fraction": 0.8}
BY_QUERY = {**BAGGING, "bagging_by_query": True}
DART = {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0}
WRONG_SETTINGS = [
    pytest.param(BY_QUERY, "bagging_by_query: LightGBM draws queries only for", id="by query"),
    pytest.param({"boost": "dart"}, 'boosting="dart": under a callable objective', id="dart"),
]
GOOD_SETTINGS = [{}, {"bagging_by_query": True}, {**BY_QUERY, "bagging_freq": 0}, {"feature_fraction": 0.5}, BAGGING]
ignore_our_warnings = pytest.mark.filterwarnings("ignore:boosting=|bagging_by_query:UserWarning")


def dataset(**more):
    return lgb.Dataset(DATA.X, label=DATA.y, group=DATA.sizes, params={"verbosity": -1}, **more)


def our_params(value=None):
    return {"objective": ra.lightgbm.objective(value or objectives.lightgbm.lambdarank(), n_threads=1)}


def trained(params, rounds=6, **more):
    return lgb.train({**PARAMS, **params}, dataset(), rounds, **more)


def predictions(params, rounds=6):
    return trained(params, rounds).predict(DATA.X, raw_score=True)


# Warnings


@pytest.mark.parametrize(("params", "message"), WRONG_SETTINGS)
def test_a_training_that_lightgbm_does_wrong_warns_once(params, message):
    with pytest.warns(UserWarning, match=rf"{message}[^\0]*\nHint: .*native_objective") as warnings:
        trained({**params, **our_params()})
    assert [warning.filename for warning in warnings] == [lgb.basic.__file__]  # it calls the objective


def ranker(params):
    return lgb.LGBMRanker(n_estimators=2, verbosity=-1, min_child_samples=5, **params, **our_params())


def cross_validate(params):
    from sklearn.model_selection import GroupKFold

    folds = list(GroupKFold(2).split(DATA.X, DATA.y, DATA.qid))
    lgb.cv({**PARAMS, **params, **our_params()}, dataset(free_raw_data=False), 2, folds=folds)


def update_once(params):
    lgb.Booster({**PARAMS, **params, "objective": "none"}, dataset()).update(fobj=our_params()["objective"])


TRAININGS = [
    lambda params: ranker(params).fit(DATA.X, DATA.y, group=DATA.sizes),
    lambda params: ra.sklearn.QueryRanker(ranker(params)).fit(DATA.X, DATA.y, qid=DATA.qid),
    cross_validate,
    update_once,
]


@for_each("train", TRAININGS)
@pytest.mark.parametrize(("params", "message"), WRONG_SETTINGS)
def test_rankers_cross_validation_and_updates_warn_too(params, message, train):
    with pytest.warns(UserWarning, match=message):
        train(params)


def test_good_settings_direct_calls_and_reused_datasets_do_not_warn():
    for params in GOOD_SETTINGS:
        trained({**params, **our_params()})
    by_hand = lgb.Dataset(DATA.X, DATA.y, group=DATA.sizes, params={**PARAMS, **DART}).construct()
    assert our_params()["objective"](np.zeros(DATA.y.size), by_hand)[0].any()
    data = dataset(free_raw_data=False)
    for _ in range(2):
        with pytest.warns(UserWarning, match='boosting="dart"'):
            lgb.train({**PARAMS, **DART, **our_params()}, data, 2)
        lgb.train({**PARAMS, **our_params()}, data, 2)


def test_random_forests_refuse_a_callable_themselves():
    with pytest.raises(lgb.basic.LightGBMError, match="RF mode do not support custom objective function"):
        trained({"boosting": "rf", **BAGGING, **our_params()})


# Causes: if LightGBM fixes one, its test fails, and we can drop the warning and the table line


@ignore_our_warnings
def test_bagging_by_query_trains_on_all_rows_and_spoils_row_0():
    scores_by_round = []

    def record(preds, data):
        scores_by_round.append(preds.copy())
        return our_params()["objective"](preds, data)

    booster = trained({**BY_QUERY, "objective": record})
    np.testing.assert_array_equal(booster.predict(DATA.X), predictions(our_params()))
    wrong = np.flatnonzero(np.abs(booster.predict(DATA.X, num_iteration=5) - scores_by_round[5]) > 1e-9)
    np.testing.assert_array_equal(wrong, [0])


@ignore_our_warnings
def test_bagging_by_query_of_half_the_rows_grows_no_tree():
    half = {**BY_QUERY, "bagging_fraction": 0.5}
    assert np.ptp(predictions({**half, **our_params()})) == 0
    assert np.ptp(predictions({**half, "objective": "lambdarank"})) > 0.1


@ignore_our_warnings
def test_dart_drops_trees_by_the_first_or_the_second_random_number():
    # LightGBM's own objectives draw one number in the first round, which has no tree to drop. With a callable, LightGBM
    # reads is_update_score_cur_iter_ before DART::TrainOneIter sets it: uninitialized memory decides whether it draws.
    from tests.helpers.replayed_lightgbm import seed_before

    second = predictions({**DART, "objective": "lambdarank", "drop_seed": 4})
    first = predictions({**DART, "objective": "lambdarank", "drop_seed": seed_before(4)})
    assert not np.array_equal(first, second)
    for _ in range(3):
        scores = predictions({**DART, **our_params(), "drop_seed": 4})
        assert np.array_equal(scores, first) or np.array_equal(scores, second)


@ignore_our_warnings
def test_dart_negates_dropped_trees_if_the_training_set_is_evaluated():
    drop_all = {**DART, "drop_rate": 1.0}  # every round drops all trees, whatever is drawn
    expected = predictions({**drop_all, "objective": "lambdarank"})
    np.testing.assert_array_equal(predictions({**drop_all, **our_params()}), expected)
    data, metric = dataset(), ra.lightgbm.eval_metric("lightgbm@10")
    evaluated = lgb.train({**PARAMS, **drop_all, **our_params()}, data, 6, valid_sets=[data], feval=metric)
    np.testing.assert_array_equal(evaluated.predict(DATA.X), -expected)


def test_the_native_objective_of_the_hint_trains_without_a_warning():
    native = ra.lightgbm.native_objective(objectives.lightgbm.lambdarank())
    for params in (BY_QUERY, DART):  # a warning would fail this test
        assert np.ptp(predictions({**params, **native})) > 0.1
