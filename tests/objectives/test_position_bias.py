"""Position bias: what has none, and what adapters take for one."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from rankadapters.callbacks.objectives import _digest
from tests.helpers.every_objective import ALL, BIASES, EACH
from tests.helpers.tables import for_each, short

ADAPTERS = ["lightgbm", "xgboost"]


def of(adapter):
    pytest.importorskip(adapter)
    return getattr(ra, adapter).objective


@pytest.mark.parametrize("adapter", ADAPTERS)
@for_each("bias", BIASES[2:], ids=short)
@for_each("value", ALL, ids=lambda value: value.kind)
def test_only_objectives_of_pairs_have_a_position_bias(adapter, bias, value):
    make = of(adapter)
    if isinstance(value, objectives.LambdaRank | objectives.RankNet | objectives.LambdaMAP | objectives.LambdaLoss):
        made = make(value, position_bias=bias)
        assert made.position_bias == bias
        assert repr(made) == f"objective({value}, position_bias={bias})"
        return
    message = rf"corrects pairs of rows, but {type(value).__name__} has none\.\nHint: one of .*'LambdaRank', 'RankNet'"
    with pytest.raises(ra.ConventionError, match=message):
        make(value, position_bias=bias)


@pytest.mark.parametrize("adapter", ADAPTERS)
@for_each(
    "bias", [0.1, True, BIASES[0].to_dict(), objectives.catboost.pair_logit(), objectives.AdditiveBias], ids=short
)
def test_what_is_not_a_position_bias_is_refused(adapter, bias):
    with pytest.raises(ra.ConventionError, match=r"is not a position bias\.\nHint: ra.objectives.lightgbm.position"):
        of(adapter)(objectives.catboost.pair_logit(), position_bias=bias)


def test_pairs_of_lambda_loss_have_an_additive_bias_only():
    value = objectives.LambdaLoss(convention="lightgbm@10", scheme="ndcg2", truncation=30, sigma=1)
    queries, scores = ra.Queries([0, 1, 0, 1], group_sizes=[4]), [0.4, 0.3, 0.2, 0.1]
    with pytest.raises(
        ra.ConventionError, match=rf"BiasRatios cannot divide the pairs of {value.kind}/.*\nHint: Additive"
    ):
        EACH[objectives.BiasRatios].bind(value, queries)
    bound = EACH[objectives.AdditiveBias].replace(positions="rows").bind(value, queries)
    grad, hess = bound.gradients(scores)
    assert (grad == value.bind(queries).gradients(scores)[0]).all()
    bound.learn(grad, hess)
    moved = value.bind(queries).gradients(scores + bound.bias.astype(float))
    assert (bound.gradients(scores)[0] == moved[0]).all()
    assert (moved[0] != grad).any()


def test_a_training_set_is_known_by_its_positions_too():
    queries = ra.Queries([1, 0, 2], group_sizes=[3])
    here, there = np.array([0, 1, 2]), np.array([0, 2, 1])
    assert _digest(queries, here) == _digest(queries, here.copy())
    assert len({_digest(queries, each) for each in (None, here, there)}) == 3
    assert _digest(queries, there) < 2**64
