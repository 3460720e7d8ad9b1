"""Pools, parameters and rows of trainings with CatBoost, and trainings without our code for comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankadapters as ra

cb = pytest.importorskip("catboost")

QUERY_RMSE = ra.objectives.QueryRMSE()
CONV = ra.presets.textbook(5)
LAMBDARANK = ra.catboost.read_objective("LambdaMart:metric=NDCG;top=5;type=Exp")
# Nothing is drawn at random, so that a native training chooses the same splits.
DETERMINISTIC: dict[str, Any] = {
    "iterations": 10,
    "depth": 4,
    "bootstrap_type": "No",
    "random_strength": 0,
    "thread_count": 2,
}


def rows(seed=0, n_queries=100, per_query=30, n_features=6):
    """Return features, labels 0 to 4 that depend on three of them, and query ids."""
    rng = np.random.default_rng(seed)
    n = n_queries * per_query
    X = rng.normal(size=(n, n_features))
    y = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) + 0.5), 0, 4)
    return X, y, np.repeat(np.arange(n_queries), per_query)


def pool(seed=0, n_queries=100, **columns):
    X, y, qid = rows(seed, n_queries)
    return cb.Pool(X, y, group_id=qid, **columns)


def query_weights(seed=0, n_queries=100, per_query=30):
    """Return a weight for each query, repeated for its rows; float32 can represent it exactly."""
    weights = np.random.default_rng(seed).uniform(0.5, 2, n_queries).astype(np.float32)
    return np.repeat(weights.astype(float), per_query)


def train_natively(params, train, loss="QueryRMSE", **options):
    """Train with a loss of CatBoost itself and return the model."""
    fixed = {"loss_function": loss, "logging_level": "Silent", "allow_writing_files": False}
    return cb.CatBoost({**params, **fixed}).fit(train, **options)


cb = pytest.importorskip("catboost")

LAST_ITERATION = 5


def weighted_rows(seed=0, n_queries=20):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, n_queries)
    n = int(sizes.sum())
    qid = np.repeat(np.arange(n_queries), sizes)
    X = rng.integers(0, 6, (n, 4)).astype(float)
    labels = np.clip(np.round(X[:, 0] / 3 + rng.normal(0, 0.8, n)), 0, 3) * np.repeat(
        rng.random(n_queries) < 0.8, sizes
    )
    return X, labels, qid, np.repeat(rng.uniform(0.5, 2, n_queries).astype(np.float32).astype(float), sizes)


def fit_ranker(train, valid, metric="NDCG:top=3;hints=skip_train~false", **params):
    model = cb.CatBoostRanker(
        iterations=LAST_ITERATION + 1, depth=3, loss_function="QueryRMSE", thread_count=2, random_seed=0,
        custom_metric=[metric], allow_writing_files=False, logging_level="Silent", **params,
    )  # fmt: skip
    return model.fit(train, eval_set=valid, use_best_model=False)
