"""Reports on small data, whose texts and numbers of nine digits are recorded.

A report makes many small decisions: the order and the number of its lines, the words for one and for many, the limits
from which it warns, the draws of a seed. `python -m tests.recorded --write` adds new reports.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

import rankadapters as ra
from rankadapters.compare import Results, front, leave_one_out, winning_numbers
from tests.helpers.rankings import small_queries

MOST_LINES, MOST_CHARACTERS = 150, 500

Maker = Callable[[], Any]


@cache
def makers() -> dict[str, Maker]:
    """Return the call that makes each report, by the name of the report."""
    topics = (
        profiles, orders, identifications, probes, explanations, comparisons, segments, predictions, conformances,
        parities,
    )  # fmt: skip
    return {name: maker for topic in topics for name, maker in topic()}


def recorded(maker: Maker) -> list[str]:
    """Return the first lines of the text of a report and of its export."""
    report = maker()
    exported = json.dumps(rounded(report.to_dict()), default=str, indent=1) if hasattr(report, "to_dict") else ""
    lines = [*str(report).splitlines(), *exported.splitlines()]
    more = [f"and {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    return [line[:MOST_CHARACTERS] for line in lines[:MOST_LINES]] + more


def rounded(value: Any) -> Any:
    """Return nested values with floats of nine digits: the last digits may depend on the machine."""
    if isinstance(value, dict):
        return {str(key): rounded(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return " ".join(map(str, map(rounded, value))) if _is_flat(value) else [rounded(part) for part in value]
    return f"{value:.9g}" if isinstance(value, float) else value


def _is_flat(values: Any) -> bool:
    return all(value is None or isinstance(value, (bool, int, float, str)) for value in values)


@cache
def graded(n_queries: int = 14, seed: int = 3) -> tuple[ra.Queries, np.ndarray]:
    """Return queries with docids, and scores with ties."""
    return small_queries(seed, n_queries, docids=True)


def models(queries: ra.Queries, n_models: int = 3) -> dict[str, np.ndarray]:
    """Return the scores of models, from a good first one to a random last one."""
    rng = np.random.default_rng(5)
    n = queries.labels.size
    return {
        f"m{number}": np.round(queries.labels / (1 + number) + rng.standard_normal(n), 1) for number in range(n_models)
    }


def profiles() -> Iterator[tuple[str, Maker]]:
    """Yield profiles of graded and binary labels, with and without scores, for several cutoffs and measures."""
    queries, scores = graded()
    binary, large = queries.with_labels((queries.labels > 0).astype(float)), queries.with_labels(queries.labels * 16)
    cases = ("graded", queries, 3), ("graded", queries, [1, 5]), ("binary", binary, None), ("large", large, 3)
    for name, data, k in cases:
        yield f"profile of {name} labels at {k}", partial(ra.audit.profile, data, k=k)
        yield f"profile of {name} labels and scores at {k}", partial(ra.audit.profile, data, k=k, scores=scores)
    for measure in ("ap", "err", "rr", "precision"):
        yield f"profile for {measure}", partial(ra.audit.profile, binary, k=5, scores=scores, measure=measure)


def orders() -> Iterator[tuple[str, Maker]]:
    """Yield orders of models under conventions that disagree, and under a loss."""
    queries, _ = graded(24)
    for n_models in (2, 4):
        for names in (["textbook@3"], ["textbook@3", "xgboost@5", "letor4@1"], ["catboost.query_rmse", "textbook@3"]):
            yield (
                f"order of {n_models} models under {', '.join(names)}",
                partial(ra.audit.order, queries, models(queries, n_models), names, n_resamples=199, random_state=1),
            )


def identifications() -> Iterator[tuple[str, Maker]]:
    """Yield identifications of numbers: of presets, of one and several models, and of no convention."""
    queries, scores = graded()
    for name in ("sklearn", "lightgbm", "xgboost", "catboost", "letor4", "ranklib", "trec_eval_9", "textbook"):
        values = {k: f"{ra.evaluate(queries, scores, f'{name}@{k}').value:.4f}" for k in (3, 10)}
        yield f"identify {name}", partial(ra.audit.identify, queries, scores, value=values[3], k=3)
        yield f"identify {name} at two cutoffs", partial(ra.audit.identify, queries, scores, value=values)
        wrong = {3: values[3], 10: f"{float(values[10]) + 0.0123:.4f}"}
        yield f"identify {name} with a wrong number", partial(ra.audit.identify, queries, scores, value=wrong)
    table = {
        model: {k: f"{ra.evaluate(queries, numbers, f'xgboost@{k}').value:.3f}" for k in (1, 5)}
        for model, numbers in models(queries).items()
    }
    yield "identify a table", partial(ra.audit.identify, queries, models(queries), value=table)
    for value in ("0.5", "0.91", "0.4382"):
        yield f"identify {value}", partial(ra.audit.identify, queries, scores, value=value, k=5)
    yield "identify 0.91 at any cutoff", partial(ra.audit.identify, queries, scores, value="0.91")
    binary = queries.with_labels((queries.labels > 0).astype(float))
    for measure in ("ap", "rr", "precision", "recall", "err"):
        value = f"{ra.evaluate(binary, scores, ra.presets.make(ra.presets.names(measure)[0], 5)).value:.3f}"
        yield (
            f"identify {measure}",
            partial(ra.audit.identify, binary, scores, value=value, k=5, measure=measure),
        )


def ndcg(labels: Any, scores: Any, *, k: int, gain: Any, last: bool, empty: float, digits: int | None) -> float:
    """Return the NDCG of one query; ties keep the order of the rows, or reverse it if `last`."""
    order = sorted(range(len(labels)), key=lambda row: (-scores[row], -row if last else row))
    discounts = [1 / math.log2(rank + 2) for rank in range(min(k, len(labels)))]
    best = sum(g * d for g, d in zip(sorted(map(gain, labels), reverse=True), discounts, strict=False))
    value = sum(gain(labels[row]) * d for row, d in zip(order, discounts, strict=False)) / best if best else empty
    return round(value, digits) if digits else value


def probes() -> Iterator[tuple[str, Maker]]:
    """Yield probes of functions of one query: right ones, one that rounds, wrong ones, one that raises."""
    exp, linear = (lambda label: 2.0**label - 1), float
    functions = {
        "exponential gain": partial(ndcg, gain=exp, last=False, empty=0.0, digits=None),
        "linear gain, last row first": partial(ndcg, gain=linear, last=True, empty=1.0, digits=None),
        "rounded": partial(ndcg, gain=linear, last=False, empty=1.0, digits=4),
        "another gain": partial(
            ndcg, gain=lambda label: np.maximum(label, 0) ** 1.5, last=False, empty=0.0, digits=None
        ),
        "another value of empty queries": partial(ndcg, gain=exp, last=False, empty=0.25, digits=None),
    }
    for name, function in functions.items():
        yield f"probe {name}", partial(ra.audit.probe, partial(function, k=3), takes="query", k=3)

    def raises(labels: Any, scores: Any) -> float:
        if len(labels) < 2 or not any(labels):
            raise ValueError("too few")
        return ndcg(labels, scores, k=3, gain=exp, last=False, empty=0.0, digits=None)

    yield "probe one that refuses", partial(ra.audit.probe, raises, takes="query", k=3)


def explanations() -> Iterator[tuple[str, Maker]]:
    """Yield explanations of the gap between conventions that differ in one or more fields, or in none."""
    queries, scores = graded()
    pairs = (
        ("sklearn@5", "lightgbm@5"), ("xgboost@3", "letor4@3"), ("textbook@3", "textbook@10"), ("ranklib@5",) * 2,
    )  # fmt: skip
    for a, b in pairs:
        for top in (1, 4):
            yield f"explain {a} and {b}, {top}", partial(ra.audit.explain, queries, scores, a, b, top=top)


def comparisons() -> Iterator[tuple[str, Maker]]:
    """Yield comparisons of methods over data sets."""
    rng = np.random.default_rng(2)
    cells = {
        (f"m{method}", f"D{dataset}", measure): round(0.3 + 0.05 * method + rng.random() / 3, 2)
        for method in range(5)
        for dataset in range(4)
        for measure in ("MAP", "NDCG@5")
        if rng.random() < 0.8
    }
    results = Results(cells, higher_is_better=True)
    for by in ("measure", "dataset"):
        yield f"winning numbers by {by}", partial(winning_numbers, results, by=by)
    for strict in (False, True):
        for against in ("iwn", "n_datasets"):
            yield (
                f"front against {against}, strict {strict}",
                lambda s=strict, a=against: front(winning_numbers(results), strict=s, against=a),
            )
    for over in ("dataset", "measure"):
        yield f"leave one out over {over}", partial(leave_one_out, results, over=over)


def segments() -> Iterator[tuple[str, Maker]]:
    """Yield scores of one segment and of several."""
    queries, scores = graded()
    for n in (1, 3):
        by = {name: f"s{number % n}" for number, name in enumerate(queries.query_ids)}
        yield f"{n} segments", partial(ra.evaluate, queries, scores, "textbook@3", by=by)


def predictions() -> Iterator[tuple[str, Maker]]:
    """Yield predictions of learners."""
    train, _ = ra.datasets.mq2008_like(n_train_queries=24, n_test_queries=1)
    X, y, qid = train.X[:, :5], train.labels, train.qid
    learners = {
        "AdaRank": ra.learners.AdaRank("textbook@5", max_iter=20),
        "AdaRank, variant": ra.learners.AdaRank("textbook@5", max_iter=20, variant="ranklib"),
        "CoordinateAscent": ra.learners.CoordinateAscent("textbook@5", max_iter=2, n_restarts=2, random_state=1),
        "RankBoost": ra.learners.RankBoost(max_iter=12),
        "RankBoost, RankLib": ra.learners.RankBoost(max_iter=12, variant="ranklib"),
        "RankSVM": ra.learners.RankSVM(C=0.5, max_pairs=200),
    }
    for name, learner in learners.items():
        yield f"predictions of {name}", partial(_predictions, learner, X, y, qid)


def _predictions(learner: Any, X: Any, y: Any, qid: Any) -> list[str]:
    return [f"{value:.6g}" for value in learner.fit(X, y, qid=qid).predict(X[:20])]


def conformances() -> Iterator[tuple[str, Maker]]:
    """Yield checks of a function of the convention and of one that differs from it."""
    for name, empty in (("another value of empty queries", 0.5), ("the same convention", 0.0)):
        function = partial(ndcg, k=3, gain=lambda label: 2.0**label - 1, last=False, empty=empty, digits=None)
        yield f"conformance: {name}", partial(ra.conformance.check, function, "ranklib@3", takes="query")


def parities() -> Iterator[tuple[str, Maker]]:
    """Yield checks of numbers that differ from ours by a known rule, or by chance."""
    queries, scores = graded()
    our_value = ra.evaluate(queries, scores, "ranklib@5").value
    tool_values = {name: ra.evaluate(queries, scores, f"{name}@5").value for name in ("letor4", "xgboost", "sklearn")}
    n = len(queries.query_ids)
    numbers = {
        **{f"of {name}": value for name, value in tool_values.items()},
        **{f"of {name}, rounded": round(value, 4) for name, value in tool_values.items()},
        "at another cutoff": ra.evaluate(queries, scores, "ranklib@10").value,
        "negative": -our_value,
        "of one query more": our_value * n / (n + 1),
        "in percent": 100 * our_value,
        "rounded": round(our_value, 3),
        "by chance": our_value + 0.01234567,
        "of other labels": ra.evaluate(queries.with_labels(1.0 * (queries.labels > 1)), scores, "ranklib@5").value,
    }
    for name, value in numbers.items():
        yield f"a number {name}", partial(ra.parity.check_value, queries, scores, "ranklib@5", value=value)
