"""What each field of an objective may be, alone and beside the others."""

from __future__ import annotations

import re
from inspect import Parameter, signature

import pytest

import rankadapters as ra
from rankadapters import objectives
from rankadapters.objectives.base import OBJECTIVES
from tests.helpers.objective_values import EACH
from tests.tables import for_each, short

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
    "convention": ["lightgbm", "lambdarank", 10, None, "lightgbm.auc", objectives.ListNet()],
}


@for_each(
    ("cls", "field", "value"),
    [
        pytest.param(cls, field, value, id=f"{cls.__name__}-{field}={value!r:.20}")
        for cls in OBJECTIVES.values()
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


@for_each("cls", OBJECTIVES.values(), ids=lambda cls: cls.__name__)
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


def test_lightgbms_generator_has_32_bits():
    with pytest.raises(ra.ConventionError, match=r"seed=2147483648; allowed are whole numbers from 0 to 2147483647"):
        objectives.XENDCG(seed=2**31)


PAIRWISE = [objectives.LambdaRank, objectives.RankNet, objectives.LambdaMAP]


@pytest.mark.parametrize("cls", PAIRWISE, ids=lambda cls: cls.__name__)
def test_pairs_are_chosen_by_rank_or_drawn(cls):
    value = EACH[cls].replace(sigmoid="float32", truncation=None, samples=None)
    assert value.replace(samples=3).samples == 3
    with pytest.raises(ra.ConventionError, match="truncation=5 chooses pairs by rank and samples=3 draws them"):
        value.replace(truncation=5, samples=3)


@pytest.mark.parametrize("cls", PAIRWISE[:2], ids=lambda cls: cls.__name__)
def test_only_xgboosts_arithmetic_draws(cls):
    value = EACH[cls].replace(sigmoid="exact", truncation=None, samples=None)
    with pytest.raises(ra.ConventionError, match="sigmoid='exact' takes every pair, but samples draws them"):
        value.replace(samples=3)


@pytest.mark.parametrize(
    "changes",
    [
        {"samples": 3, "truncation": None},
        {"hessian": "doubled"},
        {"normalization": "xgboost"},
        {"normalization": "xgboost-sum"},
    ],
    ids=short,
)
def test_the_table_is_lightgbms_alone(changes):
    value = objectives.lightgbm.lambdarank()
    with pytest.raises(ra.ConventionError, match="sigmoid='table' replays LightGBM, which has neither samples, nor"):
        value.replace(**changes)


def test_more_neighbors_than_rows_are_all_rows():
    every = objectives.catboost.yetirank(mode="NDCG", num_neighbors=-1)
    more = every.replace(neighbors=10**30)
    expected, found = (objectives.gradients([2, 0, 1], [1.0, 2, 3], each, group_sizes=[3]) for each in (every, more))
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]
