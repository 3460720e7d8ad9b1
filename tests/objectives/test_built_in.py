"""Presets of LightGBM's and XGBoost's objectives train the models of the built-in objectives.

`test_replayed_settings` compares the models of all settings.
"""

from itertools import product

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_rankings import graded_ranking
from tests.helpers.objective_trainings import (
    LightGBM,
    XGBoost,
    assert_same_predictions,
    rows_of_toolkits,
    with_accepted_labels,
)

LAMBDARANK, NDCG = objectives.lightgbm.lambdarank(), objectives.xgboost.ndcg()


@pytest.fixture(params=[LightGBM, XGBoost], ids=["lightgbm", "xgboost"])
def toolkit(request):
    return request.param()


def assert_trains(toolkit, value, built_in, data, **more):
    """Check that our objective trains the same model as the built-in parameters, and return its predictions."""
    rounds = 15 if toolkit.name == "lightgbm" else 3
    data = with_accepted_labels(data, value)
    expected = toolkit.predictions(data, built_in, rounds, **more)
    assert_same_predictions(toolkit.predictions(data, value, rounds, **more), expected, toolkit.tolerance)
    return expected


def weight_column(toolkit, data):
    rows = data.y.size if toolkit.name == "lightgbm" else data.sizes.size
    return {"weight": np.random.default_rng(2).random(rows)}


def test_the_default_objective_trains_the_built_in_model(toolkit):
    name = next(iter(toolkit.presets))
    data = graded_ranking(20)
    assert_trains(toolkit, toolkit.presets[name](), {"objective": name}, data, columns=weight_column(toolkit, data))


@pytest.mark.long
@pytest.mark.parametrize("n_distinct", [2, 4])
@rows_of_toolkits("name", "options", rows=lambda toolkit: product(toolkit.presets, toolkit.pairs))
def test_tied_rows_train_the_built_in_model(toolkit, n_distinct, name, options):
    data = graded_ranking(3, n_values=n_distinct)
    data = data._replace(X=data.X[:, :2])
    expected = assert_trains(toolkit, toolkit.presets[name](**options), {"objective": name, **options}, data)
    assert np.unique(expected).size < data.y.size / 20


@pytest.mark.long
@pytest.mark.parametrize("size", [1, 2, 3])
@rows_of_toolkits("name", rows=lambda toolkit: toolkit.presets)
def test_short_queries_train_the_built_in_model(toolkit, name, size):
    data, qid = graded_ranking(4, 200, 1), np.arange(200) // size
    data = data._replace(qid=qid, sizes=np.bincount(qid), y=(data.X[:, 0] > 0.5).astype(float))
    expected = toolkit.predictions(data, {"objective": name})
    scores = toolkit.predictions(data, toolkit.presets[name]())
    np.testing.assert_allclose(scores, expected, rtol=0, atol=toolkit.tolerance)


def test_xgboost_refuses_weights_that_are_all_0_unless_the_average_is_uniform():
    matrix = XGBoost().package.DMatrix(np.eye(4), [0, 1, 1, 0], qid=[0, 0, 1, 1], weight=[0, 0])
    uniform = ra.xgboost.lambdarank(ra.presets.yahoo(5), truncation=5)
    assert uniform(np.zeros(4), matrix)[0].all()
    weighted = ra.xgboost.lambdarank(ra.presets.xgboost(5), truncation=5)
    with pytest.raises(ra.InputError, match=r"weights add up to 0\.\nHint: some query needs a weight above 0"):
        weighted(np.zeros(4), matrix)


# Native parameters


ALL_PAIRS = {"truncation": None}
EQUIVALENT = [
    *((LightGBM, LAMBDARANK, {}, {"gain": gain}, {}) for gain in ("exp2-floor", "linear", "linear-positive")),
    (LightGBM, LAMBDARANK, ALL_PAIRS, {"k": None}, {"lambdarank_truncation_level": 10_000}),
    (XGBoost, NDCG, ALL_PAIRS, {"k": None, "gain": "exp2"}, {"lambdarank_num_pair_per_sample": 2**31 - 1}),
]


@pytest.mark.parametrize(("toolkit_class", "value", "changes", "fields", "params"), EQUIVALENT)
def test_conventions_equivalent_on_whole_labels_have_native_parameters(toolkit_class, value, changes, fields, params):
    toolkit = toolkit_class()
    value = value.replace(**changes, convention=value.convention.replace(**fields))
    native = toolkit.adapter.native_objective(value)
    assert native.items() >= params.items()
    assert_trains(toolkit, value, native, graded_ranking(20, 8, 400) if changes else graded_ranking(20))


def test_more_top_ranks_than_int32_holds_have_native_parameters():
    native = XGBoost().adapter.native_objective(objectives.xgboost.ndcg(lambdarank_num_pair_per_sample=2**40))
    assert native["lambdarank_num_pair_per_sample"] == 2**31 - 1


BY_ROUND, SEEDED = (objectives.xgboost.ndcg(lambdarank_pair_method="mean", **seed) for seed in ({}, {"seed": 7}))


@pytest.mark.parametrize(
    ("version", "value", "seed", "hint"),
    [
        ("3.4.0", BY_ROUND, None, r"value\.replace\(seed=0\)"),
        ("4.0.1", BY_ROUND, None, r"value\.replace\(seed=0\)"),
        ("3.1.2", SEEDED, None, r"value\.replace\(seed='round'\)"),
        ("3.3.0", SEEDED, None, r"value\.replace\(seed='round'\)"),
        ("3.3.0", BY_ROUND, {}, None),
        ("3.4.0", SEEDED, {"seed": 7}, None),
    ],
)
def test_only_the_pair_seeds_of_the_installed_xgboost_have_native_parameters(version, value, seed, hint, monkeypatch):
    monkeypatch.setattr(XGBoost().package, "__version__", version)
    if hint is None:
        native = ra.xgboost.native_objective(value)
        assert {name: native[name] for name in native.keys() & {"seed"}} == seed
        return
    message = rf"XGBoost {version} draws the pairs of `mean` differently(.|\n)*Hint: {hint}"
    with pytest.raises(ra.UnsupportedConventionError, match=message):
        ra.xgboost.native_objective(value)
