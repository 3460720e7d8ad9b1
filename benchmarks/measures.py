"""Every other measure against each program's own code for the same number, one thread and all threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import rankadapters as ra
from benchmarks import toolkits
from benchmarks.data import Data, first_queries, sparse, unrelated
from benchmarks.timing import clock_of, medians, report

SOME = 2000  # queries for those that take long; their time is scaled to all rows
PAIRS_PER_QUERY = 100  # at most

Call = Callable[[int], object]


class Rival(NamedTuple):
    """Whose number, how many times as long as ours it takes at least, and who computes it."""

    whose: str
    floor: float | None
    make: Callable[[Data, int], Call]
    needs: str = ""
    scaled: bool = False


def catboost(metric: str, floor: float, pairs: np.ndarray | None = None) -> Rival:
    return Rival(f"CatBoost {metric}", floor, lambda d, n: toolkits.catboost_metric(d, metric, n, pairs))


def lightgbm(metric: str, floor: float) -> Rival:
    return Rival(f"LightGBM {metric}", floor, lambda d, n: toolkits.lightgbm(d, 10, n, metric))


def xgboost(metric: str, floor: float) -> Rival:
    return Rival(f"XGBoost {metric}@10", floor, lambda d, n: toolkits.xgboost(d, 10, n, metric))


def ranx(metric: str) -> list[Rival]:
    scaled = lambda d, n: toolkits.ranx(d, metric, n)  # noqa: E731
    lists = lambda d, n: toolkits.ranx_of_sorted_lists(d, metric, n)  # noqa: E731
    return [
        Rival(f"ranx {metric} (scaled)", 20, scaled, needs="ranx", scaled=True),
        Rival(f"ranx {metric}, lists already sorted", None, lists, needs="ranx"),
    ]


def pytrec_eval(metric: str) -> Rival:
    make = lambda d, _: toolkits.pytrec_eval(d, metric)  # noqa: E731
    return Rival(f"pytrec_eval {metric} (scaled)", 20, make, needs="pytrec_eval", scaled=True)


def roc_auc(data: Data, _: int) -> Call:
    from sklearn.metrics import roc_auc_score

    return lambda _: roc_auc_score(data.labels, data.scores)


def of_ranks() -> dict[str, list[Rival]]:
    """Measures of the first ten ranks, on labels 0 and 1, which XGBoost's need."""
    return {
        "lightgbm.map@10": [
            catboost("MAP:top=10", 8), lightgbm("map", 4), xgboost("map", 4), *ranx("map@10"),
            pytrec_eval("map_cut.10"),
        ],
        "catboost.mrr@10": [catboost("MRR:top=10", 8), *ranx("mrr@10"), pytrec_eval("recip_rank")],
        "catboost.err@10": [catboost("ERR:top=10", 8)],
        "catboost.pfound@10": [catboost("PFound:top=10", 8)],
        "xgboost.pre@10": [
            catboost("PrecisionAt:top=10", 8), xgboost("pre", 4), *ranx("precision@10"), pytrec_eval("P.10"),
        ],
    }  # fmt: skip


def of_areas() -> dict[str, list[Rival]]:
    """AUC over all rows, and the mean over the queries."""
    loop = Rival(
        "loop over roc_auc_score (scaled)", 50, lambda d, _: toolkits.roc_auc_of_queries(d), "sklearn", scaled=True
    )
    return {
        "lightgbm.auc": [lightgbm("auc", 1), Rival("scikit-learn roc_auc_score", 2, roc_auc, needs="sklearn")],
        "catboost.query_auc": [catboost("QueryAUC", 4), loop],
    }


def of_losses(pairs: np.ndarray) -> dict[str, list[Rival]]:
    return {
        "catboost.pair_logit": [catboost("PairLogit", 4, pairs)],
        "catboost.query_rmse": [catboost("QueryRMSE", 4)],
        "catboost.query_soft_max": [catboost("QuerySoftMax", 4)],
        "catboost.query_cross_entropy": [catboost("QueryCrossEntropy", 4)],
    }


def some_pairs(data: Data) -> np.ndarray:
    """Rows of a query drawn two by two, of which the one with the higher label wins."""
    rng = np.random.default_rng(6)
    starts, several = np.cumsum(data.sizes) - data.sizes, np.minimum(data.sizes, PAIRS_PER_QUERY)
    first, size = np.repeat(starts, several), np.repeat(data.sizes, several)
    one, other = (first + rng.integers(0, size) for _ in range(2))
    drawn = np.column_stack([one, other])[data.labels[one] > data.labels[other]]
    return np.unique(drawn, axis=0)


def against(data: Data, text: str, rivals: list[Rival], rounds: int, n_threads: int) -> None:
    """Compare a measure with everyone who computes the same number."""
    pairs = tuple(some_pairs(data).T) if text == "catboost.pair_logit" else None
    bound = ra.Evaluator(data.labels, text, group_sizes=data.sizes, pairs=pairs, n_threads=n_threads)
    scores, some = unrelated(data, rounds), first_queries(data, SOME)
    present = [rival for rival in rivals if not rival.needs or toolkits.is_there(rival.needs)]
    calls: dict[str, Call] = {text: lambda i: bound.evaluate(scores[i])}
    calls |= {rival.whose: rival.make(some if rival.scaled else data, n_threads) for rival in present}
    found = medians(calls, rounds, clock_of(n_threads))
    for rival in present:
        if rival.scaled:
            found[rival.whose] *= data.labels.size / some.labels.size
    title = f"{text}, {data.labels.size:,} rows, {n_threads} thread(s)"
    report(title, found, text, {rival.whose: rival.floor for rival in present if rival.floor})


def run(data: Data, rounds: int) -> None:
    few = sparse(data, share=0.2)
    for n_threads in sorted({1, os.cpu_count() or 1}):
        for text, rivals in (of_ranks() | of_areas() | of_losses(some_pairs(few))).items():
            against(few, text, rivals, rounds, n_threads)
