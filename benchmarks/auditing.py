"""Audits: the gap between two conventions, the convention behind a number, who wins, a page of all of it."""

from __future__ import annotations

import time

import numpy as np

import rankadapters as ra
from benchmarks.data import Data, make
from benchmarks.timing import medians
from benchmarks.timing import report as report_ratios
from rankadapters.statistics.paired_tests import paired_tests

EXPLAIN_SECONDS, IDENTIFY_SECONDS, ORDER_SECONDS, PAGE_SECONDS = 6, 3, 5, 4
MQ2008_SECONDS, MQ2008_QUERIES = 1.5, 784
QUERIES, LENGTH = 4000, 100  # 400,000 rows
CONVENTIONS = ("yahoo@10", "ranklib@10", "catboost@10")
N_TESTS, N_RESAMPLES = 30, 9999
SCIPYS = 15  # times as long, at least


def explained(data: Data) -> None:
    a = ra.presets.yahoo(10)
    b = a.replace(gain="linear", discount="jk2", ties="average", precision="float32", short="zero", empty=0)
    queries = ra.Queries(data.labels, group_sizes=data.sizes)
    seconds, found = best_of(3, lambda: ra.audit.explain(queries, data.scores, a, b))
    report(f"explain, {len(found.contributions)} fields, {data.labels.size:,} rows", seconds, EXPLAIN_SECONDS)


def identified(sizes: np.ndarray, what: str, limit: float) -> None:
    rng = np.random.default_rng(0)
    n = int(sizes.sum())
    labels, scores = rng.choice(5, n, p=[0.5, 0.3, 0.13, 0.05, 0.02]), rng.normal(size=n).round(1)
    queries = ra.Queries(labels, group_sizes=sizes, docid=[f"d{row}" for row in range(n)])
    wanted = ra.presets.yahoo(10).replace(ties="worst", empty=0.5)
    value = ra.evaluate(queries, scores, wanted).value
    for decimals in (4, 6):
        number = f"{value:.{decimals}f}"
        seconds, found = best_of(2, lambda number=number: ra.audit.identify(queries, scores, value=number))
        if not any(match.covers(wanted) for match in found):
            raise SystemExit(f"{wanted} was not found behind {number}")
        name = f"identify, k unknown, {n:,} rows in {what}, {decimals} decimals, {len(found)} matches"
        report(name, seconds, limit)


def tested() -> None:
    """All tests of a report by one matrix product, and one of them by scipy."""
    from scipy import stats

    shares = np.random.default_rng(0).random((2 * N_TESTS, QUERIES)) / QUERIES
    pairs = list(zip(shares[::2], shares[1::2], strict=True))
    how = {"n_resamples": N_RESAMPLES, "batch": 1000, "vectorized": True}

    def scipys(_: int) -> None:
        first, second = pairs[0]
        stats.permutation_test((first, second), _difference, permutation_type="samples", **how)
        stats.bootstrap((first - second,), np.sum, method="percentile", **how)

    ours, theirs = f"{N_TESTS} tests and intervals", "scipy, one of them times their number"
    calls = {ours: lambda _: paired_tests(pairs, n_resamples=N_RESAMPLES, confidence=0.95, seed=0), theirs: scipys}
    found = medians(calls, 3)
    found[theirs] *= N_TESTS
    report_ratios(f"{N_RESAMPLES:,} resamples of {QUERIES:,} queries", found, ours, {theirs: SCIPYS})


def _difference(first: np.ndarray, second: np.ndarray, axis: int) -> np.ndarray:
    return (first - second).sum(axis=axis)


def compared() -> None:
    rng = np.random.default_rng(1)
    n = QUERIES * LENGTH
    labels = rng.choice(5, n, p=[0.5, 0.3, 0.13, 0.05, 0.02])
    queries = ra.Queries(labels, group_sizes=np.full(QUERIES, LENGTH))
    models = {f"model {i}": labels * (0.2 + 0.02 * i) + rng.normal(size=n) for i in range(5)}
    seconds, _ = best_of(2, lambda: ra.audit.order(queries, models, CONVENTIONS))
    report(f"order, {len(models)} models under {len(CONVENTIONS)} conventions, {n:,} rows", seconds, ORDER_SECONDS)
    two = dict(list(models.items())[:2])
    seconds, _ = best_of(2, lambda: ra.audit.page(queries, two, CONVENTIONS[:2]))
    report(f"page, 2 models under 2 conventions, {n:,} rows", seconds, PAGE_SECONDS)


def best_of(rounds: int, call):
    """Shortest time of some calls after one that is not counted, since it may compile; and what the last gave."""
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        found = call()
        times.append(time.perf_counter() - start)
    return min(times), found


def report(name: str, seconds: float, limit: float) -> None:
    print(f"  {name:84s} {seconds:7.2f} s   at most {limit} s{'' if seconds <= limit else '  MISSED'}")


def run(data: Data, _: int) -> None:
    print("\nAudits")
    explained(data)
    identified(make(QUERIES).sizes, "queries as above", IDENTIFY_SECONDS)
    identified(np.full(QUERIES * 10, 10), "queries of 10", IDENTIFY_SECONDS)
    _, like = ra.datasets.mq2008_like(random_state=0, n_test_queries=MQ2008_QUERIES)
    identified(np.unique(like.qid, return_counts=True)[1], "queries as MQ2008's", MQ2008_SECONDS)
    compared()
    tested()
