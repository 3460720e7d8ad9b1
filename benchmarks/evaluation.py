"""Time evaluation: one thread and all threads, random and slowly changing scores, binding, many conventions."""

from __future__ import annotations

import os

import rankadapters as ra
from benchmarks import toolkits
from benchmarks.data import Data, training_rounds, unrelated
from benchmarks.timing import medians, report
from rankadapters.core.ranking.compiled import kernels

CONV = ra.presets.lightgbm(10)


def evaluator(data: Data, convention: ra.Convention, n_threads: int) -> ra.Evaluator:
    return ra.Evaluator(data.labels, convention, group_sizes=data.sizes, n_threads=n_threads)


def against_toolkits(data: Data, rounds: int, n_threads: int) -> None:
    cold, warm = unrelated(data, rounds), training_rounds(data, rounds)
    no_ties, tied = (evaluator(data, c, n_threads) for c in (CONV, ra.presets.textbook(10)))
    worst = evaluator(data, ra.presets.catboost(10, type="Exp"), n_threads)
    sklearn, rows = toolkits.scikit_learn(data, 10, 200)
    seconds = medians(
        {
            "rankadapters": lambda i: no_ties.evaluate(cold[i]),
            "rankadapters, in a training": lambda i: no_ties.evaluate(warm[i]),
            "rankadapters, ties=average": lambda i: tied.evaluate(cold[i]),
            "rankadapters, ties=worst": lambda i: worst.evaluate(cold[i]),
            "LightGBM": toolkits.lightgbm(data, 10, n_threads),
            "XGBoost": toolkits.xgboost(data, 10, n_threads),
            "CatBoost": toolkits.catboost(data, 10, n_threads),
            "scikit-learn (scaled from some queries)": sklearn,
        },
        rounds,
    )
    seconds["scikit-learn (scaled from some queries)"] *= data.labels.size / rows
    floors = {"LightGBM": 4, "XGBoost": 5, "CatBoost": 12, "scikit-learn (scaled from some queries)": 200}
    report(f"NDCG@10, {data.labels.size:,} rows, {n_threads} thread(s)", seconds, "rankadapters", floors)
    for case, floor in (("in a training", 7), ("ties=average", 2)):
        name = f"rankadapters, {case}"
        report(f"  of these, {case}", {name: seconds[name], "LightGBM": seconds["LightGBM"]}, name, {"LightGBM": floor})
    name = "rankadapters, ties=worst"
    report("  of these, ties=worst", {name: seconds[name], "CatBoost": seconds["CatBoost"]}, name)


def full_depth(data: Data, rounds: int, n_threads: int) -> None:
    all_ranks, cold = evaluator(data, CONV.at(None), n_threads), unrelated(data, rounds)
    seconds = medians(
        {
            "rankadapters k=None": lambda i: all_ranks.evaluate(cold[i]),
            "LightGBM ndcg@1000": toolkits.lightgbm(data, 1000, n_threads),
        },
        rounds,
    )
    report(f"All ranks, {n_threads} thread(s)", seconds, "rankadapters k=None", {"LightGBM ndcg@1000": 1})


def other_measures(data: Data, rounds: int, n_threads: int) -> None:
    cold = unrelated(data, rounds)
    conventions = {
        "map@10": ra.presets.lightgbm.map(10),
        "auc": ra.presets.lightgbm.auc(),
        "rr@10": ra.presets.catboost.mrr(10),
    }
    evaluators = {name: evaluator(data, convention, n_threads) for name, convention in conventions.items()}
    calls = {f"rankadapters {name}": (lambda i, e=e: e.evaluate(cold[i])) for name, e in evaluators.items()}
    named = {"map@10": "map", "auc": "auc"}
    lightgbm = {f"LightGBM {name}": toolkits.lightgbm(data, 10, n_threads, metric) for name, metric in named.items()}
    seconds = medians({**calls, **lightgbm}, rounds)
    for name in named:
        pair = {key: seconds[key] for key in (f"rankadapters {name}", f"LightGBM {name}")}
        report(f"{name}, {n_threads} thread(s)", pair, f"rankadapters {name}")
    report(f"rr@10, {n_threads} thread(s)", {"rankadapters rr@10": seconds["rankadapters rr@10"]}, "rankadapters rr@10")


def in_numpy(data: Data, rounds: int, n_threads: int) -> None:
    """Time numpy alone on queries of 1 to 1,200 rows beside each other, as real sets have them."""
    top, all_ranks, tied = (evaluator(data, c, n_threads) for c in (CONV, CONV.at(None), ra.presets.textbook(None)))
    cold, rounds = unrelated(data, rounds), max(4, rounds // 2)
    equal = [scores.round(1) for scores in cold[:rounds]]
    with kernels("never"):
        seconds = medians(
            {
                "rankadapters": lambda i: top.evaluate(cold[i]),
                "rankadapters, all ranks": lambda i: all_ranks.evaluate(cold[i]),
                "rankadapters, all ranks, ties=average": lambda i: tied.evaluate(cold[i]),
                "rankadapters, all ranks, ties=average, many ties": lambda i: tied.evaluate(equal[i]),
                "LightGBM": toolkits.lightgbm(data, 10, n_threads),
            },
            rounds,
        )
    title = f"NDCG@10 in numpy, {data.labels.size:,} rows, {n_threads} thread(s)"
    report(title, seconds, "rankadapters", {"LightGBM": 2})


def many(data: Data, rounds: int) -> None:
    queries = ra.Queries(data.labels, group_sizes=data.sizes)
    specs = [c for k in (1, 3, 5, 10) for c in (CONV.at(k), ra.presets.yahoo(k))]
    evaluator, cold = ra.Evaluator(queries, specs, n_threads=1), unrelated(data, rounds)
    slowest = ra.Evaluator(queries, [CONV], n_threads=1)
    seconds = medians(
        {
            f"{len(specs)} conventions and cutoffs": lambda i: evaluator.evaluate(cold[i]),
            "the dearest alone": lambda i: slowest.evaluate(cold[i]),
        },
        rounds,
    )
    report("evaluate, several conventions, one thread, bound", seconds, "the dearest alone")
    sharing = medians(
        {
            "all of them, with binding": lambda i: ra.evaluate(queries, cold[i], specs, n_threads=1),
            "the dearest alone, with binding": lambda i: ra.evaluate(queries, cold[i], [CONV], n_threads=1),
        },
        max(4, rounds // 3),
    )
    report("evaluate, several conventions, one thread, with binding", sharing, "the dearest alone, with binding")


def binding(data: Data, rounds: int) -> None:
    bound_evaluator, qid = evaluator(data, CONV, 1), data.qid
    cold = unrelated(data, rounds)
    seconds = medians(
        {
            "one evaluation": lambda i: bound_evaluator.evaluate(cold[i]),
            "binding by sizes": lambda _: evaluator(data, CONV, 1),
            "binding by qid": lambda _: ra.Evaluator(data.labels, CONV, qid=qid, n_threads=1),
            "binding, ties=worst": lambda _: evaluator(data, ra.presets.catboost(10), 1),
            "binding, k=None": lambda _: evaluator(data, CONV.at(None), 1),
        },
        rounds,
    )
    report("Binding, in evaluations (at most 10)", seconds, "one evaluation")


def run(data: Data, rounds: int) -> None:
    for n_threads in sorted({1, 2, os.cpu_count() or 1}):
        against_toolkits(data, rounds, n_threads)
        full_depth(data, rounds, n_threads)
        other_measures(data, rounds, n_threads)
        in_numpy(data, rounds, n_threads)
    many(data, rounds)
    binding(data, rounds)
