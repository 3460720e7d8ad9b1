"""What LightGBM does otherwise under a callable objective: its cause, and what we say of it."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_rankings import graded
from tests.helpers.tables import for_each

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

PARAMS = {"metric": "None", "verbosity": -1, "num_threads": 1, "num_leaves": 7, "min_data_in_leaf": 5}
DATA = graded(1, 20, 20, grades=5)
BAGGING = {"bagging_freq": 1, "bagging_fraction": 0.8}
BY_QUERY = {**BAGGING, "bagging_by_query": True}
DART = {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0}
BROKEN = [
    pytest.param(BY_QUERY, "bagging_by_query: LightGBM draws queries only for", id="by query"),
    pytest.param({"boost": "dart"}, 'boosting="dart": under a callable objective', id="dart"),
]
WELL = [{}, {"bagging_by_query": True}, {**BY_QUERY, "bagging_freq": 0}, {"feature_fraction": 0.5}, BAGGING]
quietly = pytest.mark.filterwarnings("ignore:boosting=|bagging_by_query:UserWarning")


def dataset(**more):
    return lgb.Dataset(DATA.X, label=DATA.y, group=DATA.sizes, params={"verbosity": -1}, **more)


def ours(value=None):
    return {"objective": ra.lightgbm.objective(value or objectives.lightgbm.lambdarank(), n_threads=1)}


def trained(params, rounds=6, **more):
    return lgb.train({**PARAMS, **params}, dataset(), rounds, **more)


def predictions(params, rounds=6):
    return trained(params, rounds).predict(DATA.X, raw_score=True)


# Warnings


@pytest.mark.parametrize(("params", "message"), BROKEN)
def test_a_training_that_lightgbm_does_wrong_warns_once(params, message):
    with pytest.warns(UserWarning, match=rf"{message}[^\0]*\nHint: .*native_objective") as seen:
        trained({**params, **ours()})
    assert [each.filename for each in seen] == [lgb.basic.__file__]  # which calls the objective


def fitted(params):
    return lgb.LGBMRanker(n_estimators=2, verbosity=-1, min_child_samples=5, **params, **ours())


def folded(params):
    from sklearn.model_selection import GroupKFold

    folds = list(GroupKFold(2).split(DATA.X, DATA.y, DATA.qid))
    lgb.cv({**PARAMS, **params, **ours()}, dataset(free_raw_data=False), 2, folds=folds)


WAYS = [
    lambda params: fitted(params).fit(DATA.X, DATA.y, group=DATA.sizes),
    lambda params: ra.sklearn.QueryRanker(fitted(params)).fit(DATA.X, DATA.y, qid=DATA.qid),
    folded,
    lambda params: lgb.Booster({**PARAMS, **params, "objective": "none"}, dataset()).update(fobj=ours()["objective"]),
]


@for_each("way", WAYS)
@pytest.mark.parametrize(("params", "message"), BROKEN)
def test_rankers_folds_and_a_loop_of_updates_warn_too(params, message, way):
    with pytest.warns(UserWarning, match=message):
        way(params)


def test_other_settings_calls_by_hand_and_datasets_trained_on_before_do_not_warn():
    for params in WELL:
        trained({**params, **ours()})
    by_hand = lgb.Dataset(DATA.X, DATA.y, group=DATA.sizes, params={**PARAMS, **DART}).construct()
    assert ours()["objective"](np.zeros(DATA.y.size), by_hand)[0].any()
    data = dataset(free_raw_data=False)
    for _ in range(2):
        with pytest.warns(UserWarning, match='boosting="dart"'):
            lgb.train({**PARAMS, **DART, **ours()}, data, 2)
        lgb.train({**PARAMS, **ours()}, data, 2)


def test_random_forests_refuse_a_callable_themselves():
    with pytest.raises(lgb.basic.LightGBMError, match="RF mode do not support custom objective function"):
        trained({"boosting": "rf", **BAGGING, **ours()})


# Causes: where LightGBM mends one, the test fails, and warning and table can go


@quietly
def test_bagging_by_query_trains_on_all_rows_and_spoils_row_0():
    seen = []

    def watched(preds, data):
        seen.append(preds.copy())
        return ours()["objective"](preds, data)

    booster = trained({**BY_QUERY, "objective": watched})
    np.testing.assert_array_equal(booster.predict(DATA.X), predictions(ours()))
    wrong = np.flatnonzero(np.abs(booster.predict(DATA.X, num_iteration=5) - seen[5]) > 1e-9)
    np.testing.assert_array_equal(wrong, [0])


@quietly
def test_bagging_by_query_of_half_the_rows_grows_no_tree():
    half = {**BY_QUERY, "bagging_fraction": 0.5}
    assert np.ptp(predictions({**half, **ours()})) == 0
    assert np.ptp(predictions({**half, "objective": "lambdarank"})) > 0.1


@quietly
def test_dart_draws_its_drops_from_the_first_number_or_the_second():
    # LightGBM's own objectives draw one number in the first round, which has no tree to drop. A callable asks for
    # scores before DART::TrainOneIter has set is_update_score_cur_iter_, so that the memory decides whether it draws.
    from tests.helpers.replayed_lightgbm import seed_before

    second = predictions({**DART, "objective": "lambdarank", "drop_seed": 4})
    first = predictions({**DART, "objective": "lambdarank", "drop_seed": seed_before(4)})
    assert not np.array_equal(first, second)
    for _ in range(3):
        found = predictions({**DART, **ours(), "drop_seed": 4})
        assert np.array_equal(found, first) or np.array_equal(found, second)


@quietly
def test_dart_turns_round_what_it_dropped_where_the_training_set_is_evaluated():
    every = {**DART, "drop_rate": 1.0}  # all trees in each round, however they are drawn
    np.testing.assert_array_equal(predictions({**every, **ours()}), predictions({**every, "objective": "lambdarank"}))
    data = dataset()
    evaluated = lgb.train(
        {**PARAMS, **every, **ours()}, data, 6, valid_sets=[data], feval=ra.lightgbm.eval_metric("lightgbm@10")
    )
    np.testing.assert_array_equal(evaluated.predict(DATA.X), -predictions({**every, **ours()}))


def test_the_hint_holds():
    native = ra.lightgbm.native_objective(objectives.lightgbm.lambdarank())
    for params in (BY_QUERY, DART):  # where a warning would fail this test
        assert np.ptp(predictions({**params, **native})) > 0.1
