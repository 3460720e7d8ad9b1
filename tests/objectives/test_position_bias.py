"""Position bias as values: declared whole, compared by meaning, written and read back; and what has none."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from rankadapters.callbacks.objectives import _digest
from rankadapters.objectives.position_bias import POSITION_BIASES
from tests.helpers.objective_values import ALL as OBJECTIVES
from tests.tables import for_each, short

NAN, INF = float("nan"), float("inf")
ALL = [
    objectives.lightgbm.position_bias(),
    objectives.lightgbm.position_bias(lambdarank_position_bias_regularization=0.3, learning_rate=1),
    objectives.AdditiveBias(positions="rows", regularization=0, learning_rate=1e-5),
    objectives.xgboost.unbiased(),
    objectives.xgboost.unbiased(lambdarank_bias_norm=0, lambdarank_num_pair_per_sample=7),
    objectives.unbiased_lambdamart(limit=None, norm=0.5),
]
EACH = {type(value): value for value in ALL}
ADAPTERS = ["lightgbm", "xgboost"]
WRONG = {
    "positions": ["", "row", 0, None, True],
    "regularization": [-0.1, NAN, INF, "1", None, True],
    "learning_rate": [0, -0.1, NAN, INF, "1", None, True],
    "limit": [0, -1, 2.5, True, "3"],
    "norm": [-0.1, NAN, INF, "1", None, True],
    "cost": ["false", "", None, 1],
}


@pytest.mark.parametrize("value", ALL, ids=short)
def test_a_signature_reads_back_as_the_same_value(value):
    again = objectives.parse_position_bias(str(value))
    assert again == value
    assert hash(again) == hash(value)
    assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(AttributeError):
        value.form = "other"


def test_signatures_are_all_different_and_show_every_choice():
    assert len({str(value) for value in ALL}) == len(ALL)
    assert str(ALL[0]) == "additive-bias/positions=given/regularization=0/learning_rate=0.1/v1"
    assert str(ALL[3]) == "bias-ratios/limit=32/norm=1/cost=mirrored/v1"
    assert str(ALL[5]) == "bias-ratios/limit=all/norm=0.5/cost=true/v1"


def test_presets_are_these_values():
    """LightGBM 4.7.0's and XGBoost 3.2.0's defaults; under `topk` as many positions as top ranks, else 32."""
    assert objectives.xgboost.unbiased(lambdarank_num_pair_per_sample=7).limit == 7
    drawn = objectives.xgboost.unbiased(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=7)
    assert drawn == objectives.xgboost.unbiased()
    assert objectives.unbiased_lambdamart() == objectives.xgboost.unbiased().replace(cost="true")


@pytest.mark.parametrize(
    "signature",
    ["", "additive-bias", "nosuch/v1", "bias-ratios/limit=32/norm=1/cost=true/v2", f"{ALL[0]} ", f"{ALL[3]}/x", None],
)
def test_a_broken_signature_is_refused(signature):
    with pytest.raises(ra.ConventionError):
        objectives.parse_position_bias(signature)


def test_one_thing_written_otherwise_is_refused():
    with pytest.raises(
        ra.ConventionError, match=r"norm=1\.0/.* is not the exact signature of a position bias\.\nHint: "
    ):
        objectives.parse_position_bias("bias-ratios/limit=32/norm=1.0/cost=true/v1")


@for_each(
    ("cls", "field", "value"),
    [(cls, field, value) for cls in POSITION_BIASES.values() for field in cls.fields() for value in WRONG[field]],
)
def test_a_field_outside_its_choices_is_refused(cls, field, value):
    with pytest.raises(ra.ConventionError, match=rf"^{field}={re.escape(repr(value))}(; allowed are| is not a choice)"):
        EACH[cls].replace(**{field: value})


@pytest.mark.parametrize("cls", POSITION_BIASES.values(), ids=lambda cls: cls.__name__)
def test_a_field_left_out_is_refused(cls):
    with pytest.raises(ra.ConventionError, match=rf"{cls.__name__} needs every field declared; left out"):
        cls()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lambdarank_pair_method": "top"}, "lambdarank_pair_method='top'; allowed"),
        ({"lambdarank_num_pair_per_sample": 0}, "lambdarank_num_pair_per_sample=0; allowed"),
        ({"lambdarank_bias_norm": -1}, "norm=-1; allowed are finite numbers from 0 on"),
    ],
)
def test_presets_refuse_in_the_toolkits_words(options, message):
    with pytest.raises(ra.ConventionError, match=message):
        objectives.xgboost.unbiased(**options)


def of(adapter):
    pytest.importorskip(adapter)
    return getattr(ra, adapter).objective


@pytest.mark.parametrize("adapter", ADAPTERS)
@for_each("bias", ALL[2:], ids=short)
@for_each("value", OBJECTIVES, ids=lambda value: value.kind)
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
@pytest.mark.parametrize(
    "bias", [0.1, True, ALL[0].to_dict(), objectives.catboost.pair_logit(), objectives.AdditiveBias], ids=short
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
