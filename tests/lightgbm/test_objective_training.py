"""Where LightGBM takes an objective: its functions, its loop of updates, folds, and its scikit-learn estimators."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.built_in_trainings import LightGBM, assert_same
from tests.helpers.objective_rankings import graded
from tests.helpers.objective_trainings import XENDCG
from tests.helpers.tables import for_each, short

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

DRIVER = LightGBM()
PARAMS, dataset = DRIVER.params, DRIVER.dataset
LAMBDARANK = ra.objectives.lightgbm.lambdarank()
VALUES = {"lambdarank": LAMBDARANK, "rank_xendcg": XENDCG}
LETOR, TEXTBOOK = ra.presets.letor4(10), ra.presets.textbook(10)
each_objective = pytest.mark.parametrize("name", VALUES)


def ours(value):
    return {"objective": ra.lightgbm.objective(value, n_threads=1)}


def both(name):
    return ours(VALUES[name]), {"objective": name}


def pickled(value):
    return pickle.loads(pickle.dumps(value))


def group_folds(data, n_folds=3):
    from sklearn.model_selection import GroupKFold

    return list(GroupKFold(n_folds).split(data.X, data.y, data.qid))


# Trainings


def test_a_direct_call_takes_a_dataset_that_no_training_has_seen():
    data, objective = graded(7), ra.lightgbm.objective(LAMBDARANK)
    weights, scores = np.random.default_rng(5).random(data.y.size), np.linspace(0, 1, data.y.size)
    untouched = dataset(data, weight=weights)
    found = objective(scores, untouched)
    constructed = dataset(data, weight=weights).construct()
    np.testing.assert_array_equal(found, ra.lightgbm.objective(LAMBDARANK)(scores, constructed))
    np.testing.assert_array_equal(objective(scores, untouched.construct()), found)


@each_objective
def test_one_object_trains_twice_with_equal_results(name):
    data, objective = graded(8), ours(VALUES[name])
    first, second = (DRIVER.predictions(data, objective) for _ in range(2))
    assert_same(first, DRIVER.predictions(data, {"objective": name}))
    np.testing.assert_array_equal(first, second)
    kept = dataset(data)
    boosters = [lgb.train({**PARAMS, **objective}, kept, 10) for _ in range(2)]
    np.testing.assert_array_equal(*(booster.predict(data.X) for booster in boosters))


@each_objective
def test_continued_training_is_that_of_the_built_in_objective(name):
    data, found = graded(9), []
    for objective in both(name):
        first = lgb.train({**PARAMS, **objective}, dataset(data), 5, keep_training_booster=True)
        second = lgb.train({**PARAMS, **objective}, dataset(data), 5, init_model=first)
        assert second.num_trees() == 10
        found.append(second.predict(data.X, raw_score=True))
    assert_same(*found)


@pytest.mark.parametrize("pickles", [0, 1, 2])
def test_a_loop_of_updates_draws_anew_each_round_and_a_pickle_goes_on_where_it_was_interrupted(pickles):
    data, objective = graded(14), ra.lightgbm.objective(XENDCG)
    booster = lgb.Booster({**PARAMS, "objective": "none"}, dataset(data))
    for number in range(10):
        for _ in range(pickles if number == 5 else 0):
            objective = pickled(objective)
        booster.update(fobj=objective)
    assert_same(booster.predict(data.X), DRIVER.predictions(data, {"objective": "rank_xendcg"}))


class Spy:
    """A metric that remembers the predictions that LightGBM hands over."""

    def __init__(self):
        self.seen = []

    def __call__(self, preds, data):
        self.seen.append(preds.copy())
        return "spy", 0.0, True


def test_metric_early_stopping_and_objective_work_side_by_side():
    train, valid, logs = graded(10), graded(11), []
    for objective in both("lambdarank"):
        spy, metric, log, first = Spy(), ra.lightgbm.eval_metric(TEXTBOOK), {}, dataset(train)
        stop = ra.lightgbm.early_stopping(TEXTBOOK, rounds=5, verbose=False)
        booster = lgb.train(
            {**PARAMS, **objective, "learning_rate": 0.5}, first, 60, feval=[spy, metric],
            valid_sets=[first, dataset(valid, reference=first)], valid_names=["train", "valid"],
            callbacks=[stop, lgb.record_evaluation(log)],
        )  # fmt: skip
        assert [entry.value for entry in metric.history] == [
            ra.evaluate(data.y, preds, TEXTBOOK, group_sizes=data.sizes).value
            for data, preds in zip([train, valid] * (len(spy.seen) // 2), spy.seen, strict=True)
        ]
        assert len(log["valid"][TEXTBOOK.name]) == booster.best_iteration + 5 < 60
        logs.append(log)
    assert logs[0] == logs[1]


# Folds and subsets


@pytest.mark.parametrize("turned_round", [False, True])
@each_objective
def test_cv_with_folds_of_whole_queries_equals_the_built_in_objective(name, turned_round):
    data, metric = graded(12), ra.lightgbm.eval_metric(LETOR)
    folds = group_folds(data)[:: -1 if turned_round else 1]
    results = [
        lgb.cv({**PARAMS, **objective}, dataset(data), 8, folds=folds, feval=metric, eval_train_metric=True,
               return_cvbooster=True)
        for objective in both(name)
    ]  # fmt: skip
    boosters = (result.pop("cvbooster").boosters for result in results)
    for first, second in zip(*boosters, strict=True):
        assert_same(first.predict(data.X, raw_score=True), second.predict(data.X, raw_score=True))
    assert results[0] == results[1]


@pytest.mark.parametrize("how", [{}, {"stratified": False}, {"stratified": False, "shuffle": False}], ids=short)
def test_cv_with_its_default_folds_is_refused_and_the_way_out_works(how):
    from sklearn.model_selection import GroupKFold, KFold

    data, params = graded(12), {**PARAMS, **ours(LAMBDARANK)}
    message = r"has \d+ of the \d+ rows of query \d+: its queries were cut(.|\n)*Hint: lgb.cv\(folds=.*GroupKFold"
    for folds in ({"nfold": 3}, {"folds": KFold(3).split(data.X)}):
        with pytest.raises(ra.InputError, match=message):
            lgb.cv(params, dataset(data), 2, **folds, **how)
    folds = GroupKFold(5)  # as the hint says
    result = lgb.cv(params, dataset(data), 2, folds=folds, feval=ra.lightgbm.eval_metric(LETOR), **how)
    assert len(result[f"valid {LETOR.name}-mean"]) == 2


def test_a_subset_of_whole_queries_trains_as_its_own_dataset():
    data = graded(13)
    rows = np.flatnonzero(data.qid % 3 > 0)
    boosters = [lgb.train({**PARAMS, **objective}, dataset(data).subset(rows), 5) for objective in both("rank_xendcg")]
    assert_same(*(booster.predict(data.X, raw_score=True) for booster in boosters))


@for_each(
    ("sizes", "subsets", "message"),
    [
        ([5, 20, 15], [range(12, 30)], "has 13 of the 20 rows of query 1"),
        ([20, 20, 20], [range(5, 60), range(55)], "has 15 of the 20 rows of query 0"),
    ],
)
def test_the_first_of_the_cut_queries_is_named_through_subsets_of_subsets(sizes, subsets, message):
    n_rows = sum(sizes)
    X = np.random.default_rng(0).random((n_rows, 2))
    part = lgb.Dataset(X, np.arange(n_rows) % 3, group=sizes, free_raw_data=False).construct()
    for rows in subsets:
        part = part.subset(rows)
    with pytest.raises(ra.InputError, match=f"{message}: its queries were cut"):
        ra.lightgbm.objective(XENDCG)(np.zeros(len(subsets[-1])), part.construct())


# scikit-learn's interface


def ranker(objective, **more):
    return lgb.LGBMRanker(n_estimators=5, verbosity=-1, n_jobs=1, min_child_samples=5, **objective, **more)


@pytest.mark.parametrize("weighted", [False, True])
@each_objective
def test_lgbmranker_trains_the_built_in_model_and_is_cloned_pickled_and_fitted_again(name, weighted):
    from sklearn.base import clone

    data = graded(6)
    weights = np.random.default_rng(4).random(data.y.size) if weighted else None

    def fitted(model):
        return model.fit(data.X, data.y, group=data.sizes, sample_weight=weights).predict(data.X, raw_score=True)

    one, built_in = map(ranker, both(name))
    expected = fitted(one)
    assert_same(expected, fitted(built_in))
    again = pickled(one)
    np.testing.assert_array_equal(again.predict(data.X), expected)
    for other in (again, clone(one), pickled(ranker(ours(VALUES[name]))), one):
        assert other.get_params()["objective"].objective == VALUES[name]
        np.testing.assert_array_equal(fitted(other), expected)


def test_objectives_are_a_parameter_to_choose():
    data, candidate = graded(23), ranker({})
    at_first = ra.evaluate(data.y, np.zeros(data.y.size), TEXTBOOK, group_sizes=data.sizes).value
    for value in (LAMBDARANK.replace(sigmoid="exact"), XENDCG):
        candidate.set_params(**ours(value), num_leaves=5)
        scores = candidate.fit(data.X, data.y, group=data.sizes).predict(data.X)
        assert ra.evaluate(data.y, scores, TEXTBOOK, group_sizes=data.sizes).value > at_first + 0.1
        assert str(value) in repr(candidate.objective)


def test_labels_of_a_ranker_are_not_kept_alive():
    data, objective = graded(16), ra.lightgbm.objective(LAMBDARANK)
    labels = data.y.copy()
    objective(labels, np.zeros(data.y.size), None, data.sizes)
    del labels
    gc.collect()
    assert objective._training._bound == {}


def test_a_regressor_has_no_group():
    data = graded(18)
    with pytest.raises(ra.InputError, match=r"the training data has no group.*\nHint: fit\(group=...\)"):
        lgb.LGBMRegressor(n_estimators=1, verbosity=-1, **ours(XENDCG)).fit(data.X, data.y)
