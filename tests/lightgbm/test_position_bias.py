"""Positions of LightGBM's Datasets: learned biases, their state, folds and subsets, and refused positions.

`tests/objectives` compares the trained models with LightGBM's own.
"""

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_rankings import (
    ADDITIVE_BIAS,
    ADDITIVE_BIAS_BY_ROW,
    RATIO_BIAS,
    TRUE_COST,
    graded_ranking,
    shuffled_positions,
)
from tests.helpers.objective_trainings import LightGBM

lgb = pytest.importorskip("lightgbm")

PARAMS, dataset = LightGBM.params, LightGBM().dataset
LAMBDARANK, RATIOS = objectives.lightgbm.lambdarank(), [RATIO_BIAS, TRUE_COST]
DATA = graded_ranking(5)
SCORES = np.random.default_rng(0).normal(size=DATA.y.size)


def biased(bias=ADDITIVE_BIAS):
    return ra.lightgbm.objective(LAMBDARANK, position_bias=bias, n_threads=1)


def constructed(positions=None):
    return dataset(DATA, position=positions).construct()


def pickled(value):
    return pickle.loads(pickle.dumps(value))


# State


@pytest.mark.parametrize("bias", [ADDITIVE_BIAS, *(pytest.param(bias, marks=pytest.mark.long) for bias in RATIOS)])
def test_a_pickle_keeps_the_learned_bias_and_starts_anew(bias):
    objective, train = biased(bias), constructed(None if bias in RATIOS else shuffled_positions(DATA))
    first, second = (objective(SCORES, train)[0] for _ in range(2))
    assert not np.array_equal(first, second)
    copied = pickled(objective)
    for copied_part, part in zip(copied.learned_bias, objective.learned_bias, strict=True):
        np.testing.assert_array_equal(copied_part, part)
    np.testing.assert_array_equal(copied(SCORES, train)[0], first)


@pytest.mark.parametrize("restart", [copy.deepcopy, lambda objective: objective.reset() or objective])
def test_deep_copies_and_reset_start_anew(restart):
    objective, train = biased(), constructed(shuffled_positions(DATA))
    assert objective.learned_bias is None
    first = objective(SCORES, train)
    learned = objective.learned_bias.biases.copy()
    objective(SCORES, train)
    assert not np.array_equal(objective.learned_bias.biases, learned)
    np.testing.assert_array_equal(restart(objective)(SCORES, train), first)
    np.testing.assert_array_equal(objective.learned_bias.biases, learned)


def test_positions_without_a_bias_warn_once_and_are_not_learned():
    objective, train = ra.lightgbm.objective(LAMBDARANK), constructed(shuffled_positions(DATA))
    with pytest.warns(UserWarning, match=r"(?s)the Dataset has positions, but .*position_bias=ra.objectives.lightgbm"):
        first = objective(SCORES, train)
    np.testing.assert_array_equal(objective(SCORES, train), first)  # the second call does not warn
    assert objective.learned_bias is objective.position_bias is None


# Folds and subsets


@pytest.mark.long
def test_folds_keep_the_positions_of_their_rows():
    model_selection = pytest.importorskip("sklearn.model_selection")
    objective, train = biased(), dataset(DATA, position=shuffled_positions(DATA))
    folds = model_selection.GroupKFold(2)
    lgb.cv({**PARAMS, "objective": objective}, train, 3, folds=folds, feval=ra.lightgbm.eval_metric("letor4@10"))
    assert set(objective.learned_bias.positions) <= set(train.get_position())  # LightGBM 4.7 renumbers them
    assert objective.learned_bias.biases.any()


@pytest.mark.long
def test_a_subset_has_the_positions_of_its_rows():
    rows, queries = np.flatnonzero(DATA.qid % 3 > 0), np.arange(DATA.sizes.size) % 3 > 0
    positions = shuffled_positions(DATA)
    subset = dataset(DATA, position=positions).subset(rows.tolist())
    separate = lgb.Dataset(DATA.X[rows], DATA.y[rows], group=DATA.sizes[queries], position=positions[rows])
    objective, separate_objective = biased(), biased()
    for _ in range(3):
        expected = separate_objective(SCORES[rows], separate.construct())
        assert np.array_equal(objective(SCORES[rows], subset.construct()), expected)


# Refused positions


def test_the_scikit_learn_interface_uses_row_indices_as_positions():
    pytest.importorskip("sklearn")

    def fitted(objective):
        ranker = lgb.LGBMRanker(n_estimators=5, verbosity=-1, n_jobs=1, min_child_samples=5, objective=objective)
        return ranker.fit(DATA.X, DATA.y, group=DATA.sizes)

    objective = biased(ADDITIVE_BIAS_BY_ROW)
    fitted(objective)
    assert objective.learned_bias.positions.tolist() == list(range(DATA.sizes.max()))
    with pytest.raises(ra.InputError, match="there are no positions"):
        fitted(biased())


def test_positions_that_change_during_training_are_refused():
    objective, train = biased(), constructed(shuffled_positions(DATA))
    objective(SCORES, train)
    train.set_position(DATA.qid)
    with pytest.raises(ra.InputError, match="or its positions, changed after round 1"):
        objective(SCORES, train)
