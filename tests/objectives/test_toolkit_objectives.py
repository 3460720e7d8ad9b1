"""What holds of an objective in LightGBM's training and in XGBoost's alike."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from rankadapters.callbacks.dataset_columns import DatasetColumns
from tests.helpers.objective_data import graded
from tests.helpers.objective_drivers import DRIVERS, VALUES, XENDCG, fitting
from tests.tables import for_each, short

CONVENTIONS = [ra.presets.letor4(10), ra.presets.yahoo(10), ra.presets.textbook(10)]
EACH_VALUE = for_each("value", lambda toolkit, **_: VALUES[toolkit.name])


@pytest.fixture(params=DRIVERS)
def toolkit(request):
    return DRIVERS[request.param]()


def ndcg(data, scores):
    return ra.evaluate(data.y, scores, CONVENTIONS[2], group_sizes=data.sizes).value


def learned(data, scores):
    return ndcg(data, scores) > ndcg(data, np.zeros(data.y.size)) + 0.1


def pickled(value):
    return pickle.loads(pickle.dumps(value))


# Gradients


@EACH_VALUE
def test_a_direct_call_gives_the_gradients_of_the_first_round_in_float32(toolkit, value):
    data = fitting(graded(7), value)
    scores = np.random.default_rng(5).normal(size=data.y.size).astype(toolkit.precision)
    expected = objectives.gradients(data.y, scores, value, group_sizes=data.sizes)
    for preds in (scores, scores[:, None], np.repeat(scores, 2)[::2]):
        for array, same in zip(toolkit.adapter.objective(value)(preds, toolkit.dataset(data)), expected, strict=True):
            assert array.dtype == np.float32
            assert array.shape == (data.y.size,)
            np.testing.assert_array_equal(array, same)


@EACH_VALUE
def test_any_number_of_threads_gives_the_same_bits(toolkit, value):
    data = fitting(graded(17, 120), value)
    scores, train = np.random.default_rng(6).normal(size=data.y.size), toolkit.dataset(data)
    one, *others = (toolkit.adapter.objective(value, n_threads=n) for n in (1, 2, None))
    for _ in range(2):
        expected = one(scores, train)
        for other in others:
            np.testing.assert_array_equal(other(scores, train), expected)


@pytest.mark.parametrize("size", ["huge", "tiny"])
@EACH_VALUE
def test_scores_of_any_size_have_finite_gradients(toolkit, value, size):
    data = fitting(graded(18), value)
    scale = {"huge": 1e6, "tiny": toolkit.tiny}[size]
    scores = np.random.default_rng(7).choice([-scale, 0.0, scale], data.y.size).astype(toolkit.precision)
    grad, hess = toolkit.adapter.objective(value)(scores, toolkit.dataset(data))
    assert np.isfinite(grad).all()
    assert np.isfinite(hess).all()
    assert grad.any()


# State


@pytest.mark.parametrize("anew", ["deepcopy", "reset"])
def test_deep_copies_and_reset_start_anew(toolkit, anew):
    data = graded(14)
    train, scores, objective = toolkit.dataset(data), np.zeros(data.y.size), toolkit.adapter.objective(XENDCG)
    first = objective(scores, train)[0]
    second = objective(scores, train)[0]
    assert not np.array_equal(first, second)
    if anew == "deepcopy":
        objective, original = copy.deepcopy(objective), objective
    else:
        original = pickled(objective)
        objective.reset()
    np.testing.assert_array_equal(objective(scores, train)[0], first)
    assert not np.array_equal(original(scores, train)[0], second)


def test_a_pickle_goes_on_with_a_dataset_made_again_and_counts_its_rounds(toolkit):
    data, other = graded(14), graded(15)
    scores, objective, train = np.zeros(data.y.size), toolkit.adapter.objective(XENDCG), toolkit.dataset(data)
    first = objective(scores, train)
    again = pickled(pickled(objective))
    expected = objective(scores, train)
    again(np.zeros(other.y.size), toolkit.dataset(other))  # a dataset of other queries comes between
    found = again(scores, toolkit.dataset(data))
    np.testing.assert_array_equal(found, expected)
    assert not np.array_equal(found[0], first[0])
    with pytest.raises(ra.InputError, match="round 3: scores has"):
        pickled(objective)(scores[:-1], toolkit.dataset(data))


def test_each_dataset_has_a_state_of_its_own(toolkit):
    data, objective = graded(14), toolkit.adapter.objective(XENDCG)
    one, two, scores = toolkit.dataset(data), toolkit.dataset(data), np.zeros(data.y.size)
    first = objective(scores, one)[0]
    np.testing.assert_array_equal(objective(scores, two)[0], first)
    second = objective(scores, one)[0]
    np.testing.assert_array_equal(objective(scores, two)[0], second)
    assert not np.array_equal(first, second)


def test_datasets_are_not_kept_alive(toolkit):
    data, objective = graded(16), toolkit.adapter.objective(XENDCG)
    train = toolkit.dataset(data)
    objective(np.zeros(data.y.size), train)
    gone = weakref.ref(train)
    del train
    gc.collect()
    assert gone() is None
    assert objective._training._bound == {}


# Refusals


def test_a_dataset_without_group_is_refused(toolkit):
    data = graded(18)
    with pytest.raises(ra.InputError, match=toolkit.hint):
        toolkit.adapter.objective(XENDCG)(np.zeros(data.y.size), toolkit.dataset(data, group=False))


def test_columns_that_are_changed_in_place_differ_from_their_copy():
    for changed in range(4):
        columns = DatasetColumns(*(np.ones(3) for _ in range(4)))
        copy_before = columns.copied()
        assert copy_before.equals(columns)
        columns[changed][0] = 2
        assert not copy_before.equals(columns)
    bare = DatasetColumns(np.ones(3), np.ones(3), None)
    assert bare.copied().equals(bare)
    assert not bare.equals(columns)


@pytest.mark.parametrize("field", ["label", "weight", "group"])
def test_a_dataset_that_changes_between_rounds_is_refused_until_reset(toolkit, field):
    data, objective = graded(18), toolkit.adapter.objective(VALUES["lightgbm"][0])
    train, scores = toolkit.dataset(data, weights=np.ones(data.sizes.size)), np.zeros(data.y.size)
    for _ in range(2):
        objective(scores, train)
    toolkit.change(train, field, data)
    with pytest.raises(ra.InputError, match=r"labels, groups or weights .* changed after round 2 .*\nHint: reset\(\)"):
        objective(scores, train)
    objective.reset()
    assert objective(scores, train)[0].any()


@for_each("bad", [np.nan, np.inf, -np.inf])
@EACH_VALUE
def test_predictions_that_are_not_finite_name_round_and_row(toolkit, value, bad):
    data = fitting(graded(18), value)
    objective, train = toolkit.adapter.objective(value), toolkit.dataset(data)
    scores = np.zeros(data.y.size, toolkit.precision)
    objective(scores, train)
    scores[7] = bad
    with pytest.raises(ra.InputError, match=rf"round 2: scores\[7\] is {bad}"):
        objective(scores, train)


def test_predictions_of_another_length_are_refused(toolkit):
    data = graded(18)
    with pytest.raises(ra.InputError, match=rf"scores has 3 rows but the queries cover {data.y.size}"):
        toolkit.adapter.objective(XENDCG)(np.zeros(3), toolkit.dataset(data))


@pytest.mark.parametrize(
    ("value", "allowed"),
    [
        (objectives.catboost.query_cross_entropy(), "from 0 to 1"),
        (objectives.xgboost.map(), "average precision takes only 0 and 1"),
    ],
    ids=lambda part: part if isinstance(part, str) else part.kind,
)
def test_labels_outside_what_an_objective_takes_are_named(toolkit, value, allowed):
    with pytest.raises(ra.InputError, match=rf"labels\[\d+\] is 2.*{allowed}"):
        toolkit.predictions(graded(18), toolkit.adapter.objective(value), 1)


@for_each("value", ["lambdarank", "rank:ndcg", ra.presets.letor4(10), None])
@for_each("call", ["objective", "native_objective"])
def test_what_is_no_objective_is_refused(toolkit, call, value):
    with pytest.raises(ra.ConventionError, match=r"is not an objective.\nHint: .*lambdarank"):
        getattr(toolkit.adapter, call)(value)


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
    adapter = toolkit.adapter
    try:
        params = adapter.native_objective(text)
    except ra.UnsupportedConventionError:
        assert not text.startswith(adapter.__name__.rpartition(".")[2])
        return
    value = ra.objectives.parse(text)
    assert adapter.read_objective(params) == value
    key = "objective" if "objective" in params else "loss_function"
    assert adapter.read_objective(params.pop(key), **params) == value


@pytest.mark.parametrize(
    ("name", "message"), [("regression", "'regression' is none of"), (None, "None is none of"), (7, "7 is none of")]
)
def test_what_is_no_ranking_objective_is_not_read(toolkit, name, message):
    with pytest.raises(ra.ConventionError, match=message):
        toolkit.adapter.read_objective(name)


def test_a_parameter_that_an_objective_has_not_is_not_read(toolkit):
    name = {ra.lightgbm: "lambdarank", ra.xgboost: "rank:ndcg"}[toolkit.adapter]
    with pytest.raises(ra.ConventionError, match="has no parameter 'leaves'"):
        toolkit.adapter.read_objective(name, leaves=3)


# Conventions


def test_models_differ_by_the_convention_they_were_trained_under(toolkit):
    data = graded(21)
    found = [toolkit.predictions(data, toolkit.adapter.lambdarank(c, truncation=30)) for c in CONVENTIONS]
    assert all(learned(data, scores) for scores in found)
    letor, yahoo, textbook = found
    assert np.ptp(letor - yahoo) > 0.1
    np.testing.assert_array_equal(yahoo, textbook)  # they differ in `ties` and `empty` only: no matter to a gradient


@pytest.mark.parametrize(
    "change",
    [
        {"beyond_k": "cut"},
        {"normalization": "none"},
        {"normalization": "lightgbm"},
        {"normalization": "xgboost"},
        {"sigma": 2.0},
        {"truncation": None},
    ],
    ids=short,
)
def test_the_short_form_takes_every_choice(toolkit, change):
    data, convention = graded(21), CONVENTIONS[0].at(5)
    given = {"truncation": 10, **change}
    short = toolkit.adapter.lambdarank(convention, **given, n_threads=1)
    assert short.objective == toolkit.exact.replace(convention=convention, **given)
    default = toolkit.adapter.lambdarank(convention, truncation=10)
    changed = toolkit.predictions(data, short)
    differs = not np.array_equal(changed, toolkit.predictions(data, default))
    assert differs is (short.objective != default.objective)
    assert learned(data, changed)


@EACH_VALUE
def test_every_objective_improves_ndcg(toolkit, value):
    data = fitting(graded(22), value)
    assert learned(data, toolkit.predictions(data, toolkit.adapter.objective(value, n_threads=1)))


@pytest.mark.parametrize("name", ["lightgbm.map@5", "catboost.mrr@5", "yahoo.err"])
@pytest.mark.parametrize("beyond_k", ["keep", "cut"])
def test_lambdarank_improves_the_measure_that_it_is_given(toolkit, name, beyond_k):
    data, convention = graded(23, 80), ra.parse(name)
    objective = toolkit.adapter.lambdarank(name, truncation=10, beyond_k=beyond_k)
    before, after = (
        ra.evaluate(data.y, scores, convention, group_sizes=data.sizes).value
        for scores in (np.zeros(data.y.size), toolkit.predictions(data, objective))
    )
    assert after > before + 0.1


def test_weights_are_ignored_under_a_uniform_average(toolkit):
    data, weights = graded(21), np.random.default_rng(8).random(40)
    for convention, same in (("yahoo@10", True), ("yahoo@10+average=query", False)):
        objective = toolkit.adapter.lambdarank(convention, truncation=30)
        weighted = toolkit.predictions(data, objective, 5, weights=weights)
        assert np.array_equal(weighted, toolkit.predictions(data, objective, 5)) is same
