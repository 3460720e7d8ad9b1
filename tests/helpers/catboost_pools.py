"""Pools that CatBoost is trained on one tree a round, and native trainings beside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankadapters as ra

cb = pytest.importorskip("catboost")

QUERY_RMSE = ra.objectives.QueryRMSE()
CONV = ra.presets.textbook(5)
LAMBDARANK = ra.catboost.read_objective("LambdaMart:metric=NDCG;top=5;type=Exp")
# With nothing drawn at random, so that a native training takes the same splits.
PLAIN: dict[str, Any] = {"iterations": 10, "depth": 4, "bootstrap_type": "No", "random_strength": 0, "thread_count": 2}


def rows(seed=0, n_queries=100, per_query=30, n_features=6):
    """Features, grades 0 to 4 that depend on some of them, and query ids."""
    rng = np.random.default_rng(seed)
    n = n_queries * per_query
    X = rng.normal(size=(n, n_features))
    y = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) + 0.5), 0, 4)
    return X, y, np.repeat(np.arange(n_queries), per_query)


def pool(seed=0, n_queries=100, **columns):
    X, y, qid = rows(seed, n_queries)
    return cb.Pool(X, y, group_id=qid, **columns)


def query_weights(seed=0, n_queries=100, per_query=30):
    weights = np.random.default_rng(seed).uniform(0.5, 2, n_queries).astype(np.float32)
    return np.repeat(weights.astype(float), per_query)


def native(params, train, loss="QueryRMSE", **more):
    fixed = {"loss_function": loss, "logging_level": "Silent", "allow_writing_files": False}
    return cb.CatBoost({**params, **fixed}).fit(train, **more)


def qid_of(data):
    return data.get_group_id_hash()
