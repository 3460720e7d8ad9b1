"""Parameters and matrices that the tests of XGBoost's callbacks train with."""

from __future__ import annotations

import pytest

import rankadapters as ra

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")


IGNORED = r"the data has weights, but ndcg@10/textbook ignores them \(average='uniform'\)\.\nHint: convention\.replace"
LETOR, TEXTBOOK = ra.presets.letor4(5), ra.presets.textbook(10)
XGBOOST = ra.presets.xgboost(5)
PARAMS = {"objective": "rank:ndcg", "disable_default_eval_metric": True, "nthread": 1, "max_depth": 3, "seed": 1}


def dmatrix(data, **more):
    return xgb.DMatrix(data.X, label=data.y, qid=data.qid, **more)


def train(params, data, rounds, **more):
    return xgb.train({**PARAMS, **params}, data, rounds, verbose_eval=False, **more)
