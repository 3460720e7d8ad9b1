"""Time more than one measure of one ranking, and averaged ties against ties in input order."""

from __future__ import annotations

import rankadapters as ra
from benchmarks.data import Data, unrelated
from benchmarks.timing import clock_of, medians, report

ALL_AT_ONCE, AVERAGED = 1.6, 2.5  # largest ratios: all measures to the slowest alone; ties=average to ties=input

RANKED = {"precision": "float64", "short": "pad", "missing": "error", "unjudged": "error"}
CASCADE = {"gain": "linear", "scale": 4, "average": "uniform", **RANKED}
BINARY = {"relevant": "above_0.5", "retrieve": "all", "empty": 0, "average": "uniform", **RANKED}
RAISED = {"gain": "exp2", "discount": "log2", "ideal": "cutoff", "empty": 1, "average": "uniform", **RANKED}


def measures(ties: str) -> dict[str, ra.Convention]:
    """Return measures of the first ten ranks under one handling of ties."""
    ranked = {"k": 10, "ties": ties}
    return {
        "NDCG": ra.NDCG(**ranked, **RAISED),
        "AP": ra.AP(**ranked, divisor="relevant", pool="queries", **BINARY),
        "RR": ra.RR(**ranked, **BINARY),
        "P": ra.Precision(**ranked, divisor="k", **BINARY),
        "ERR": ra.ERR(**ranked, discount="reciprocal", **CASCADE),
        "PFound": ra.ERR(**ranked, discount="power_0.85", **CASCADE),
        "Recall": ra.Recall(**ranked, **BINARY),
        "Success": ra.Success(**ranked, **BINARY),
        "RBP": ra.RBP(**ranked, gain="from_1", persistence=0.8, average="uniform", **RANKED),
    }


def together(data: Data, rounds: int, ties: str) -> None:
    """Time five measures together, and each alone."""
    queries, scores = ra.Queries(data.labels, group_sizes=data.sizes), unrelated(data, rounds)
    five = {name: value for name, value in measures(ties).items() if name in {"NDCG", "AP", "RR", "P", "ERR"}}
    evaluators = {f"{name}@10": ra.Evaluator(queries, [value], n_threads=1) for name, value in five.items()}
    evaluators["all five"] = ra.Evaluator(queries, list(five.values()), n_threads=1)
    calls = {
        name: (lambda i, evaluator=evaluator: evaluator.evaluate(scores[i])) for name, evaluator in evaluators.items()
    }
    seconds = medians(calls, rounds, clock_of(1))
    slowest = max(list(evaluators)[:-1], key=seconds.__getitem__)
    report(f"Five measures of one ranking, ties={ties}, one thread", seconds, slowest, most={"all five": ALL_AT_ONCE})


def averaged(data: Data, rounds: int, decimals: int | None) -> None:
    """Time averaged ties against ties in input order, on scores with or without ties."""
    queries, scores = ra.Queries(data.labels, group_sizes=data.sizes), unrelated(data, rounds)
    if decimals is not None:
        scores = [round_scores.round(decimals) for round_scores in scores]
    of_input, of_average = measures("input"), measures("average")
    for name in of_input:
        evaluators = {
            f"{name}@10, ties={c.ties}": ra.Evaluator(queries, [c], n_threads=1)
            for c in (of_input[name], of_average[name])
        }
        calls = {
            text: (lambda i, evaluator=evaluator: evaluator.evaluate(scores[i]))
            for text, evaluator in evaluators.items()
        }
        seconds = medians(calls, rounds, clock_of(1))
        with_input, with_average = evaluators
        scores_text = "scores without ties" if decimals is None else f"scores of {decimals} decimal(s)"
        report(f"{name}@10, {scores_text}, one thread", seconds, with_input, most={with_average: AVERAGED})


def run(data: Data, rounds: int) -> None:
    for ties in ("input", "worst"):
        together(data, rounds, ties)
    for decimals in (None, 1):
        averaged(data, rounds, decimals)
