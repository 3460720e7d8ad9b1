"""Small rankers of CatBoost with a metric that is computed on the training set, and the data they are trained on."""

from __future__ import annotations

import numpy as np
import pytest

cb = pytest.importorskip("catboost")

LAST = 5  # iteration


def data(seed=0, n_queries=20):
    """Make features, labels, query ids and group weights, one of each per row."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, n_queries)
    n = int(sizes.sum())
    qid = np.repeat(np.arange(n_queries), sizes)
    X = rng.integers(0, 6, (n, 4)).astype(float)
    labels = np.clip(np.round(X[:, 0] / 3 + rng.normal(0, 0.8, n)), 0, 3) * np.repeat(
        rng.random(n_queries) < 0.8, sizes
    )
    return X, labels, qid, np.repeat(rng.uniform(0.5, 2, n_queries).astype(np.float32).astype(float), sizes)


def fitted(train, valid, **more):
    """Return a ranker trained on a pool, with a validation pool."""
    model = cb.CatBoostRanker(
        iterations=LAST + 1, depth=3, loss_function="QueryRMSE", thread_count=2, random_seed=0,
        custom_metric=["NDCG:top=3;hints=skip_train~false"], allow_writing_files=False, logging_level="Silent", **more,
    )  # fmt: skip
    return model.fit(train, eval_set=valid, use_best_model=False)
