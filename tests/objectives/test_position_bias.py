"""Position biases in the adapters: which objectives and values are accepted, and how training sets are recognized."""

import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.parameters import short
from tests.objectives.examples import BIASES, OBJECTIVES, VALUE_BY_CLASS

ADAPTERS = ["lightgbm", "xgboost"]


def objective_of(adapter):
    pytest.importorskip(adapter)
    return getattr(ra, adapter).objective


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("bias", BIASES[2:], ids=short)
@pytest.mark.parametrize("value", OBJECTIVES, ids=lambda value: value.kind)
def test_only_pair_objectives_accept_a_position_bias(adapter, bias, value):
    make_objective = objective_of(adapter)
    if isinstance(value, objectives.LambdaRank | objectives.RankNet | objectives.LambdaMAP | objectives.LambdaLoss):
        objective = make_objective(value, position_bias=bias)
        assert objective.position_bias == bias
        assert repr(objective) == f"objective({value}, position_bias={bias})"
        return
    message = rf"corrects pairs of rows, but {type(value).__name__} has none\.\nHint: one of .*'LambdaRank', 'RankNet'"
    with pytest.raises(ra.ConventionError, match=message):
        make_objective(value, position_bias=bias)


@pytest.mark.long
def test_lambda_loss_accepts_only_an_additive_bias():
    value = objectives.LambdaLoss(convention="lightgbm@10", scheme="ndcg2", truncation=30, sigma=1)
    queries, scores = ra.Queries([0, 1, 0, 1], group_sizes=[4]), [0.4, 0.3, 0.2, 0.1]
    with pytest.raises(
        ra.ConventionError, match=rf"BiasRatios cannot divide the pairs of {value.kind}/.*\nHint: Additive"
    ):
        VALUE_BY_CLASS[objectives.BiasRatios].bind(value, queries)
    binding = VALUE_BY_CLASS[objectives.AdditiveBias].replace(positions="rows").bind(value, queries)
    grad, hess = binding.gradients(scores)
    assert (grad == value.bind(queries).gradients(scores)[0]).all()
    binding.learn(grad, hess)
    moved = value.bind(queries).gradients(scores + binding.bias.astype(float))
    assert (binding.gradients(scores)[0] == moved[0]).all()
    assert (moved[0] != grad).any()
