"""Settings under which LightGBM trains wrongly with a callable objective, as the notes of `objective` say."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_rankings import graded_ranking

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

PARAMS = {"metric": "None", "verbosity": -1, "num_threads": 1, "num_leaves": 7, "min_data_in_leaf": 5}
DATA = graded_ranking(1, 20, 20, grades=5)
BAGGING = {"bagging_freq": 1, "bagging_fraction": 0.8}
BY_QUERY = {**BAGGING, "bagging_by_query": True}
DART = {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0}


def dataset(**more):
    return lgb.Dataset(DATA.X, label=DATA.y, group=DATA.sizes, params={"verbosity": -1}, **more)


def our_params(value=None):
    return {"objective": ra.lightgbm.objective(value or objectives.lightgbm.lambdarank(), n_threads=1)}


def trained(params, rounds=6, **more):
    return lgb.train({**PARAMS, **params}, dataset(), rounds, **more)


def predictions(params, rounds=6):
    return trained(params, rounds).predict(DATA.X, raw_score=True)


def test_random_forests_refuse_a_callable_themselves():
    with pytest.raises(lgb.basic.LightGBMError, match="RF mode do not support custom objective function"):
        trained({"boosting": "rf", **BAGGING, **our_params()})


# If LightGBM fixes one of these, its test fails, and we can drop the note and the table line.


def test_bagging_by_query_trains_on_all_rows_and_spoils_row_0():
    scores_by_round = []

    def record(preds, data):
        scores_by_round.append(preds.copy())
        return our_params()["objective"](preds, data)

    booster = trained({**BY_QUERY, "objective": record})
    np.testing.assert_array_equal(booster.predict(DATA.X), predictions(our_params()))
    wrong = np.flatnonzero(np.abs(booster.predict(DATA.X, num_iteration=5) - scores_by_round[5]) > 1e-9)
    np.testing.assert_array_equal(wrong, [0])


def test_bagging_by_query_of_half_the_rows_grows_no_tree():
    half = {**BY_QUERY, "bagging_fraction": 0.5}
    assert np.ptp(predictions({**half, **our_params()})) == 0
    assert np.ptp(predictions({**half, "objective": "lambdarank"})) > 0.1


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


def test_dart_negates_dropped_trees_if_the_training_set_is_evaluated():
    drop_all = {**DART, "drop_rate": 1.0}  # every round drops all trees, whatever is drawn
    expected = predictions({**drop_all, "objective": "lambdarank"})
    np.testing.assert_array_equal(predictions({**drop_all, **our_params()}), expected)
    data, metric = dataset(), ra.lightgbm.eval_metric("lightgbm@10")
    evaluated = lgb.train({**PARAMS, **drop_all, **our_params()}, data, 6, valid_sets=[data], feval=metric)
    np.testing.assert_array_equal(evaluated.predict(DATA.X), -expected)


def test_the_native_objective_trains_under_these_settings():
    native = ra.lightgbm.native_objective(objectives.lightgbm.lambdarank())
    for params in (BY_QUERY, DART):
        assert np.ptp(predictions({**params, **native})) > 0.1
