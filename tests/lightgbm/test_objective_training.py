"""Where LightGBM takes an objective: its functions, its loop of updates, and its scikit-learn estimators."""

from __future__ import annotations

import gc
import weakref
from itertools import cycle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.objective_data import graded
from tests.helpers.objective_drivers import XENDCG
from tests.tables import for_each, short

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from tests.helpers.lightgbm_objective_data import (  # noqa: E402 - after the skip
    BUILT_IN,
    CONVENTIONS,
    DEFAULTS,
    EXACT,
    PARAMS,
    assert_same,
    built_in,
    constructed,
    dataset,
    ours,
    pickled,
    predictions,
    preset,
    updated,
)


@for_each(("name", "options", "weighted"), [(*case, by) for case, by in zip(BUILT_IN, cycle((False, True)))])
def test_lgbmranker_trains_the_built_in_model(name, options, weighted):
    data = graded(6)
    weights = np.random.default_rng(4).random(data.y.size) if weighted else None
    found = []
    for params in (ours(preset(name, options)), built_in(name, options)):
        ranker = lgb.LGBMRanker(n_estimators=10, verbosity=-1, n_jobs=1, min_child_samples=5, **params)
        ranker.fit(data.X, data.y, group=data.sizes, sample_weight=weights)
        found.append(ranker.predict(data.X, raw_score=True))
    assert_same(*found)


def test_a_direct_call_takes_a_dataset_that_no_training_has_seen():
    data, value = graded(7), preset("lambdarank", {})
    weights = np.random.default_rng(5).random(data.y.size)
    scores, objective = np.linspace(0, 1, data.y.size), ra.lightgbm.objective(value)
    untouched = dataset(data, weight=weights)
    found = objective(scores, untouched)
    np.testing.assert_array_equal(found, ra.lightgbm.objective(value)(scores, constructed(data, weight=weights)))
    np.testing.assert_array_equal(objective(scores, untouched.construct()), found)


@pytest.mark.parametrize(("name", "options"), DEFAULTS, ids=short)
def test_one_object_trains_twice_with_equal_results(name, options):
    data, objective = graded(8), ours(preset(name, options))
    first, second = (predictions(objective, data) for _ in range(2))
    assert_same(first, predictions(built_in(name, options), data))
    np.testing.assert_array_equal(first, second)
    kept = dataset(data)
    boosters = [lgb.train({**PARAMS, **objective}, kept, 10) for _ in range(2)]
    np.testing.assert_array_equal(*(booster.predict(data.X) for booster in boosters))


@pytest.mark.parametrize(("name", "options"), DEFAULTS, ids=short)
def test_continued_training_is_that_of_the_built_in_objective(name, options):
    data, found = graded(9), []
    for objective in (ours(preset(name, options)), built_in(name, options)):
        first = lgb.train({**PARAMS, **objective}, dataset(data), 5, keep_training_booster=True)
        second = lgb.train({**PARAMS, **objective}, dataset(data), 5, init_model=first)
        assert second.num_trees() == 10
        found.append(second.predict(data.X, raw_score=True))
    assert_same(*found)


def test_a_kept_training_booster_goes_on():
    data, value = graded(9), preset("lambdarank", {})
    booster = lgb.train({**PARAMS, **ours(value)}, dataset(data), 5, keep_training_booster=True)
    for _ in range(5):
        booster.update(fobj=ra.lightgbm.objective(value))
    assert_same(booster.predict(data.X), predictions(built_in("lambdarank", {}), data, 10))


class Spy:
    """A metric that remembers the predictions that LightGBM hands over."""

    def __init__(self):
        self.seen = []

    def __call__(self, preds, data):
        self.seen.append(preds.copy())
        return "spy", 0.0, True


def test_metric_early_stopping_and_objective_work_side_by_side():
    train, valid, convention = graded(10), graded(11), CONVENTIONS[2]
    found = {}
    for name, objective in (("ours", ours(preset("lambdarank", {}))), ("built-in", built_in("lambdarank", {}))):
        spy, metric, log, first = Spy(), ra.lightgbm.eval_metric(convention), {}, dataset(train)
        booster = lgb.train(
            {**PARAMS, **objective, "learning_rate": 0.5}, first, 60,
            valid_sets=[first, dataset(valid, reference=first)], valid_names=["train", "valid"], feval=[spy, metric],
            callbacks=[ra.lightgbm.early_stopping(convention, rounds=5, verbose=False), lgb.record_evaluation(log)],
        )  # fmt: skip
        judged = [(train, valid)[number % 2] for number in range(len(spy.seen))]
        assert [entry.value for entry in metric.history] == [
            ra.evaluate(data.y, preds, convention, group_sizes=data.sizes).value
            for data, preds in zip(judged, spy.seen, strict=True)
        ]
        assert len(log["valid"][convention.name]) == booster.best_iteration + 5 < 60
        found[name] = log
    assert found["ours"] == found["built-in"]


def test_an_update_loop_draws_anew_each_round():
    data = graded(14)
    objective, train = ra.lightgbm.objective(XENDCG), dataset(data)
    booster = updated(lgb.Booster({**PARAMS, "objective": "none"}, train), objective, 10)
    assert_same(booster.predict(data.X), predictions(built_in("rank_xendcg", {}), data, 10))


@pytest.mark.parametrize("times", [1, 2])
def test_a_pickle_goes_on_where_training_was_interrupted(times):
    data = graded(14)
    objective, train = ra.lightgbm.objective(XENDCG), dataset(data)
    booster = updated(lgb.Booster({**PARAMS, "objective": "none"}, train), objective, 5)
    for _ in range(times):
        objective = pickled(objective)
    assert_same(updated(booster, objective, 5).predict(data.X), predictions(built_in("rank_xendcg", {}), data, 10))


def test_datasets_are_not_kept_alive():
    data, objective = graded(16), ra.lightgbm.objective(preset("lambdarank", {}))
    train = constructed(data)
    objective(np.zeros(data.y.size), train)
    labels = data.y.copy()
    objective(labels, np.zeros(data.y.size), None, data.sizes)
    gone = weakref.ref(train), weakref.ref(labels)
    del train, labels
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
    assert objective._training._bound == {}


def test_a_dataset_without_group_is_refused():
    data = graded(18)
    with pytest.raises(ra.InputError, match=r"the Dataset has no group.*\nHint: lgb.Dataset\(..., group=sizes\)"):
        lgb.train({**PARAMS, **ours(preset("lambdarank", {}))}, lgb.Dataset(data.X, label=data.y), 1)
    with pytest.raises(ra.InputError, match=r"the training data has no group.*\nHint: fit\(group=...\)"):
        lgb.LGBMRegressor(n_estimators=1, verbosity=-1, **ours(XENDCG)).fit(data.X, data.y)


def test_predictions_that_are_not_finite_stop_a_training():
    data, objective = graded(18), ra.lightgbm.objective(preset("lambdarank", {}))
    calls = []

    def poisoned(preds, train):
        calls.append(preds)
        return objective(np.where(np.arange(preds.size) == 11, np.nan, preds) if len(calls) == 3 else preds, train)

    with pytest.raises(ra.InputError, match=r"round 3: scores\[11\] is nan"):
        lgb.train({**PARAMS, "objective": poisoned}, dataset(data), 5)


def ndcg(data, scores):
    return ra.evaluate(data.y, scores, CONVENTIONS[2], group_sizes=data.sizes).value


def ranker(value, **more):
    return lgb.LGBMRanker(n_estimators=5, verbosity=-1, n_jobs=1, min_child_samples=5, **ours(value), **more)


def fitted_predictions(value, data):
    return ranker(value).fit(data.X, data.y, group=data.sizes).predict(data.X)


@pytest.mark.parametrize("value", [preset("lambdarank", {}), XENDCG], ids=lambda value: value.kind)
def test_rankers_are_cloned_pickled_and_fitted_again(value):
    from sklearn.base import clone

    data = graded(23)
    one = ranker(value).fit(data.X, data.y, group=data.sizes)
    expected = one.predict(data.X)
    assert one.get_params()["objective"].objective == value
    again = pickled(one)
    np.testing.assert_array_equal(again.predict(data.X), expected)
    for other in (again, clone(one), pickled(ranker(value)), one):
        assert other.get_params()["objective"].objective == value
        np.testing.assert_array_equal(other.fit(data.X, data.y, group=data.sizes).predict(data.X), expected)


def test_objectives_are_a_parameter_to_choose():
    data, candidate = graded(23), ranker(EXACT)
    for value in (EXACT, XENDCG):
        candidate.set_params(**ours(value), num_leaves=5)
        scores = candidate.fit(data.X, data.y, group=data.sizes).predict(data.X)
        assert ndcg(data, scores) > ndcg(data, np.zeros(data.y.size)) + 0.1
        assert str(value) in repr(candidate.objective)


def test_rankers_are_fitted_in_other_processes():
    joblib, data = pytest.importorskip("joblib"), graded(23)
    values = [preset("lambdarank", {}), XENDCG]
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(fitted_predictions)(value, data) for value in values)
    for value, scores in zip(values, found, strict=True):
        np.testing.assert_array_equal(scores, fitted_predictions(value, data))
