"""Errors of `catboost.train`, and how it reads parameters."""

import math

import numpy as np
import pytest

import rankadapters as ra

cb = pytest.importorskip("catboost")

from rankadapters.catboost.training_params import REFUSED, TrainingParams, seed_of  # noqa: E402 - after the skip
from tests.catboost.trainings import CONV, DETERMINISTIC, QUERY_RMSE, pool, query_weights, rows  # noqa: E402


@pytest.mark.parametrize("name", REFUSED)
def test_an_unsupported_parameter_is_refused_by_name_with_a_hint(name):
    with pytest.raises(ra.InputError, match=rf"{name}='mine' cannot be used in ra.catboost.train(.|\n)*Hint: \w"):
        ra.catboost.train({**DETERMINISTIC, name: "mine"}, pool(), QUERY_RMSE)


@pytest.mark.parametrize(
    ("name", "implied", "unsupported"),
    [
        ("leaf_estimation_method", "Newton", "Gradient"), ("leaf_estimation_iterations", 1, 2),
        ("leaf_estimation_backtracking", "No", "AnyImprovement"), ("boosting_type", "Plain", "Ordered"),
        ("boost_from_average", False, True), ("task_type", "CPU", "GPU"), ("model_shrink_rate", 0, 1),
        ("langevin", False, True), ("posterior_sampling", False, True), ("od_type", "Iter", "IncToDec"),
        ("od_pval", 0, 1), ("best_model_min_trees", 1, 2), ("eval_fraction", 0, 0.5),
        ("auto_class_weights", "None", "Balanced"), ("scale_pos_weight", 1, 2), ("allow_writing_files", False, True),
        ("save_snapshot", False, True), ("logging_level", "Silent", "Verbose"), ("silent", True, False),
        ("metric_period", 1, 2), ("plot", False, True),
    ],
)  # fmt: skip
def test_only_the_implied_value_of_a_parameter_is_accepted(name, implied, unsupported):
    assert TrainingParams.of({name: implied}).declared == {name: implied}
    with pytest.raises(ra.InputError, match=f"{name}=.* cannot be used in ra.catboost.train"):
        TrainingParams.of({name: unsupported})


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
    ("name", "number"),
    [
        ("iterations", 0), ("learning_rate", 0), ("random_seed", -1), ("random_strength", -0.1), ("l2_leaf_reg", -0.1),
        ("verbose", -1), ("early_stopping_rounds", 0),
    ],
)  # fmt: skip
def test_smaller_values_are_refused(name, number):
    with pytest.raises(ra.InputError, match=f"^{name}={number}; allowed are"):
        TrainingParams.of({name: number})


@pytest.mark.parametrize("threads", [0, -2, 1.5, "2", True])
def test_a_number_of_threads_that_would_end_the_process_is_refused(threads):
    with pytest.raises(ra.InputError, match=r"thread_count=.*allowed are whole numbers from 1 on, or -1 for all CPUs"):
        TrainingParams.of({"thread_count": threads})


@pytest.mark.filterwarnings("ignore:.* encountered in")
def test_derivatives_that_overflow_float32_are_refused():
    steep = ra.objectives.catboost.pair_logit().replace(sigma=1e300)
    message = r"round 1: the objective gives row \d+ a gradient of -?(inf|nan), .*\nHint: a smaller"
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.train(DETERMINISTIC, pool(), steep)


def test_labels_whose_differences_float32_loses_are_refused():
    X, y, qid = rows()
    with pytest.raises(ra.InputError, match=r"labels\[\d+\] is 1e\+06, so large that .* loses the steps"):
        ra.catboost.train(DETERMINISTIC, cb.Pool(X, y + 1e6, group_id=qid), ra.objectives.catboost.pair_logit())


@pytest.mark.parametrize(("hessian", "message"), [(0.0, "no hessian in round 1"), (-1.0, "a hessian of -1 in round 1")])
def test_hessians_of_zero_and_below_are_refused(hessian, message, monkeypatch):
    from rankadapters.callbacks.objectives import ToolkitObjective

    derivatives = np.ones(3000, np.float32), np.full(3000, hessian, np.float32)
    monkeypatch.setattr(ToolkitObjective, "gradients", lambda *_: derivatives)
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.train(DETERMINISTIC, pool(), QUERY_RMSE)


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


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"group_id": [0, 0, 1, 1]}, "the Pool has no labels, but needs one label per row"),
        ({"group_id": [0, 0, 1, 1], "label": np.ones((4, 2))}, r"the Pool has labels of shape \(4, 2\), but needs one"),
        ({"label": [1, 0, 1, 0]}, "the Pool has no group ids, so its rows belong to no query"),
        ({"group_id": [0, 0, 1, 1], "label": [1, 0, 1, 0], "baseline": np.zeros((4, 2))}, "a baseline of 2 columns"),
    ],
)
def test_a_pool_that_lacks_a_column_of_a_ranking_is_refused(columns, message):
    with pytest.raises(ra.InputError, match=f"^pool: .*{message}"):
        ra.catboost.train(DETERMINISTIC, cb.Pool(np.arange(8.0).reshape(4, 2), **columns), QUERY_RMSE)
