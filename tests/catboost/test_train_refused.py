"""What a training of CatBoost one tree a round refuses, and what it makes of parameters."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.tables import for_each

cb = pytest.importorskip("catboost")

from rankadapters.catboost.training_params import REFUSED, TrainingParams, seed_of  # noqa: E402 - after the skip
from tests.helpers.catboost_pools import CONV, LAMBDARANK, PLAIN, QUERY_RMSE, pool, query_weights, rows  # noqa: E402


@for_each("name", REFUSED)
def test_a_parameter_that_has_no_place_is_refused_by_name_with_the_way_out(name):
    with pytest.raises(ra.InputError, match=rf"{name}='mine' cannot be used in ra.catboost.train(.|\n)*Hint: \w"):
        ra.catboost.train({**PLAIN, name: "mine"}, pool(), QUERY_RMSE)


@for_each(("name", "value"), [(name, value) for name, entry in REFUSED.items() for value in entry[0]])
def test_a_value_that_says_what_is_done_anyway_is_taken(name, value):
    assert replace(TrainingParams.of({name: value}), declared={}) == TrainingParams.of({})


@for_each(
    ("name", "done", "not_done"),
    [
        ("leaf_estimation_method", "Newton", "Gradient"), ("leaf_estimation_iterations", 1, 2),
        ("leaf_estimation_backtracking", "No", "AnyImprovement"), ("boosting_type", "Plain", "Ordered"),
        ("boost_from_average", False, True), ("task_type", "CPU", "GPU"), ("model_shrink_rate", 0, 1),
        ("langevin", False, True), ("posterior_sampling", False, True), ("od_type", "Iter", "IncToDec"),
        ("od_pval", 0, 1), ("best_model_min_trees", 1, 2), ("eval_fraction", 0, 0.5),
        ("auto_class_weights", "None", "Balanced"), ("scale_pos_weight", 1, 2), ("allow_writing_files", False, True),
        ("save_snapshot", False, True), ("logging_level", "Silent", "Verbose"), ("silent", True, False),
        ("metric_period", 1, 2),
    ],
)  # fmt: skip
def test_of_the_values_only_what_is_done_is_taken(name, done, not_done):
    assert TrainingParams.of({name: done}).declared == {name: done}
    with pytest.raises(ra.InputError, match=f"{name}=.* cannot be used in ra.catboost.train"):
        TrainingParams.of({name: not_done})


@for_each(
    ("params", "message"),
    [
        ({"iterations": 0}, "iterations=0; allowed are whole numbers from 1 on"),
        ({"iterations": 2.5}, "iterations=2.5; allowed are whole"),
        ({"n_estimators": 3, "iterations": 4}, "params has 'iterations' under two names"),
        ({"learning_rate": 0}, "learning_rate=0; allowed are finite numbers above 0"),
        ({"learning_rate": math.nan}, "learning_rate=nan; allowed are finite numbers above 0"),
        ({"l2_leaf_reg": -1}, "l2_leaf_reg=-1; allowed are finite numbers from 0 on"),
        ({"random_strength": "1"}, "random_strength='1'; allowed are finite numbers from 0 on"),
        ({"random_seed": -1}, "random_seed=-1; allowed are whole numbers from 0 on"),
        ({"early_stopping_rounds": 0}, "early_stopping_rounds=0; allowed are whole numbers from 1 on"),
        ({"thread_count": 0}, "thread_count=0; allowed are whole numbers from 1 on, or -1 for all CPUs"),
        ({"thread_count": -3}, "thread_count=-3; allowed are"),
        ({"thread_count": "2"}, "thread_count='2'; allowed are"),
        ({"use_best_model": "no"}, "use_best_model='no'; allowed are True, False"),
        ({"verbose": "yes"}, "verbose='yes'; allowed are whole numbers from 0 on"),
        ({"objective": "RMSE"}, "objective='RMSE' cannot be used(.|\n)*read_objective"),
        (7, "params=7 is not a mapping"),
    ],
)
def test_parameters_that_are_none_are_refused(params, message):
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.train(params, pool(), QUERY_RMSE)


def test_defaults_are_catboosts_and_the_least_values_are_taken():
    default = TrainingParams.of({})
    numbers = default.rounds, default.learning_rate, default.random_seed, default.random_strength, default.l2_leaf_reg
    assert numbers == (1000, 0.03, 0, 1, 3)
    assert (default.verbose, default.patience, default.use_best_model, default.n_threads) == (0, None, None, None)
    least = {"iterations": 1, "random_seed": 0, "random_strength": 0, "l2_leaf_reg": 0, "verbose": 0}
    params = TrainingParams.of({**least, "early_stopping_rounds": 1, "thread_count": 1})
    found = params.rounds, params.random_seed, params.random_strength, params.l2_leaf_reg, params.verbose
    assert found == (1, 0, 0, 0, 0)
    assert (params.patience, params.n_threads) == (1, 1)
    assert TrainingParams.of({"thread_count": -1}).n_threads is None


@pytest.mark.parametrize(
    ("params", "argument"),
    [
        ({"od_wait": 5}, {"early_stopping_rounds": 10}),
        ({"early_stopping_rounds": 5}, {"early_stopping_rounds": 10}),
        ({"use_best_model": False}, {"use_best_model": True}),
        ({"verbose_eval": 5}, {"verbose": 10}),
    ],
)
def test_an_argument_that_params_has_too_is_refused(params, argument):
    [(name, value)], [(other, said)] = argument.items(), params.items()
    with pytest.raises(ra.InputError) as caught:
        ra.catboost.train({**PLAIN, **params}, pool(), QUERY_RMSE, CONV, eval_set=pool(1), **argument)
    assert str(caught.value) == f"{name}={value} is also in params={{{other!r}: {said}}}.\nHint: keep one."


def test_a_parameter_that_is_none_says_nothing_beside_an_argument():
    params = {**PLAIN, "iterations": 3, "od_wait": None}
    assert ra.catboost.train(params, pool(), QUERY_RMSE, CONV, eval_set=pool(1), early_stopping_rounds=1).tree_count_


def test_a_parameter_that_catboost_does_not_know_is_its_own_error():
    with pytest.raises(cb.CatBoostError, match="nonsense"):
        ra.catboost.train({**PLAIN, "nonsense": 1}, pool(), QUERY_RMSE)


@pytest.mark.filterwarnings("ignore:.* encountered in")
@pytest.mark.parametrize(
    ("objective", "what"),
    [
        (ra.objectives.catboost.pair_logit().replace(sigma=1e300), "gradient"),
        (ra.objectives.ApproxNDCG(convention="textbook@3", temperature=1, hessian=1e300), "hessian"),
    ],
)
def test_derivatives_beyond_float32_are_refused(objective, what):
    with pytest.raises(
        ra.InputError, match=rf"round 1: the objective gives row \d+ a {what} of -?(inf|nan), .*\nHint: a smaller"
    ):
        ra.catboost.train(PLAIN, pool(), objective)


@for_each("callbacks", [[1], print, [print]])
def test_callbacks_that_are_none_are_refused(callbacks):
    with pytest.raises(ra.InputError, match=r"callbacks has .*, without a method after_iteration\(info\)\.\nHint: "):
        ra.catboost.train(PLAIN, pool(), QUERY_RMSE, callbacks=callbacks)


PAIR_LOGIT = ra.objectives.catboost.pair_logit()


def of(X=None, **columns):
    """A pool of other features or columns; those that are None are left out."""
    features, y, qid = rows()
    columns = {"label": y, "group_id": qid, **columns}
    given = {name: column for name, column in columns.items() if column is not None}
    return cb.Pool(features if X is None else [X] * y.size, **given)


@for_each(
    ("data", "message"),
    [
        (rows()[0], "of type ndarray.\nHint: catboost.Pool"),
        (of(label=None), "the Pool has no labels"),
        (of(group_id=None), "the Pool has no group ids, so its rows belong to no query.\nHint: catboost.Pool"),
        (of(pairs=[[0, 1]]), "has pairs, but an objective makes pairs"),
        (
            of(["a b", 1.0], text_features=[0]),
            r"has text features \[0\], and CatBoost cannot sum models with these.\nHint: encode",
        ),
        (of([[1.0, 2.0], 1.0], embedding_features=[0]), r"has embedding features \[0\], and CatBoost cannot sum"),
        (
            of(baseline=rows()[0][:, :2]),
            "the Pool has a baseline of 2 columns, but a ranking has one score per row.\nHint: catboost.Pool",
        ),
        (of(weight=np.arange(3000.0) + 1), "varies within a query, at row 1, (.|\n)*Hint: .*group_weight"),
    ],
)  # fmt: skip
def test_a_pool_that_cannot_be_trained_on_or_watched_is_refused(data, message):
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.train(PLAIN, data, QUERY_RMSE)
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.train(PLAIN, pool(), QUERY_RMSE, CONV, eval_set=data)


@for_each(
    ("labels", "objective", "message"),
    [
        (np.ones(3000), PAIR_LOGIT, "all labels of the pool are 1, so that no order is better"),
        (rows()[1] + 1e6, PAIR_LOGIT, r"labels\[\d+\] is 1e\+06, so large that .* loses the steps"),
        (rows()[2] % 3, LAMBDARANK, r"no gradient in round 1.\nHint: queries with rows of different labels"),
    ],
)
def test_labels_that_nothing_can_be_learnt_of_are_refused(labels, objective, message):
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.train(PLAIN, of(label=labels), objective)


@pytest.mark.parametrize(("hessian", "message"), [(0.0, "no hessian in round 1"), (-1.0, "a hessian of -1 in round 1")])
def test_hessians_that_no_tree_can_weigh_rows_by_are_refused(hessian, message, monkeypatch):
    from rankadapters.callbacks.objectives import Training

    derivatives = np.ones(3000, np.float32), np.full(3000, hessian, np.float32)
    monkeypatch.setattr(Training, "gradients", lambda *_: derivatives)
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.train(PLAIN, pool(), QUERY_RMSE)


@for_each(
    ("given", "message"),
    [
        ({"eval_set": pool(1)}, "eval_set has no convention"),
        ({"eval_set": rows()[0], "convention": CONV}, r"eval_set\[0\] is of type ndarray.\nHint: catboost.Pool"),
        ({"eval_set": rows()[:2], "convention": CONV}, r"eval_set\[0\] is of type ndarray.\nHint: catboost.Pool"),
        ({"convention": 5}, "5 is not a convention"),
        ({"names": ["a"]}, "names has no convention"),
        ({"convention": CONV, "early_stopping_rounds": 3}, "early_stopping_rounds has no validation set"),
        ({"convention": CONV, "use_best_model": True}, "use_best_model has no validation set"),
        ({"convention": [CONV, CONV]}, "two conventions report under one name"),
        ({"convention": "letor4@10"}, r"learn: labels\[\d+\] is \d, outside the gain table"),
        ({"objective": CONV}, "is not an objective"),
    ],
)
def test_what_is_watched_and_by_what_belong_together(given, message):
    with pytest.raises((ra.InputError, ra.ConventionError), match=message):
        ra.catboost.train(PLAIN, pool(), **{"objective": QUERY_RMSE, **given})


def test_a_list_of_no_sets_watches_nothing():
    assert ra.catboost.train(PLAIN, pool(), QUERY_RMSE, eval_set=[]).tree_count_ == 10


def test_what_quantizes_has_no_place_beside_a_quantized_pool():
    train = pool()
    train.quantize()
    with pytest.raises(
        ra.InputError, match=r"border_count cannot be used: the Pool is quantized already.\nHint: pass it"
    ):
        ra.catboost.train({**PLAIN, "max_bin": 32}, train, QUERY_RMSE)


def test_a_pool_quantized_to_more_than_255_borders_is_refused():
    train, valid = pool(), pool(1)
    for data in (train, valid):
        data.quantize(border_count=300)
    message = r"the Pool is quantized with more than 255 borders of a feature(.|\n)*Hint: pass the Pool before"
    with pytest.raises(ra.InputError, match=f"learn: {message}"):
        ra.catboost.train(PLAIN, train, QUERY_RMSE)
    with pytest.raises(ra.InputError, match=f"validation: {message}"):
        ra.catboost.train({**PLAIN, "border_count": 300}, pool(), QUERY_RMSE, CONV, eval_set=valid)


def test_scores_that_are_not_finite_name_the_round():
    start = np.zeros(3000)
    start[4] = np.nan
    with pytest.raises(ra.InputError, match=r"round 1: scores\[4\] is nan"):
        ra.catboost.train(PLAIN, pool(baseline=start), QUERY_RMSE)


def test_noise_fades_and_the_ridge_is_of_rows_that_weigh_one():
    params = TrainingParams.of({"learning_rate": 0.5, "random_strength": 2, "l2_leaf_reg": 3})
    first, later = (params.of_tree(place, 100, 0.25) for place in (0, 20))
    left = 100 * math.exp(-20 * 0.5)
    assert first["random_strength"] == 2
    assert later["random_strength"] == pytest.approx(2 * left / (1 + left) / (100 / 101))
    assert first["l2_leaf_reg"] == 12
    gumbel = TrainingParams.of({"learning_rate": 0.5, "random_strength": 2, "random_score_type": "Gumbel"})
    assert gumbel.of_tree(20, 100, 1)["random_strength"] == 2


def test_seeds_of_trainings_and_rounds_are_all_different():
    assert len({seed_of(seed, place) for seed in range(30) for place in range(30)}) == 900


def test_weights_of_a_training_set_that_alone_is_reported_are_not_ignored_in_silence():
    train = pool(group_weight=query_weights())
    with pytest.warns(UserWarning, match=f"the data has weights, but {CONV.name} ignores them"):
        ra.catboost.train(PLAIN, train, QUERY_RMSE, CONV)
    model = ra.catboost.train(PLAIN, train, QUERY_RMSE, CONV, eval_set=pool(1))  # which has none
    assert len(model.history) == 2 * 10
