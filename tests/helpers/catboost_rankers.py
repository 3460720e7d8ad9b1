"""A small CatBoostRanker that logs a metric of the training set too, and rows to train it on."""

from __future__ import annotations

import numpy as np
import pytest

cb = pytest.importorskip("catboost")

LAST_ITERATION = 5


def weighted_rows(seed=0, n_queries=20):
    """Return features, labels, query ids and query weights of the same rows."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, n_queries)
    n = int(sizes.sum())
    qid = np.repeat(np.arange(n_queries), sizes)
    X = rng.integers(0, 6, (n, 4)).astype(float)
    labels = np.clip(np.round(X[:, 0] / 3 + rng.normal(0, 0.8, n)), 0, 3) * np.repeat(
        rng.random(n_queries) < 0.8, sizes
    )
    return X, labels, qid, np.repeat(rng.uniform(0.5, 2, n_queries).astype(np.float32).astype(float), sizes)


def fit_ranker(train, valid, **params):
    """Train a ranker on a pool, with a validation pool, and return it."""
    model = cb.CatBoostRanker(
        iterations=LAST_ITERATION + 1, depth=3, loss_function="QueryRMSE", thread_count=2, random_seed=0,
        custom_metric=["NDCG:top=3;hints=skip_train~false"], allow_writing_files=False, logging_level="Silent",
        **params,
    )  # fmt: skip
    return model.fit(train, eval_set=valid, use_best_model=False)
