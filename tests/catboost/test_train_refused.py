"""Errors of `catboost.train`, and how it reads parameters."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.tables import for_each

cb = pytest.importorskip("catboost")

from rankadapters.catboost.training_params import REFUSED, TrainingParams, seed_of  # noqa: E402 - after the skip
from tests.helpers.catboost_pools import CONV, DETERMINISTIC, LAMBDARANK, QUERY_RMSE, pool, query_weights, rows  # noqa: E402


@for_each("name", REFUSED)
def test_an_unsupported_parameter_is_refused_by_name_with_a_hint(name):
    with pytest.raises(ra.InputError, match=rf"{name}='mine' cannot be used in ra.catboost.train(.|\n)*Hint: \w"):
        ra.catboost.train({**DETERMINISTIC, name: "mine"}, pool(), QUERY_RMSE)


@for_each(
    ("name", "implied", "unsupported"),
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
def test_only_the_implied_value_of_a_parameter_is_accepted(name, implied, unsupported):
    assert TrainingParams.of({name: implied}).declared == {name: implied}
    with pytest.raises(ra.InputError, match=f"{name}=.* cannot be used in ra.catboost.train"):
        TrainingParams.of({name: unsupported})


@for_each(
    ("params", "message"),
    [
        ({"iterations": 0}, "iterations=0; allowed are whole numbers from 1 on"),
        ({"n_estimators": 3, "iterations": 4}, "params has 'iterations' under two names"),
        ({"learning_rate": 0}, "learning_rate=0; allowed are finite numbers above 0"),
        ({"l2_leaf_reg": -1}, "l2_leaf_reg=-1; allowed are finite numbers from 0 on"),
        ({"random_strength": "1"}, "random_strength='1'; allowed are finite numbers from 0 on"),
        ({"random_seed": -1}, "random_seed=-1; allowed are whole numbers from 0 on"),
        ({"early_stopping_rounds": 0}, "early_stopping_rounds=0; allowed are whole numbers from 1 on"),
        ({"thread_count": 0}, "thread_count=0; allowed are whole numbers from 1 on, or -1 for all CPUs"),
        ({"use_best_model": "no"}, "use_best_model='no'; allowed are True, False"),
        ({"verbose": "yes"}, "verbose='yes'; allowed are whole numbers from 0 on"),
        ({"objective": "RMSE"}, "objective='RMSE' cannot be used(.|\n)*read_objective"),
        (7, "params=7 is not a mapping"),
    ],
)
def test_bad_parameters_are_refused(params, message):
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.train(params, pool(), QUERY_RMSE)


def test_defaults_are_catboosts_and_the_smallest_values_are_accepted():
    default = TrainingParams.of({})
    numbers = default.rounds, default.learning_rate, default.random_seed, default.random_strength, default.l2_leaf_reg
    assert numbers == (1000, 0.03, 0, 1, 3)
    assert (default.verbose, default.patience, default.use_best_model, default.n_threads) == (0, None, None, None)
    least = {"iterations": 1, "random_seed": 0, "random_strength": 0, "l2_leaf_reg": 0, "verbose": 0}
    params = TrainingParams.of({**least, "early_stopping_rounds": 1, "thread_count": 1})
    smallest = params.rounds, params.random_seed, params.random_strength, params.l2_leaf_reg, params.verbose
    assert smallest == (1, 0, 0, 0, 0)
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
def test_an_argument_that_is_also_in_params_is_refused(params, argument):
    [(name, value)], [(param, param_value)] = argument.items(), params.items()
    with pytest.raises(ra.InputError) as raised:
        ra.catboost.train({**DETERMINISTIC, **params}, pool(), QUERY_RMSE, CONV, eval_set=pool(1), **argument)
    assert str(raised.value) == f"{name}={value} is also in params={{{param!r}: {param_value}}}.\nHint: keep one."


@pytest.mark.filterwarnings("ignore:.* encountered in")
def test_derivatives_that_overflow_float32_are_refused():
    steep = ra.objectives.catboost.pair_logit().replace(sigma=1e300)
    message = r"round 1: the objective gives row \d+ a gradient of -?(inf|nan), .*\nHint: a smaller"
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.train(DETERMINISTIC, pool(), steep)


@for_each("callbacks", [[1], print, [print]])
def test_callbacks_without_after_iteration_are_refused(callbacks):
    with pytest.raises(ra.InputError, match=r"callbacks has .*, without a method after_iteration\(info\)\.\nHint: "):
        ra.catboost.train(DETERMINISTIC, pool(), QUERY_RMSE, callbacks=callbacks)


PAIR_LOGIT = ra.objectives.catboost.pair_logit()


def pool_of(X=None, **columns):
    """Make a pool, with other features or columns where given; a column of None is left out."""
    features, y, qid = rows()
    columns = {"label": y, "group_id": qid, **columns}
    pool_columns = {name: column for name, column in columns.items() if column is not None}
    return cb.Pool(features if X is None else [X] * y.size, **pool_columns)


@for_each(
    ("data", "message"),
    [
        (rows()[0], "of type ndarray.\nHint: catboost.Pool"),
        (pool_of(label=None), "the Pool has no labels"),
        (pool_of(group_id=None), "the Pool has no group ids, so its rows belong to no query.\nHint: catboost.Pool"),
        (pool_of(pairs=[[0, 1]]), "has pairs, but an objective makes pairs"),
        (
            pool_of(["a b", 1.0], text_features=[0]),
            r"has text features \[0\], and CatBoost cannot sum models with these.\nHint: encode",
        ),
        (pool_of([[1.0, 2.0], 1.0], embedding_features=[0]), r"has embedding features \[0\], and CatBoost cannot sum"),
        (
            pool_of(baseline=rows()[0][:, :2]),
            "the Pool has a baseline of 2 columns, but a ranking has one score per row.\nHint: catboost.Pool",
        ),
        (pool_of(weight=np.arange(3000.0) + 1), "varies within a query, at row 1, (.|\n)*Hint: .*group_weight"),
    ],
)  # fmt: skip
def test_a_pool_that_cannot_be_trained_on_or_watched_is_refused(data, message):
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.train(DETERMINISTIC, data, QUERY_RMSE)
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.train(DETERMINISTIC, pool(), QUERY_RMSE, CONV, eval_set=data)


@for_each(
    ("labels", "objective", "message"),
    [
        (np.ones(3000), PAIR_LOGIT, "all labels of the pool are 1, so that no order is better"),
        (rows()[1] + 1e6, PAIR_LOGIT, r"labels\[\d+\] is 1e\+06, so large that .* loses the steps"),
        (rows()[2] % 3, LAMBDARANK, r"no gradient in round 1.\nHint: queries with rows of different labels"),
    ],
)
def test_labels_from_which_nothing_can_be_learnt_are_refused(labels, objective, message):
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.train(DETERMINISTIC, pool_of(label=labels), objective)


@pytest.mark.parametrize(("hessian", "message"), [(0.0, "no hessian in round 1"), (-1.0, "a hessian of -1 in round 1")])
def test_hessians_of_zero_and_below_are_refused(hessian, message, monkeypatch):
    from rankadapters.callbacks.objectives import ToolkitObjective

    derivatives = np.ones(3000, np.float32), np.full(3000, hessian, np.float32)
    monkeypatch.setattr(ToolkitObjective, "gradients", lambda *_: derivatives)
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.train(DETERMINISTIC, pool(), QUERY_RMSE)


@for_each(
    ("arguments", "message"),
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
def test_bad_sets_conventions_and_names_are_refused(arguments, message):
    with pytest.raises((ra.InputError, ra.ConventionError), match=message):
        ra.catboost.train(DETERMINISTIC, pool(), **{"objective": QUERY_RMSE, **arguments})


def test_a_parameter_of_quantization_is_refused_with_a_quantized_pool():
    train = pool()
    train.quantize()
    with pytest.raises(
        ra.InputError, match=r"border_count cannot be used: the Pool is quantized already.\nHint: pass it"
    ):
        ra.catboost.train({**DETERMINISTIC, "max_bin": 32}, train, QUERY_RMSE)


def test_a_pool_quantized_to_more_than_255_borders_is_refused():
    train, valid = pool(), pool(1)
    for data in (train, valid):
        data.quantize(border_count=300)
    message = r"the Pool is quantized with more than 255 borders of a feature(.|\n)*Hint: pass the Pool before"
    with pytest.raises(ra.InputError, match=f"learn: {message}"):
        ra.catboost.train(DETERMINISTIC, train, QUERY_RMSE)
    with pytest.raises(ra.InputError, match=f"validation: {message}"):
        ra.catboost.train({**DETERMINISTIC, "border_count": 300}, pool(), QUERY_RMSE, CONV, eval_set=valid)


def test_the_error_on_scores_that_are_not_finite_names_the_round():
    baseline = np.zeros(3000)
    baseline[4] = np.nan
    with pytest.raises(ra.InputError, match=r"round 1: scores\[4\] is nan"):
        ra.catboost.train(DETERMINISTIC, pool(baseline=baseline), QUERY_RMSE)


def test_noise_fades_over_rounds_and_the_ridge_is_divided_by_the_mean_weight():
    params = TrainingParams.of({"learning_rate": 0.5, "random_strength": 2, "l2_leaf_reg": 3})
    first, later = (params.of_tree(index, 100, 0.25) for index in (0, 20))
    remaining = 100 * math.exp(-20 * 0.5)
    assert first["random_strength"] == 2
    assert later["random_strength"] == pytest.approx(2 * remaining / (1 + remaining) / (100 / 101))
    assert first["l2_leaf_reg"] == 12
    gumbel = TrainingParams.of({"learning_rate": 0.5, "random_strength": 2, "random_score_type": "Gumbel"})
    assert gumbel.of_tree(20, 100, 1)["random_strength"] == 2


def test_seeds_of_trainings_and_rounds_are_all_different():
    assert len({seed_of(seed, index) for seed in range(30) for index in range(30)}) == 900


def test_ignored_weights_warn_even_if_only_the_training_set_is_evaluated():
    train = pool(group_weight=query_weights())
    with pytest.warns(UserWarning, match=f"the data has weights, but {CONV.name} ignores them"):
        ra.catboost.train(DETERMINISTIC, train, QUERY_RMSE, CONV)
    model = ra.catboost.train(DETERMINISTIC, train, QUERY_RMSE, CONV, eval_set=pool(1))  # the eval_set has no weights
    assert [len(metrics[CONV.name]) for metrics in model.evals_result_.values()] == [10, 10]
