"""Audits: the gap between two conventions on many rows, and the convention behind a number."""

from __future__ import annotations

import time

import numpy as np

import rankadapters as ra
from benchmarks.data import Data, make

EXPLAIN_SECONDS, IDENTIFY_SECONDS = 6, 20
IDENTIFY_QUERIES = 1000  # about 100,000 rows


def explained(data: Data) -> None:
    a = ra.presets.yahoo(10)
    b = a.replace(gain="linear", discount="jk2", ties="average", precision="float32", short="zero", empty=0)
    queries = ra.Queries(data.labels, group_sizes=data.sizes)
    seconds, found = best_of(3, lambda: ra.audit.explain(queries, data.scores, a, b))
    report(f"explain, {len(found.contributions)} fields, {data.labels.size:,} rows", seconds, EXPLAIN_SECONDS)


def identified(sizes: np.ndarray, what: str) -> None:
    rng = np.random.default_rng(0)
    n = int(sizes.sum())
    labels, scores = rng.choice(5, n, p=[0.5, 0.3, 0.13, 0.05, 0.02]), rng.normal(size=n).round(1)
    queries = ra.Queries(labels, group_sizes=sizes, docid=[f"d{row}" for row in range(n)])
    wanted = ra.presets.yahoo(10).replace(ties="worst", empty=0.5)
    value = ra.evaluate(queries, scores, wanted).value
    for decimals in (2, 4, 6):
        number = f"{value:.{decimals}f}"
        seconds, found = best_of(2, lambda number=number: ra.audit.identify(number, queries, scores))
        if not any(match.covers(wanted) for match in found):
            raise SystemExit(f"{wanted} was not found behind {number}")
        name = f"identify, k unknown, {n:,} rows in {what}, {decimals} decimals, {len(found)} matches"
        report(name, seconds, IDENTIFY_SECONDS)


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
    identified(make(IDENTIFY_QUERIES).sizes, "queries as above")
    identified(np.full(10_000, 10), "queries of 10")
