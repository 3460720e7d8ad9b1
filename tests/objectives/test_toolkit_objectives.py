"""Objectives in LightGBM's and XGBoost's training: properties that hold in both."""

import copy
import gc
import pickle
import weakref
from itertools import combinations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_rankings import graded_ranking
from tests.helpers.objective_trainings import XENDCG, LightGBM, XGBoost, with_accepted_labels
from tests.helpers.parameters import short
from tests.objectives.examples import ALL, objective_id

RANDOM = [
    objectives.catboost.stochastic_rank("NDCG", top=10),
    objectives.catboost.yetirank(),
    objectives.catboost.stochastic_filter(num_estimations=2),
]


@pytest.fixture(params=[LightGBM, XGBoost], ids=["lightgbm", "xgboost"])
def toolkit(request):
    return request.param()


def pickled(value):
    return pickle.loads(pickle.dumps(value))


# Gradients


@pytest.mark.long
@pytest.mark.parametrize("value", ALL, ids=objective_id)
def test_a_direct_call_returns_the_gradients_of_the_first_round_in_float32(toolkit, value):
    data = with_accepted_labels(graded_ranking(7), value)
    scores = np.random.default_rng(5).normal(size=data.y.size).astype(toolkit.score_dtype)
    expected = objectives.gradients(data.y, scores, value, group_sizes=data.sizes)
    for preds in (scores, scores[:, None], np.repeat(scores, 2)[::2]):
        derivatives = toolkit.adapter.objective(value)(preds, toolkit.dataset(data))
        for part, expected_part in zip(derivatives, expected, strict=True):
            assert part.dtype == np.float32
            assert part.shape == (data.y.size,)
            np.testing.assert_array_equal(part, expected_part)


# State


@pytest.mark.long
@pytest.mark.parametrize("value", [XENDCG, *RANDOM], ids=short)
def test_pickles_deep_copies_and_reset_start_anew(toolkit, value):
    data = graded_ranking(14)
    scores, objective, train = np.zeros(data.y.size), toolkit.adapter.objective(value), toolkit.dataset(data)
    first, second = objective(scores, train), objective(scores, train)
    unpickled, copied = pickled(objective), copy.deepcopy(objective)
    third = objective(scores, train)
    rounds = combinations((first, second, third), 2)
    assert not any(np.array_equal(earlier[0], later[0]) for earlier, later in rounds)
    with pytest.raises(ra.InputError, match="round 4: scores has"):
        objective(scores[:-1], train)
    objective.reset()
    for restarted in (unpickled, copied, objective):
        for expected in (first, second):
            np.testing.assert_array_equal(restarted(scores, train), expected)


def test_each_dataset_has_its_own_state(toolkit):
    data, objective = graded_ranking(14), toolkit.adapter.objective(XENDCG)
    first_dataset, second_dataset, scores = toolkit.dataset(data), toolkit.dataset(data), np.zeros(data.y.size)
    first_round = objective(scores, first_dataset)[0]
    np.testing.assert_array_equal(objective(scores, second_dataset)[0], first_round)
    second_round = objective(scores, first_dataset)[0]
    np.testing.assert_array_equal(objective(scores, second_dataset)[0], second_round)
    assert not np.array_equal(first_round, second_round)


def test_datasets_are_not_kept_alive(toolkit):
    data, objective = graded_ranking(16), toolkit.adapter.objective(XENDCG)
    train = toolkit.dataset(data)
    objective(np.zeros(data.y.size), train)
    reference = weakref.ref(train)
    del train
    gc.collect()
    assert reference() is None
    np.testing.assert_array_equal(  # not even if a new dataset has the address of the old one
        objective(np.zeros(data.y.size), toolkit.dataset(data)), toolkit.adapter.objective(XENDCG)(
            np.zeros(data.y.size), toolkit.dataset(data))
    )  # fmt: skip


# Refusals


def test_datasets_without_group_and_predictions_of_another_length_are_refused(toolkit):
    data, objective = graded_ranking(18), toolkit.adapter.objective(XENDCG)
    with pytest.raises(ra.InputError, match=toolkit.no_group_message):
        objective(np.zeros(data.y.size), toolkit.dataset(data, **toolkit.no_group))
    with pytest.raises(ra.InputError, match=rf"scores has 3 rows but the queries cover {data.y.size}"):
        objective(np.zeros(3), toolkit.dataset(data))


@pytest.mark.parametrize("field", ["label", "weight", "group"])
def test_a_dataset_that_changes_between_rounds_is_refused_until_reset(toolkit, field):
    data, objective = graded_ranking(18), toolkit.adapter.objective("lightgbm.lambdarank")
    train, scores = toolkit.dataset(data, **toolkit.weights(data, np.ones(data.sizes.size))), np.zeros(data.y.size)
    for _ in range(2):
        objective(scores, train)
    toolkit.replace_field(train, field, data)
    with pytest.raises(ra.InputError, match=r"labels, groups or weights .* changed after round 2 .*\nHint: reset\(\)"):
        objective(scores, train)
    objective.reset()
    assert objective(scores, train)[0].any()


def test_predictions_that_are_not_finite_are_refused_with_round_and_row(toolkit):
    data, objective = graded_ranking(18), toolkit.adapter.objective(XENDCG)
    train, scores = toolkit.dataset(data), np.zeros(data.y.size, toolkit.score_dtype)
    objective(scores, train)
    scores[7] = np.nan
    with pytest.raises(ra.InputError, match=r"round 2: scores\[7\] is nan"):
        objective(scores, train)


@pytest.mark.parametrize(
    "text",
    [
        "lightgbm.lambdarank",
        "lightgbm.xendcg",
        "xgboost.ndcg",
        "xgboost.pairwise",
        "xgboost.map",
        "catboost.query_rmse",
    ],
)
def test_a_built_in_objective_is_read_back_from_its_parameters(toolkit, text):
    try:
        params = toolkit.adapter.native_objective(text)
    except ra.UnsupportedConventionError:
        assert not text.startswith(toolkit.name)
        return
    value = ra.objectives.parse(text)
    assert toolkit.adapter.read_objective(params) == value
    key = "objective" if "objective" in params else "loss_function"
    assert toolkit.adapter.read_objective(params.pop(key), **params) == value


# Conventions


def test_adapter_lambdarank_takes_every_field(toolkit):
    fields = {"convention": "letor4@5", "truncation": None, "sigma": 2.0, "beyond_k": "cut", "normalization": "none"}
    lambdarank = toolkit.adapter.lambdarank(**fields, n_threads=1)
    assert lambdarank.objective == toolkit.exact_sigmoid.replace(**fields)


def test_weights_are_ignored_under_a_uniform_average(toolkit):
    data = graded_ranking(21)
    columns = toolkit.weights(data, np.random.default_rng(8).random(40))
    exact = {"tree_method": "exact"} if toolkit.name == "xgboost" else {}  # the bins of `hist` depend on the weights
    for convention, same in (("yahoo@10", True), ("yahoo@10+average=query", False)):
        objective = toolkit.adapter.lambdarank(convention, truncation=30)
        weighted = toolkit.predictions(data, objective, 5, columns=columns, **exact)
        assert np.array_equal(weighted, toolkit.predictions(data, objective, 5, **exact)) is same
