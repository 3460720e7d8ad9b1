"""Time every measure except NDCG against each program's own code for it, on one thread and on all threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import rankadapters as ra
from benchmarks import toolkits
from benchmarks.data import Data, first_queries, sparse, unrelated
from benchmarks.timing import clock_of, medians, report

FEW_QUERIES = 2000  # for slow programs; their time is scaled to all rows
MAX_PAIRS_PER_QUERY = 100

Call = Callable[[int], object]


class Rival(NamedTuple):
    """A program's measure: its name, the least ratio to our time, and a function that makes the call to time."""

    name: str
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


def ranked_measures() -> dict[str, list[Rival]]:
    """Return measures of the first ten ranks, for labels 0 and 1, which XGBoost's measures need."""
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


def area_measures() -> dict[str, list[Rival]]:
    """Return AUC over all rows, and AUC averaged over the queries."""
    loop = Rival(
        "loop over roc_auc_score (scaled)", 50, lambda d, _: toolkits.roc_auc_of_queries(d), "sklearn", scaled=True
    )
    return {
        "lightgbm.auc": [lightgbm("auc", 1), Rival("scikit-learn roc_auc_score", 2, roc_auc, needs="sklearn")],
        "catboost.query_auc": [catboost("QueryAUC", 4), loop],
    }


def loss_measures(pairs: np.ndarray) -> dict[str, list[Rival]]:
    return {
        "catboost.pair_logit": [catboost("PairLogit", 4, pairs)],
        "catboost.query_rmse": [catboost("QueryRMSE", 4)],
        "catboost.query_soft_max": [catboost("QuerySoftMax", 4)],
        "catboost.query_cross_entropy": [catboost("QueryCrossEntropy", 4)],
    }


def random_pairs(data: Data) -> np.ndarray:
    """Return random pairs of rows of a query; the row with the higher label comes first."""
    rng = np.random.default_rng(6)
    starts, n_pairs = np.cumsum(data.sizes) - data.sizes, np.minimum(data.sizes, MAX_PAIRS_PER_QUERY)
    first, size = np.repeat(starts, n_pairs), np.repeat(data.sizes, n_pairs)
    winner, loser = (first + rng.integers(0, size) for _ in range(2))
    pairs = np.column_stack([winner, loser])[data.labels[winner] > data.labels[loser]]
    return np.unique(pairs, axis=0)


def against(data: Data, text: str, rivals: list[Rival], rounds: int, n_threads: int) -> None:
    """Time a measure against every installed program that computes the same number."""
    pairs = tuple(random_pairs(data).T) if text == "catboost.pair_logit" else None
    evaluator = ra.Evaluator(data.labels, text, group_sizes=data.sizes, pairs=pairs, n_threads=n_threads)
    scores, few = unrelated(data, rounds), first_queries(data, FEW_QUERIES)
    present = [rival for rival in rivals if not rival.needs or toolkits.is_installed(rival.needs)]
    calls: dict[str, Call] = {text: lambda i: evaluator.evaluate(scores[i])}
    calls |= {rival.name: rival.make(few if rival.scaled else data, n_threads) for rival in present}
    seconds = medians(calls, rounds, clock_of(n_threads))
    for rival in present:
        if rival.scaled:
            seconds[rival.name] *= data.labels.size / few.labels.size
    title = f"{text}, {data.labels.size:,} rows, {n_threads} thread(s)"
    report(title, seconds, text, {rival.name: rival.floor for rival in present if rival.floor})


def run(data: Data, rounds: int) -> None:
    binary = sparse(data, share=0.2)
    for n_threads in sorted({1, os.cpu_count() or 1}):
        for text, rivals in (ranked_measures() | area_measures() | loss_measures(random_pairs(binary))).items():
            against(binary, text, rivals, rounds, n_threads)
