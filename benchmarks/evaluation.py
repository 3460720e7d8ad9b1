"""Evaluation: one thread and all threads, cold and in a training, binding, many conventions."""

from __future__ import annotations

import os

import rankadapters as ra
from benchmarks import toolkits
from benchmarks.data import Data, training_rounds, unrelated
from benchmarks.timing import medians, report

CONV = ra.presets.lightgbm(10)


def evaluator(data: Data, convention: ra.Convention, n_threads: int) -> ra.Evaluator:
    return ra.Evaluator(data.labels, convention, group_sizes=data.sizes, n_threads=n_threads)


def against_toolkits(data: Data, rounds: int, n_threads: int) -> None:
    cold, warm = unrelated(data, rounds), training_rounds(data, rounds)
    bound, tied = (evaluator(data, c, n_threads) for c in (CONV, ra.presets.textbook(10)))
    worst = evaluator(data, ra.presets.catboost(10, type="Exp"), n_threads)
    sklearn, rows = toolkits.scikit_learn(data, 10, 200)
    found = medians(
        {
            "rankadapters": lambda i: bound.evaluate(cold[i]),
            "rankadapters, in a training": lambda i: bound.evaluate(warm[i]),
            "rankadapters, ties=average": lambda i: tied.evaluate(cold[i]),
            "rankadapters, ties=worst": lambda i: worst.evaluate(cold[i]),
            "LightGBM": toolkits.lightgbm(data, 10, n_threads),
            "XGBoost": toolkits.xgboost(data, 10, n_threads),
            "CatBoost": toolkits.catboost(data, 10, n_threads),
            "scikit-learn (scaled from some queries)": sklearn,
        },
        rounds,
    )
    found["scikit-learn (scaled from some queries)"] *= data.labels.size / rows
    floors = {"LightGBM": 4, "XGBoost": 5, "CatBoost": 12, "scikit-learn (scaled from some queries)": 200}
    report(f"NDCG@10, {data.labels.size:,} rows, {n_threads} thread(s)", found, "rankadapters", floors)
    for ours, floor in (("in a training", 7), ("ties=average", 2)):
        name = f"rankadapters, {ours}"
        report(f"  of these, {ours}", {name: found[name], "LightGBM": found["LightGBM"]}, name, {"LightGBM": floor})
    name = "rankadapters, ties=worst"
    report("  of these, ties=worst", {name: found[name], "CatBoost": found["CatBoost"]}, name)


def full_depth(data: Data, rounds: int, n_threads: int) -> None:
    bound, cold = evaluator(data, CONV.at(None), n_threads), unrelated(data, rounds)
    found = medians(
        {
            "rankadapters k=None": lambda i: bound.evaluate(cold[i]),
            "LightGBM ndcg@1000": toolkits.lightgbm(data, 1000, n_threads),
        },
        rounds,
    )
    report(f"All ranks, {n_threads} thread(s)", found, "rankadapters k=None", {"LightGBM ndcg@1000": 1})


def other_measures(data: Data, rounds: int, n_threads: int) -> None:
    cold = unrelated(data, rounds)
    ours = {
        "map@10": ra.presets.lightgbm.map(10),
        "auc": ra.presets.lightgbm.auc(),
        "rr@10": ra.presets.catboost.mrr(10),
    }
    bound = {name: evaluator(data, convention, n_threads) for name, convention in ours.items()}
    calls = {f"rankadapters {name}": (lambda i, b=b: b.evaluate(cold[i])) for name, b in bound.items()}
    named = {"map@10": "map", "auc": "auc"}
    theirs = {f"LightGBM {name}": toolkits.lightgbm(data, 10, n_threads, metric) for name, metric in named.items()}
    found = medians({**calls, **theirs}, rounds)
    for name in named:
        pair = {key: found[key] for key in (f"rankadapters {name}", f"LightGBM {name}")}
        report(f"{name}, {n_threads} thread(s)", pair, f"rankadapters {name}")
    report(f"rr@10, {n_threads} thread(s)", {"rankadapters rr@10": found["rankadapters rr@10"]}, "rankadapters rr@10")


def many(data: Data, rounds: int) -> None:
    queries = ra.Queries(data.labels, group_sizes=data.sizes)
    several = [c for k in (1, 3, 5, 10) for c in (CONV.at(k), ra.presets.yahoo(k))]
    panel, cold = ra.Panel(queries, several, n_threads=1), unrelated(data, rounds)
    dearest = ra.Panel(queries, [CONV], n_threads=1)
    found = medians(
        {
            f"{len(several)} conventions and cutoffs": lambda i: panel.evaluate(cold[i]),
            "the dearest alone": lambda i: dearest.evaluate(cold[i]),
        },
        rounds,
    )
    report("evaluate, several conventions, one thread, bound", found, "the dearest alone")
    sharing = medians(
        {
            "all of them, with binding": lambda i: ra.evaluate(queries, cold[i], several, n_threads=1),
            "the dearest alone, with binding": lambda i: ra.evaluate(queries, cold[i], [CONV], n_threads=1),
        },
        max(4, rounds // 3),
    )
    report("evaluate, several conventions, one thread, with binding", sharing, "the dearest alone, with binding")


def binding(data: Data, rounds: int) -> None:
    bound, qid = evaluator(data, CONV, 1), data.qid
    cold = unrelated(data, rounds)
    found = medians(
        {
            "one evaluation": lambda i: bound.evaluate(cold[i]),
            "binding by sizes": lambda _: evaluator(data, CONV, 1),
            "binding by qid": lambda _: ra.Evaluator(data.labels, CONV, qid=qid, n_threads=1),
            "binding, ties=worst": lambda _: evaluator(data, ra.presets.catboost(10), 1),
            "binding, k=None": lambda _: evaluator(data, CONV.at(None), 1),
        },
        rounds,
    )
    report("Binding, in evaluations (at most 10)", found, "one evaluation")


def run(data: Data, rounds: int) -> None:
    for n_threads in sorted({1, os.cpu_count() or 1}):
        against_toolkits(data, rounds, n_threads)
        full_depth(data, rounds, n_threads)
        other_measures(data, rounds, n_threads)
    many(data, rounds)
    binding(data, rounds)
