"""Our objectives in `lgb.train`, in `Booster.update`, in `lgb.cv` and in LightGBM's scikit-learn estimators."""

import pickle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.objective_rankings import graded_ranking
from tests.helpers.objective_trainings import XENDCG, LightGBM, assert_same_predictions
from tests.helpers.parameters import long_except

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

DRIVER = LightGBM()
PARAMS, dataset = DRIVER.params, DRIVER.dataset
LAMBDARANK = ra.objectives.lightgbm.lambdarank()
VALUES = {"lambdarank": LAMBDARANK, "rank_xendcg": XENDCG}
LETOR = ra.presets.letor4(10)
EACH_OBJECTIVE = pytest.mark.parametrize("name", long_except(VALUES, "lambdarank"))


def our_params(value):
    return {"objective": ra.lightgbm.objective(value, n_threads=1)}


def both_params(name):
    return our_params(VALUES[name]), {"objective": name}


def pickled(value):
    return pickle.loads(pickle.dumps(value))


def group_folds(data, n_folds=3):
    from sklearn.model_selection import GroupKFold

    return list(GroupKFold(n_folds).split(data.X, data.y, data.qid))


# Trainings


def test_a_direct_call_takes_a_dataset_that_is_not_constructed():
    data, objective = graded_ranking(7), ra.lightgbm.objective(LAMBDARANK)
    weights, scores = np.random.default_rng(5).random(data.y.size), np.linspace(0, 1, data.y.size)
    lazy = dataset(data, weight=weights)
    derivatives = objective(scores, lazy)
    constructed = dataset(data, weight=weights).construct()
    np.testing.assert_array_equal(derivatives, ra.lightgbm.objective(LAMBDARANK)(scores, constructed))
    np.testing.assert_array_equal(objective(scores, lazy.construct()), derivatives)


@EACH_OBJECTIVE
def test_continued_training_equals_the_built_in_objective(name):
    data, predictions = graded_ranking(9), []
    for objective in both_params(name):
        first = lgb.train({**PARAMS, **objective}, dataset(data), 5, keep_training_booster=True)
        second = lgb.train({**PARAMS, **objective}, dataset(data), 5, init_model=first)
        assert second.num_trees() == 10
        predictions.append(second.predict(data.X, raw_score=True))
    assert_same_predictions(*predictions)


def test_each_update_draws_anew_and_a_pickle_starts_anew():
    data, objective = graded_ranking(14), ra.lightgbm.objective(XENDCG)
    booster = lgb.Booster({**PARAMS, "objective": "none"}, dataset(data))
    for _ in range(10):
        booster.update(fobj=objective)
    assert_same_predictions(booster.predict(data.X), DRIVER.predictions(data, {"objective": "rank_xendcg"}))
    scores, train = np.zeros(data.y.size), dataset(data).construct()
    first, second = (objective(scores, train)[0] for _ in range(2))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(pickled(objective)(scores, train)[0], first)


# Folds and subsets


@pytest.mark.parametrize("reverse_folds", [False, True])
@EACH_OBJECTIVE
def test_cv_with_folds_of_whole_queries_equals_the_built_in_objective(name, reverse_folds):
    data, metric = graded_ranking(12), ra.lightgbm.eval_metric(LETOR)
    folds = group_folds(data)[:: -1 if reverse_folds else 1]
    results = [
        lgb.cv({**PARAMS, **objective}, dataset(data), 8, folds=folds, feval=metric, eval_train_metric=True,
               return_cvbooster=True)
        for objective in both_params(name)
    ]  # fmt: skip
    boosters = (result.pop("cvbooster").boosters for result in results)
    for our_booster, built_in_booster in zip(*boosters, strict=True):
        assert_same_predictions(
            our_booster.predict(data.X, raw_score=True), built_in_booster.predict(data.X, raw_score=True)
        )
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("sizes", "subsets", "message"),
    [
        ([5, 20, 15], [range(12, 30)], "has 13 of the 20 rows of query 1"),
        ([20, 20, 20], [range(5, 60), range(55)], "has 15 of the 20 rows of query 0"),
    ],
)
def test_the_first_cut_query_is_named_even_in_a_subset_of_a_subset(sizes, subsets, message):
    n_rows = sum(sizes)
    X = np.random.default_rng(0).random((n_rows, 2))
    part = lgb.Dataset(X, np.arange(n_rows) % 3, group=sizes, free_raw_data=False).construct()
    for rows in subsets:
        part = part.subset(rows)
    with pytest.raises(ra.InputError, match=f"{message}: its queries were cut"):
        ra.lightgbm.objective(XENDCG)(np.zeros(len(subsets[-1])), part.construct())


# scikit-learn's interface


def test_a_regressor_without_groups_is_refused():
    data = graded_ranking(18)
    with pytest.raises(ra.InputError, match=r"the data has no group.*\nHint: LGBMRanker\.fit\(group=sizes"):
        lgb.LGBMRegressor(n_estimators=1, verbosity=-1, **our_params(XENDCG)).fit(data.X, data.y)
