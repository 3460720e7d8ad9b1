"""Values that the fields of objectives and position biases accept or refuse, alone and in combination."""

import re

import pytest

import rankadapters as ra
from rankadapters import objectives
from rankadapters.objectives.base import OBJECTIVES
from rankadapters.objectives.position_bias import POSITION_BIASES
from tests.helpers.parameters import short
from tests.objectives.examples import VALUE_BY_CLASS

CLASSES = [*OBJECTIVES.values(), *POSITION_BIASES.values()]
NAN, INF = float("nan"), float("inf")
WRONG_WHOLE = [0, -1, 2.5, 1.0, True, "3"]
WRONG_VALUES = {
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
CONVENTION_MESSAGES = {
    "lightgbm": "^'lightgbm' has no cutoff",
    "lambdarank": "^'lambdarank' is neither a preset@k",
    "lightgbm.auc": "needs a convention of (NDCG|FilteredDCG).*, not auc/",
    None: "^(None is not a convention|delta='catboost' goes with a convention)",
}


@pytest.mark.parametrize(
    ("cls", "field", "value"),
    [
        pytest.param(cls, field, value, id=f"{cls.__name__}-{field}={value!r:.20}")
        for cls in CLASSES
        for field in cls.fields()
        for value in WRONG_VALUES[field]
    ],
)
def test_every_class_refuses_wrong_values_of_its_fields(cls, field, value):
    message = rf"^{field}={re.escape(repr(value))}; allowed are"
    if field == "convention":
        message = CONVENTION_MESSAGES.get(value, rf"^{re.escape(repr(value))} is not a convention")
    with pytest.raises(ra.ConventionError, match=message):
        VALUE_BY_CLASS[cls].replace(**{field: value})
    with pytest.raises(ra.ConventionError, match=message):
        cls(**{**VALUE_BY_CLASS[cls].to_dict(), field: value})


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_class_refuses_a_missing_field(cls):
    fields = VALUE_BY_CLASS[cls].to_dict()
    for field in (name for name, kind in cls.declared().items() if kind.implied is None):
        with pytest.raises(
            ra.ConventionError, match=rf"{cls.__name__} needs every field declared; left out:\n  {field}"
        ):
            cls(**{name: value for name, value in fields.items() if name != field})


@pytest.mark.parametrize(
    ("cls", "field", "values"),
    [
        (objectives.RankNet, "truncation", [1, 2**31, None]),
        (objectives.RankNet, "sigma", [5e-324, 1, 1e308]),
        (objectives.QuerySoftMax, "beta", [5e-324, 1, 1e308]),
        (objectives.QuerySoftMax, "ridge", [0, 0.5, 1]),
        (objectives.QueryCrossEntropy, "alpha", [0, 0.5, 1]),
        (objectives.StochasticRank, "sigma", [5e-324, 1, 1e308]),
        (objectives.StochasticRank, "lambda_", [0, 1, 2]),
        (objectives.YetiRank, "neighbors", [1, 2**31, None]),
    ],
    ids=short,
)
def test_the_smallest_and_largest_allowed_values_are_accepted(cls, field, values):
    for value in values:
        assert getattr(VALUE_BY_CLASS[cls].replace(**{field: value}), field) == value


@pytest.mark.parametrize(
    ("value", "field", "least", "most"),
    [
        (VALUE_BY_CLASS[objectives.XENDCG], "seed", 0, 2**31 - 1),
        (VALUE_BY_CLASS[objectives.RankNet].replace(truncation=None, samples=1), "seed", 0, 2**32 - 1),
        (VALUE_BY_CLASS[objectives.StochasticRank], "seed", 0, 2**64 - 1),
        (VALUE_BY_CLASS[objectives.StochasticRank], "estimations", 1, 2**31 - 1),
        (VALUE_BY_CLASS[objectives.YetiRank], "permutations", 1, 2**31 - 1),
    ],
    ids=short,
)
def test_whole_numbers_are_accepted_up_to_the_largest(value, field, least, most):
    for number in (least, most):
        assert getattr(value.replace(**{field: number}), field) == number
    for number in (least - 1, most + 1):
        with pytest.raises(ra.ConventionError, match=f"^{field}={number}; allowed are whole numbers from {least} to"):
            value.replace(**{field: number})


@pytest.mark.long
def test_more_neighbors_than_rows_mean_all_rows():
    every = objectives.catboost.yetirank(mode="NDCG", num_neighbors=-1)
    more = every.replace(neighbors=10**30)
    expected = objectives.gradients([2, 0, 1], [1.0, 2, 3], every, group_sizes=[3])
    derivatives = objectives.gradients([2, 0, 1], [1.0, 2, 3], more, group_sizes=[3])
    assert [part.tolist() for part in derivatives] == [part.tolist() for part in expected]
