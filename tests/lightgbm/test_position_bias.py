"""The positions of LightGBM's Datasets: what is learned of them, kept and refused.

The trained models are compared with LightGBM's own in `tests/objectives`.
"""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.built_in_trainings import LightGBM
from tests.helpers.objective_rankings import graded
from tests.helpers.tables import short
from tests.objectives.test_position_bias_training import GIVEN, ROWS, TRUE_COST, UNBIASED, shown

lgb = pytest.importorskip("lightgbm")

PARAMS, dataset = LightGBM.params, LightGBM().dataset
LAMBDARANK, RATIOS = objectives.lightgbm.lambdarank(), [UNBIASED, TRUE_COST]
DATA = graded(5)
SCORES = np.random.default_rng(0).normal(size=DATA.y.size)


def biased(bias=GIVEN):
    return ra.lightgbm.objective(LAMBDARANK, position_bias=bias, n_threads=1)


def constructed(positions=None):
    return dataset(DATA, position=positions).construct()


def pickled(value):
    return pickle.loads(pickle.dumps(value))


def test_positions_are_told_apart_by_number_alone():
    found = [
        lgb.train({**PARAMS, "objective": biased()}, dataset(DATA, position=positions), 5).predict(DATA.X)
        for positions in (shown(DATA), 1000 - shown(DATA))
    ]
    np.testing.assert_array_equal(*found)


# State


@pytest.mark.parametrize("bias", [GIVEN, *RATIOS], ids=short)
def test_a_pickle_continues_where_it_stopped_and_other_positions_start_anew(bias):
    positions = None if bias in RATIOS else shown(DATA)
    objective, train = biased(bias), constructed(positions)
    first = objective(SCORES, train)
    again, other = pickled(pickled(objective)), pickled(objective)
    expected = objective(SCORES, train)
    np.testing.assert_array_equal(again(SCORES, constructed(positions)), expected)
    assert not np.array_equal(first, expected)
    for one, learned in zip(again.learned_bias, objective.learned_bias, strict=True):
        np.testing.assert_array_equal(one, learned)
    if bias is GIVEN:
        np.testing.assert_array_equal(other(SCORES, constructed(DATA.qid % 3)), first)


@pytest.mark.parametrize("anew", [copy.deepcopy, lambda objective: objective.reset() or objective])
def test_deep_copies_and_reset_start_anew(anew):
    objective, train = biased(), constructed(shown(DATA))
    assert objective.learned_bias is None
    first = objective(SCORES, train)
    learned = objective.learned_bias.biases.copy()
    objective(SCORES, train)
    assert not np.array_equal(objective.learned_bias.biases, learned)
    np.testing.assert_array_equal(anew(objective)(SCORES, train), first)
    np.testing.assert_array_equal(objective.learned_bias.biases, learned)


def test_positions_that_no_bias_uses_are_told_once_and_nothing_is_learned_of_them():
    objective, train = ra.lightgbm.objective(LAMBDARANK), constructed(shown(DATA))
    with pytest.warns(UserWarning, match=r"(?s)the Dataset has positions, but .*position_bias=ra.objectives.lightgbm"):
        first = objective(SCORES, train)
    np.testing.assert_array_equal(objective(SCORES, train), first)  # warns no more
    assert objective.learned_bias is objective.position_bias is None


# Folds and subsets


def test_folds_keep_the_positions_of_their_rows():
    model_selection = pytest.importorskip("sklearn.model_selection")
    objective, made = biased(), dataset(DATA, position=shown(DATA))
    folds = model_selection.GroupKFold(2)
    lgb.cv({**PARAMS, "objective": objective}, made, 3, folds=folds, feval=ra.lightgbm.eval_metric("letor4@10"))
    assert set(objective.learned_bias.positions) <= set(made.get_position())  # which LightGBM 4.7 numbers anew
    assert objective.learned_bias.biases.any()


def test_a_subset_has_the_positions_of_its_rows():
    rows, kept = np.flatnonzero(DATA.qid % 3 > 0), np.arange(DATA.sizes.size) % 3 > 0
    part = dataset(DATA, position=shown(DATA)).subset(rows.tolist())
    alone = lgb.Dataset(DATA.X[rows], DATA.y[rows], group=DATA.sizes[kept], position=shown(DATA)[rows])
    found, expected = biased(), biased()
    for _ in range(3):
        assert np.array_equal(found(SCORES[rows], part.construct()), expected(SCORES[rows], alone.construct()))


# Refused


def test_a_dataset_without_positions_is_refused_where_they_are_asked_for():
    message = r"there are no positions, .* says positions='given'\.\nHint: positions="
    with pytest.raises(ra.InputError, match=message):
        lgb.train({**PARAMS, "objective": biased()}, dataset(DATA), 1)


def test_the_scikit_learn_interface_has_places_for_positions():
    pytest.importorskip("sklearn")

    def fitted(objective):
        ranker = lgb.LGBMRanker(n_estimators=5, verbosity=-1, n_jobs=1, min_child_samples=5, objective=objective)
        return ranker.fit(DATA.X, DATA.y, group=DATA.sizes)

    objective = biased(ROWS)
    fitted(objective)
    assert objective.learned_bias.positions.tolist() == list(range(DATA.sizes.max()))
    with pytest.raises(ra.InputError, match="there are no positions"):
        fitted(biased())


@pytest.mark.parametrize("bias", RATIOS, ids=short)
def test_positions_that_are_not_the_rows_places_have_no_ratios(bias):
    with pytest.raises(ra.InputError, match=r"(?s)but the row's index in its query is .*Hint: sort each query's rows"):
        lgb.train({**PARAMS, "objective": biased(bias)}, dataset(DATA, position=shown(DATA)), 1)


def test_positions_that_change_in_a_training_are_refused():
    objective, train = biased(), constructed(shown(DATA))
    objective(SCORES, train)
    train.set_position(DATA.qid)
    with pytest.raises(ra.InputError, match="or its positions, changed after round 1"):
        objective(SCORES, train)
