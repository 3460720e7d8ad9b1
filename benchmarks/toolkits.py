"""The toolkits' own measures of given scores, as calls without any training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.data import Data


def lightgbm(data: Data, k: int, n_threads: int, metric: str = "ndcg") -> Callable[[int], object]:
    import lightgbm as lgb

    params = {"objective": "lambdarank", "metric": metric, "eval_at": [k], "num_threads": n_threads, "verbosity": -1}
    features = (np.arange(data.labels.size) % 7 == 0).astype(float)[:, None]
    dataset = lgb.Dataset(features, data.labels, group=data.sizes, init_score=data.scores, params=params)
    booster = lgb.Booster(params, dataset)
    return lambda _: booster.eval_train()


def xgboost(data: Data, k: int, n_threads: int) -> Callable[[int], object]:
    import xgboost as xgb

    matrix = xgb.DMatrix(np.zeros((data.labels.size, 1)), data.labels, qid=data.qid, nthread=n_threads)
    matrix.set_base_margin(data.scores.astype(np.float32))
    params = {"objective": "rank:ndcg", "eval_metric": f"ndcg@{k}", "nthread": n_threads}
    booster = xgb.train(params, matrix, 0)
    return lambda _: booster.eval(matrix)


def catboost(data: Data, k: int, n_threads: int) -> Callable[[int], object]:
    from catboost.utils import eval_metric

    metric, qid = f"NDCG:top={k};type=Exp", data.qid
    return lambda _: eval_metric(data.labels, data.scores, metric, group_id=qid, thread_count=n_threads)


def scikit_learn(data: Data, k: int, n_queries: int) -> tuple[Callable[[int], object], int]:
    """Only some queries, since it takes one call each; with their number of rows."""
    from sklearn.metrics import ndcg_score

    ends = np.cumsum(data.sizes)
    rows = [slice(end - size, end) for end, size in zip(ends, data.sizes, strict=True) if size > 1][:n_queries]
    pairs = [(data.labels[None, r], data.scores[None, r]) for r in rows]
    return lambda _: [ndcg_score(y, s, k=k) for y, s in pairs], sum(y.size for y, _ in pairs)
