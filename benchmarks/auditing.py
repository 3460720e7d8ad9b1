"""Time audits: explain a gap, identify a convention from a number, order models, write a page."""

from __future__ import annotations

import time

import numpy as np

import rankadapters as ra
from benchmarks.data import Data, make
from benchmarks.timing import medians
from benchmarks.timing import report as report_ratios
from rankadapters.statistics.significance import paired_tests

EXPLAIN_SECONDS, IDENTIFY_SECONDS, ORDER_SECONDS, PAGE_SECONDS = 6, 3, 5, 4
MQ2008_SECONDS, MQ2008_QUERIES = 1.5, 784
QUERIES, LENGTH = 4000, 100  # 400,000 rows
CONVENTIONS = ("yahoo@10", "ranklib@10", "catboost@10")
N_TESTS, N_RESAMPLES = 30, 9999
SCIPY_RATIO = 15  # least ratio of scipy's time to ours


def explained(data: Data) -> None:
    a = ra.presets.yahoo(10)
    b = a.replace(gain="linear", discount="jk2", ties="average", precision="float32", short="zero", empty=0)
    queries = ra.Queries(data.labels, group_sizes=data.sizes)
    seconds, explanation = best_of(3, lambda: ra.audit.explain(queries, data.scores, a, b))
    report(f"explain, {len(explanation.contributions)} fields, {data.labels.size:,} rows", seconds, EXPLAIN_SECONDS)


def identified(sizes: np.ndarray, size_text: str, limit: float) -> None:
    rng = np.random.default_rng(0)
    n = int(sizes.sum())
    labels, scores = rng.choice(5, n, p=[0.5, 0.3, 0.13, 0.05, 0.02]), rng.normal(size=n).round(1)
    queries = ra.Queries(labels, group_sizes=sizes, docid=[f"d{row}" for row in range(n)])
    convention = ra.presets.yahoo(10).replace(ties="worst", empty=0.5)
    value = ra.evaluate(queries, scores, convention).value
    for decimals in (4, 6):
        number = f"{value:.{decimals}f}"
        seconds, matches = best_of(2, lambda number=number: ra.audit.identify(queries, scores, value=number))
        if not any(match.covers(convention) for match in matches):
            raise SystemExit(f"{convention} is not among the matches of {number}")
        name = f"identify, k unknown, {n:,} rows in {size_text}, {decimals} decimals, {len(matches)} matches"
        report(name, seconds, limit)


def tested() -> None:
    """Time all tests of a report, done by one matrix product, against one test by scipy."""
    from scipy import stats

    shares = np.random.default_rng(0).random((2 * N_TESTS, QUERIES)) / QUERIES
    differences = shares[::2] - shares[1::2]
    options = {"n_resamples": N_RESAMPLES, "batch": 1000, "vectorized": True}

    def run_scipy(_: int) -> None:
        stats.permutation_test((shares[0], shares[1]), _difference, permutation_type="samples", **options)
        stats.bootstrap((differences[0],), np.sum, method="percentile", **options)

    all_tests, scipy = f"{N_TESTS} tests and intervals", "scipy, one of them times their number"
    calls = {
        all_tests: lambda _: paired_tests(
            differences, n_resamples=N_RESAMPLES, confidence=0.95, seed=0, progress=lambda *_: None
        ),
        scipy: run_scipy,
    }
    seconds = medians(calls, 3)
    seconds[scipy] *= N_TESTS
    report_ratios(f"{N_RESAMPLES:,} resamples of {QUERIES:,} queries", seconds, all_tests, {scipy: SCIPY_RATIO})


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
    """Return the shortest time of some calls, after a warm-up call that may compile, and the last result."""
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return min(times), result


def report(name: str, seconds: float, limit: float) -> None:
    print(f"  {name:84s} {seconds:7.2f} s   at most {limit} s{'' if seconds <= limit else '  MISSED'}")


def run(data: Data, _: int) -> None:
    print("\nAudits")
    explained(data)
    identified(make(QUERIES).sizes, "queries as above", IDENTIFY_SECONDS)
    identified(np.full(QUERIES * 10, 10), "queries of 10", IDENTIFY_SECONDS)
    _, like = ra.datasets.mq2008_like(random_state=0, n_test_queries=MQ2008_QUERIES)
    identified(like.group_sizes, "queries as MQ2008's", MQ2008_SECONDS)
    compared()
    tested()
