"""What each field of an objective or a position bias may be, alone and beside the others."""

from __future__ import annotations

import re
from inspect import Parameter, signature

import pytest

import rankadapters as ra
from rankadapters import objectives
from rankadapters.objectives.base import OBJECTIVES
from rankadapters.objectives.position_bias import POSITION_BIASES
from tests.helpers.every_objective import EACH
from tests.helpers.tables import for_each, short

CLASSES = [*OBJECTIVES.values(), *POSITION_BIASES.values()]
NAN, INF = float("nan"), float("inf")
WRONG_WHOLE = [0, -1, 2.5, 1.0, True, "3"]
WRONG = {
    "truncation": WRONG_WHOLE,
    "samples": WRONG_WHOLE,
    "sigma": [0, -1, -1.0, NAN, INF, "1", None, True],
    "beta": [0, -1, -1.0, NAN, INF, "1", None, True],
    "ridge": [-0.1, 1.1, NAN, INF, "1", None, True],
    "alpha": [-0.1, 1.1, NAN, -INF, "1", None, True],
    "seed": [-1, 2**64, 1.0, None, True, "1"],
    "mu": [-0.1, NAN, INF, "1", None, True],
    "nu": [0, -0.1, NAN, INF, "1", None, True],
    "lambda_": [-0.1, NAN, INF, "1", None, True],
    "estimations": [*WRONG_WHOLE, None, 2**31],
    "arithmetic": ["true", "xgboost", None],
    "permutations": [*WRONG_WHOLE, None, 2**31],
    "neighbors": WRONG_WHOLE,
    "decay": [0, -0.1, 1.1, NAN, "1", None, True],
    "noise": ["gumbel", "Gauss", None],
    "noise_power": [0, -0.1, NAN, INF, "1", None, True],
    "normalization": ["norm", "", None, True],
    "hessian": ["gauss", "exact", None, 0, -1],
    "sigmoid": ["fast", "plain", None],
    "beyond_k": ["drop", "all", None],
    "scheme": ["ndcg3", "ndcg2++", "ndcg2++_-1", "ndcg2++_", "arp1_2", None],
    "temperature": [0, -1, NAN, INF, "1", None, True],
    "delta": ["true", "xgboost", None],
    "positions": ["", "row", 0, None, True],
    "regularization": [-0.1, NAN, INF, "1", None, True],
    "learning_rate": [0, -0.1, NAN, INF, "1", None, True],
    "limit": [0, -1, 2.5, True, "3"],
    "norm": [-0.1, NAN, INF, "1", None, True],
    "cost": ["false", "", None, 1],
    "convention": ["lightgbm", "lambdarank", 10, None, "lightgbm.auc", objectives.ListNet()],
}


@for_each(
    ("cls", "field", "value"),
    [
        pytest.param(cls, field, value, id=f"{cls.__name__}-{field}={value!r:.20}")
        for cls in CLASSES
        for field in cls.fields()
        for value in WRONG[field]
    ],
)
def test_every_class_refuses_what_each_of_its_fields_may_not_be(cls, field, value):
    about = "(?s).*" if field == "convention" else rf"^{field}={re.escape(repr(value))}(; allowed are| is not a choice)"
    with pytest.raises(ra.ConventionError, match=about):
        EACH[cls].replace(**{field: value})
    with pytest.raises(ra.ConventionError, match=about):
        cls(**{**EACH[cls].to_dict(), field: value})


@for_each("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_class_refuses_a_field_left_out(cls):
    fields = EACH[cls].to_dict()
    for field in (name for name, kind in cls.declared().items() if kind.implied is None):
        with pytest.raises(
            ra.ConventionError, match=rf"{cls.__name__} needs every field declared; left out:\n  {field}"
        ):
            cls(**{name: value for name, value in fields.items() if name != field})


@for_each(
    ("cls", "field", "values"),
    [
        (objectives.RankNet, "truncation", [1, 2**31, None]),
        (objectives.RankNet, "sigma", [5e-324, 1, 1e308]),
        (objectives.QuerySoftMax, "beta", [5e-324, 1, 1e308]),
        (objectives.QuerySoftMax, "ridge", [0, 0.5, 1]),
        (objectives.QueryCrossEntropy, "alpha", [0, 0.5, 1]),
        (objectives.XENDCG, "seed", [0, 2**31 - 1]),
        (objectives.StochasticRank, "seed", [0, 2**64 - 1]),
        (objectives.StochasticRank, "sigma", [5e-324, 1, 1e308]),
        (objectives.StochasticRank, "lambda_", [0, 1, 2]),
        (objectives.YetiRank, "neighbors", [1, 2**31, None]),
    ],
    ids=short,
)
def test_the_ends_of_what_a_field_may_be_are_taken(cls, field, values):
    for value in values:
        assert getattr(EACH[cls].replace(**{field: value}), field) == value


@for_each("cls", OBJECTIVES.values(), ids=lambda cls: cls.__name__)
def test_an_objective_is_bound_to_queries_with_all_else_by_name(cls):
    queries, *options = signature(EACH[cls].bind).parameters.values()
    assert queries.kind is Parameter.POSITIONAL_OR_KEYWORD
    assert {each.kind for each in options} == {Parameter.KEYWORD_ONLY}


def test_more_neighbors_than_rows_are_all_rows():
    every = objectives.catboost.yetirank(mode="NDCG", num_neighbors=-1)
    more = every.replace(neighbors=10**30)
    expected, found = (objectives.gradients([2, 0, 1], [1.0, 2, 3], each, group_sizes=[3]) for each in (every, more))
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]


FLOAT32 = {cls: EACH[cls].replace(sigmoid="float32") for cls in (objectives.LambdaRank, objectives.RankNet)}
FLOAT32[objectives.LambdaMAP] = EACH[objectives.LambdaMAP]
BY_RANK = "truncation=5 chooses pairs by rank and samples=3 draws them"
EXACT = "sigmoid='exact' takes every pair, but samples draws them"
TABLE = "sigmoid='table' replays LightGBM, which has neither samples, nor"


@for_each(
    ("value", "changes", "problem"),
    [
        *((value, {"truncation": 5, "samples": 3}, BY_RANK) for value in FLOAT32.values()),
        (EACH[objectives.LambdaRank], {"sigmoid": "exact", "truncation": None, "samples": 3}, EXACT),
        (EACH[objectives.RankNet], {"sigmoid": "exact", "truncation": None, "samples": 3}, EXACT),
        (objectives.lightgbm.lambdarank(), {"samples": 3, "truncation": None}, TABLE),
        (objectives.lightgbm.lambdarank(), {"hessian": "doubled"}, TABLE),
        (objectives.lightgbm.lambdarank(), {"normalization": "xgboost"}, TABLE),
        (objectives.lightgbm.lambdarank(), {"normalization": "xgboost-sum"}, TABLE),
        (objectives.lightgbm.lambdarank(), {"samples": 3}, "truncation=30 chooses pairs by rank and samples=3 draws"),
        (objectives.xgboost.map(), {"sigmoid": "exact"}, "has no sigmoid='exact'\\.\nHint: sigmoid='float32'"),
        (objectives.catboost.pair_logit(), {"sigmoid": "table"}, "has no sigmoid='table'\\.\nHint: sigmoid='float32'"),
        (objectives.lightgbm.xendcg(), {"seed": 2**31}, "allowed are whole numbers from 0 to 2147483647"),
        (objectives.catboost.pair_logit(), {"truncation": 0}, "allowed are whole numbers from 1 on, or None for all"),
        (objectives.catboost.pair_logit(), {"sigma": 0}, "sigma=0; allowed are finite numbers above 0"),
        (objectives.catboost.pair_logit(), {"normalization": "norm"}, "; allowed are 'none', 'lightgbm'"),
        (objectives.catboost.pair_logit(), {"sigmoid": "fast"}, "; allowed are 'exact', 'table', 'float32'"),
        (objectives.catboost.lambdamart(), {"beyond_k": "drop"}, "is not a choice; allowed are 'keep', 'cut'"),
        (objectives.catboost.pair_logit(), {"norm": True}, "RankNet has no field 'norm'; its fields are"),
        (objectives.lightgbm.lambdarank(), {"convention": "catboost.dcg@10"},
         r"needs a convention of NDCG, AP, RR or ERR, not dcg@10/gain=linear.*\nHint: "),
    ],
    ids=short,
)  # fmt: skip
def test_fields_that_do_not_go_together_are_refused_with_what_is_allowed(value, changes, problem):
    with pytest.raises(ra.ConventionError, match=problem):
        value.replace(**changes)


@for_each("value", FLOAT32.values(), ids=short)
def test_pairs_may_be_drawn(value):
    assert value.replace(truncation=None, samples=3).samples == 3
