"""What the tests of XGBoost's objectives train: its built-in objectives, and ours in their place."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_drivers import COMMON, MEAN, SEED, XENDCG

xgb = pytest.importorskip("xgboost")

PARAMS = {"nthread": 1, "max_depth": 4, "base_score": 0.0, "disable_default_eval_metric": 1}
SAME = 1e-8  # 0.0 is what was seen, with XGBoost 3.1.2, 3.2.0 and 3.4.1
PRESETS = {
    "rank:ndcg": objectives.xgboost.ndcg,
    "rank:pairwise": objectives.xgboost.pairwise,
    "rank:map": objectives.xgboost.map,
}
OPTIONS = [
    {},
    {"lambdarank_num_pair_per_sample": 3},
    {"lambdarank_num_pair_per_sample": 1000},
    {"lambdarank_normalization": False},
    {"lambdarank_score_normalization": False},
    {"lambdarank_normalization": False, "lambdarank_score_normalization": False},
]
MEANS = [
    {"lambdarank_pair_method": "mean", **SEED},
    MEAN,
    {**MEAN, "lambdarank_num_pair_per_sample": 4},
    {**MEAN, "lambdarank_num_pair_per_sample": 2, "lambdarank_normalization": False},
    {"lambdarank_pair_method": "mean", "lambdarank_score_normalization": False, **SEED},
]
BUILT_IN = [(name, options) for name in PRESETS for options in OPTIONS]
BUILT_IN += [("rank:ndcg", {"ndcg_exp_gain": False})]
BUILT_IN += [(name, options) for name in PRESETS for options in MEANS]
CONVENTIONS = [ra.presets.letor4(10), ra.presets.yahoo(10), ra.presets.textbook(10)]
OTHERS = [*COMMON, objectives.lightgbm.lambdarank()]
DRAWN = [objectives.xgboost.ndcg(**MEAN), XENDCG]


def ours(value):
    return ra.xgboost.objective(value, n_threads=1)


def dmatrix(data, kind=xgb.DMatrix, **more):
    return kind(data.X, label=data.y, qid=data.qid, nthread=1, **more)


def margins(data, rounds=3, *, obj=None, weight=None, kind=xgb.DMatrix, **params):
    train = dmatrix(data, kind, weight=weight)
    booster = xgb.train({**PARAMS, **params}, train, rounds, obj=obj)
    return booster.predict(train, output_margin=True)


def assert_same(found, expected):
    assert np.ptp(expected) > 0.1  # something was learned
    np.testing.assert_allclose(found, expected, rtol=0, atol=SAME)


def fitting(data, value):
    """The data with labels that an objective, or XGBoost's of that name, takes."""
    binary = value == "rank:map" or isinstance(value, objectives.LambdaMAP | objectives.QueryCrossEntropy)
    return data._replace(y=(data.y > 0).astype(float)) if binary else data
