"""Calls that compute the toolkits' own measures of scores, without any training."""

from __future__ import annotations

import importlib.util
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


def xgboost(data: Data, k: int, n_threads: int, metric: str = "ndcg") -> Callable[[int], object]:
    import xgboost as xgb

    matrix = xgb.DMatrix(np.zeros((data.labels.size, 1)), data.labels, qid=data.qid, nthread=n_threads)
    matrix.set_base_margin(data.scores.astype(np.float32))
    params = {"objective": "rank:ndcg", "eval_metric": f"{metric}@{k}", "nthread": n_threads}
    booster = xgb.train(params, matrix, 0)
    return lambda _: booster.eval(matrix)


def catboost(data: Data, k: int, n_threads: int) -> Callable[[int], object]:
    return catboost_metric(data, f"NDCG:top={k};type=Exp", n_threads)


def catboost_metric(
    data: Data, metric: str, n_threads: int, pairs: np.ndarray | None = None
) -> Callable[[int], object]:
    from catboost.utils import eval_metric

    arguments = {"group_id": data.qid, "pairs": pairs, "thread_count": n_threads}
    return lambda _: eval_metric(data.labels, data.scores, metric, **arguments)


def ranx(data: Data, metric: str, n_threads: int) -> Callable[[int], object]:
    """Return a call of ranx on its own Qrels and Run."""
    from ranx import Qrels, Run, evaluate

    judged, retrieved = map(dict, _dictionaries(data))
    qrels, run = Qrels(judged), Run(retrieved)
    return lambda _: evaluate(qrels, run, metric, threads=n_threads)


def ranx_of_sorted_lists(data: Data, metric: str, n_threads: int) -> Callable[[int], object]:
    """Return a call of ranx on typed lists already sorted by score, which leaves it little work."""
    from numba.typed import List
    from ranx import evaluate

    judged, retrieved = List(), List()
    for rows in _slices(data.sizes):
        documents = np.arange(float(rows.stop - rows.start))
        judged.append(np.column_stack([documents, data.labels[rows]]))
        order = np.argsort(-data.scores[rows], kind="stable")
        retrieved.append(np.column_stack([documents, data.scores[rows]])[order])
    return lambda _: evaluate(judged, retrieved, metric, threads=n_threads)


def pytrec_eval(data: Data, metric: str) -> Callable[[int], object]:
    """Return a call of pytrec_eval on its own dictionaries."""
    from pytrec_eval import RelevanceEvaluator

    judged, retrieved = map(dict, _dictionaries(data))
    evaluator = RelevanceEvaluator(judged, {metric})
    return lambda _: evaluator.evaluate(retrieved)


def _dictionaries(data: Data) -> tuple[list[tuple[str, dict[str, int]]], list[tuple[str, dict[str, float]]]]:
    """Return the labels and the scores of each query, by document name."""
    judged, retrieved = [], []
    for number, rows in enumerate(_slices(data.sizes)):
        documents = [f"d{row}" for row in range(rows.start, rows.stop)]
        labels, scores = data.labels[rows].astype(int).tolist(), data.scores[rows].tolist()
        judged.append((f"q{number}", dict(zip(documents, labels, strict=True))))
        retrieved.append((f"q{number}", dict(zip(documents, scores, strict=True))))
    return judged, retrieved


def roc_auc_of_queries(data: Data) -> Callable[[int], object]:
    """Return a call of roc_auc_score for each query that has both relevant and irrelevant rows."""
    from sklearn.metrics import roc_auc_score

    pairs = [(data.labels[rows], data.scores[rows]) for rows in _slices(data.sizes)]
    pairs = [(labels, scores) for labels, scores in pairs if 0 < labels.sum() < labels.size]
    return lambda _: [roc_auc_score(labels, scores) for labels, scores in pairs]


def is_installed(package: str) -> bool:
    """Return whether a package is installed; if not, print a hint."""
    installed = importlib.util.find_spec(package) is not None
    if not installed:
        print(f"\n{package} is not installed: pip install {package.replace('_', '-')}")
    return installed


def _slices(sizes: np.ndarray) -> list[slice]:
    ends = np.cumsum(sizes)
    return [slice(end - size, end) for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)]


def scikit_learn(data: Data, k: int, n_queries: int) -> tuple[Callable[[int], object], int]:
    """Return calls of ndcg_score for the first queries only, because they are slow, and the number of their rows."""
    from sklearn.metrics import ndcg_score

    ends = np.cumsum(data.sizes)
    rows = [slice(end - size, end) for end, size in zip(ends, data.sizes, strict=True) if size > 1][:n_queries]
    pairs = [(data.labels[None, r], data.scores[None, r]) for r in rows]
    return lambda _: [ndcg_score(y, s, k=k) for y, s in pairs], sum(y.size for y, _ in pairs)
