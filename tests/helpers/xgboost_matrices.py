"""Parameters, matrices and trainings that the tests of XGBoost's metrics share."""

from __future__ import annotations

import pytest

import rankadapters as ra

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")

XGBOOST = ra.presets.xgboost(5)
PARAMS = {"objective": "rank:ndcg", "disable_default_eval_metric": True, "nthread": 1, "max_depth": 3, "seed": 1}


def dmatrix(data, **columns):
    return xgb.DMatrix(data.X, label=data.y, qid=data.qid, **columns)


def train(params, data, rounds, **options):
    """Train silently with the shared parameters and some others, and return the Booster."""
    return xgb.train({**PARAMS, **params}, data, rounds, verbose_eval=False, **options)
