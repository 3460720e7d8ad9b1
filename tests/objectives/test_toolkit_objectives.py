"""Objectives in LightGBM's and XGBoost's training: properties that hold in both."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from itertools import combinations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from rankadapters.callbacks.dataset_columns import DatasetColumns
from tests.helpers.objective_rankings import graded_ranking
from tests.helpers.objective_trainings import DRIVERS, OBJECTIVES, XENDCG, with_accepted_labels
from tests.helpers.tables import for_each, short

RANDOM = [
    objectives.catboost.stochastic_rank("NDCG", top=10),
    objectives.catboost.yetirank(),
    objectives.catboost.stochastic_filter(num_estimations=2),
]
CONVENTIONS = [ra.presets.letor4(10), ra.presets.yahoo(10), ra.presets.textbook(10)]
EACH_VALUE = for_each("value", lambda toolkit, **_: OBJECTIVES[toolkit.name])


@pytest.fixture(params=DRIVERS)
def toolkit(request):
    return DRIVERS[request.param]()


def improvement(data, scores, convention=CONVENTIONS[2]):
    """Return how much better than tied scores the scores are."""
    tied = ra.evaluate(data.y, np.zeros(data.y.size), convention, group_sizes=data.sizes).value
    return ra.evaluate(data.y, scores, convention, group_sizes=data.sizes).value - tied


def pickled(value):
    return pickle.loads(pickle.dumps(value))


# Gradients


@EACH_VALUE
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


@EACH_VALUE
def test_any_number_of_threads_gives_the_same_bits(toolkit, value):
    data = with_accepted_labels(graded_ranking(17, 120), value)
    scores, train = np.random.default_rng(6).normal(size=data.y.size), toolkit.dataset(data)
    single_threaded, *multi_threaded = (toolkit.adapter.objective(value, n_threads=n) for n in (1, 2, None))
    for _ in range(2):
        expected = single_threaded(scores, train)
        for objective in multi_threaded:
            np.testing.assert_array_equal(objective(scores, train), expected)


@pytest.mark.parametrize("size", ["huge", "tiny"])
@EACH_VALUE
def test_scores_of_any_size_have_finite_gradients(toolkit, value, size):
    data = with_accepted_labels(graded_ranking(18), value)
    scale = {"huge": 1e6, "tiny": toolkit.smallest_score}[size]
    scores = np.random.default_rng(7).choice([-scale, 0.0, scale], data.y.size).astype(toolkit.score_dtype)
    grad, hess = toolkit.adapter.objective(value)(scores, toolkit.dataset(data))
    assert np.isfinite(grad).all()
    assert np.isfinite(hess).all()
    assert grad.any()


# State


@for_each("value", [XENDCG, *RANDOM], ids=short)
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


@for_each("value", RANDOM, ids=short)
def test_the_same_seed_trains_the_same_model(toolkit, value):
    data = graded_ranking(15)
    single_threaded, two_threads, other_seed = (
        toolkit.predictions(data, toolkit.adapter.objective(seeded, n_threads=n_threads), 5)
        for seeded, n_threads in ((value, 1), (value, 2), (value.replace(seed=8), 1))
    )
    np.testing.assert_array_equal(single_threaded, two_threads)
    assert not np.array_equal(single_threaded, other_seed)


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
    assert objective._bound == {}


# Refusals


def test_datasets_without_group_and_predictions_of_another_length_are_refused(toolkit):
    data, objective = graded_ranking(18), toolkit.adapter.objective(XENDCG)
    with pytest.raises(ra.InputError, match=toolkit.no_group_message):
        objective(np.zeros(data.y.size), toolkit.dataset(data, group=False))
    with pytest.raises(ra.InputError, match=rf"scores has 3 rows but the queries cover {data.y.size}"):
        objective(np.zeros(3), toolkit.dataset(data))


def test_columns_that_are_changed_in_place_differ_from_their_copy():
    for index in range(4):
        columns = DatasetColumns(*(np.ones(3) for _ in range(4)))
        snapshot = copy.deepcopy(columns)
        assert snapshot.equals(columns)
        columns[index][0] = 2
        assert not snapshot.equals(columns)
    three_columns = DatasetColumns(np.ones(3), np.ones(3), None)
    assert copy.deepcopy(three_columns).equals(three_columns)
    assert not three_columns.equals(columns)


@pytest.mark.parametrize("field", ["label", "weight", "group"])
def test_a_dataset_that_changes_between_rounds_is_refused_until_reset(toolkit, field):
    data, objective = graded_ranking(18), toolkit.adapter.objective(OBJECTIVES["lightgbm"][0])
    train, scores = toolkit.dataset(data, weights=np.ones(data.sizes.size)), np.zeros(data.y.size)
    for _ in range(2):
        objective(scores, train)
    toolkit.replace_field(train, field, data)
    with pytest.raises(ra.InputError, match=r"labels, groups or weights .* changed after round 2 .*\nHint: reset\(\)"):
        objective(scores, train)
    objective.reset()
    assert objective(scores, train)[0].any()


@for_each("bad", [np.nan, np.inf, -np.inf])
@EACH_VALUE
def test_predictions_that_are_not_finite_are_refused_with_round_and_row(toolkit, value, bad):
    data = with_accepted_labels(graded_ranking(18), value)
    objective, train = toolkit.adapter.objective(value), toolkit.dataset(data)
    scores = np.zeros(data.y.size, toolkit.score_dtype)
    objective(scores, train)
    scores[7] = bad
    with pytest.raises(ra.InputError, match=rf"round 2: scores\[7\] is {bad}"):
        objective(scores, train)


@pytest.mark.parametrize(
    ("value", "allowed"),
    [
        (objectives.catboost.query_cross_entropy(), "from 0 to 1"),
        (objectives.xgboost.map(), "average precision takes only 0 and 1"),
    ],
    ids=lambda part: part if isinstance(part, str) else part.kind,
)
def test_labels_that_an_objective_does_not_allow_are_refused(toolkit, value, allowed):
    with pytest.raises(ra.InputError, match=rf"labels\[\d+\] is 2.*{allowed}"):
        toolkit.predictions(graded_ranking(18), toolkit.adapter.objective(value), 1)


@for_each("value", ["lambdarank", "rank:ndcg", ra.presets.letor4(10), None])
@for_each("call", ["objective", "native_objective"])
def test_values_that_are_not_objectives_are_refused(toolkit, call, value):
    with pytest.raises(ra.ConventionError, match=r"is not an objective.\nHint: .*lambdarank"):
        getattr(toolkit.adapter, call)(value)


@for_each(
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


@for_each(
    ("name", "params", "message"),
    lambda toolkit: [
        ("regression", {}, "'regression' is none of"), (None, {}, "None is none of"), (7, {}, "7 is none of"),
        ({"lightgbm": "lambdarank", "xgboost": "rank:ndcg"}[toolkit.name], {"leaves": 3}, "has no parameter 'leaves'"),
    ],
)  # fmt: skip
def test_parameters_of_no_ranking_objective_are_refused(toolkit, name, params, message):
    with pytest.raises(ra.ConventionError, match=message):
        toolkit.adapter.read_objective(name, **params)


@for_each("value", RANDOM, ids=short)
def test_random_objectives_have_no_native_parameters(toolkit, value):
    with pytest.raises(ra.UnsupportedConventionError, match=f"has no built-in {value.kind}; its own are"):
        toolkit.adapter.native_objective(value)


# Conventions


def test_models_trained_under_different_conventions_differ(toolkit):
    data = graded_ranking(21)
    lambdaranks = [toolkit.adapter.lambdarank(convention, truncation=30) for convention in CONVENTIONS]
    letor, yahoo, textbook = (toolkit.predictions(data, objective) for objective in lambdaranks)
    assert all(improvement(data, scores) > 0.1 for scores in (letor, yahoo, textbook))
    assert np.ptp(letor - yahoo) > 0.1
    np.testing.assert_array_equal(yahoo, textbook)  # they differ in `ties` and `empty`, which gradients do not use


def test_adapter_lambdarank_takes_every_field(toolkit):
    data, convention = graded_ranking(21), CONVENTIONS[0].at(5)
    default = toolkit.adapter.lambdarank(convention, truncation=10)
    unchanged = toolkit.predictions(data, default, 10)
    for change in (
        {"beyond_k": "cut"}, {"normalization": "none"}, {"normalization": "lightgbm"}, {"normalization": "xgboost"},
        {"sigma": 2.0}, {"truncation": None},
    ):  # fmt: skip
        fields = {"truncation": 10, **change}
        changed = toolkit.adapter.lambdarank(convention, **fields, n_threads=1)
        assert changed.objective == toolkit.exact_sigmoid.replace(convention=convention, **fields)
        scores = toolkit.predictions(data, changed, 10)
        assert np.array_equal(scores, unchanged) is (changed.objective == default.objective), change
        assert improvement(data, scores) > 0.1, change


@EACH_VALUE
def test_every_objective_improves_ndcg(toolkit, value):
    data = with_accepted_labels(graded_ranking(22), value)
    assert improvement(data, toolkit.predictions(data, toolkit.adapter.objective(value, n_threads=1), 10)) > 0.1


@for_each("name", ["lightgbm.map@5", "catboost.mrr@5", "yahoo.err"])
@for_each("beyond_k", ["keep", "cut"])
def test_lambdarank_improves_the_measure_of_its_convention(toolkit, name, beyond_k):
    data = graded_ranking(23, 80)
    objective = toolkit.adapter.lambdarank(name, truncation=10, beyond_k=beyond_k)
    assert improvement(data, toolkit.predictions(data, objective), ra.parse(name)) > 0.1


def test_weights_are_ignored_under_a_uniform_average(toolkit):
    data, weights = graded_ranking(21), np.random.default_rng(8).random(40)
    for convention, same in (("yahoo@10", True), ("yahoo@10+average=query", False)):
        objective = toolkit.adapter.lambdarank(convention, truncation=30)
        weighted = toolkit.predictions(data, objective, 5, weights=weights)
        assert np.array_equal(weighted, toolkit.predictions(data, objective, 5)) is same


def test_a_filter_learns_which_rows_to_keep(toolkit):
    """Rows of kind 1 have the label 1, rows of kind 0 the label -1."""
    data = graded_ranking(16)
    kind = np.random.default_rng(0).integers(0, 2, data.y.size)
    data = data._replace(X=kind[:, None].astype(float), y=np.where(kind == 1, 1.0, -1.0))
    value = objectives.catboost.stochastic_filter(num_estimations=10)
    scores = toolkit.predictions(data, toolkit.adapter.objective(value), 30)
    assert scores[kind == 1].min() > 0 > scores[kind == 0].max()
