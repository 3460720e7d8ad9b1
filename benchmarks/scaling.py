"""Time evaluation by cutoff, on tiny, huge and binary data, and from ten thousand to twenty million rows."""

from __future__ import annotations

import numpy as np

import rankadapters as ra
from benchmarks import toolkits
from benchmarks.data import Data, make, unrelated
from benchmarks.timing import medians, report

DEPTHS = {1: 6, 5: 6, 10: 6, 30: 4.5, 60: None, 100: None, None: 3}  # cutoff: least ratio of LightGBM's time to ours
GROWTH = (100, 1_000, 10_000, 50_000, 200_000)  # numbers of queries, with 104 rows on average


def compare_with_lightgbm(data: Data, convention: ra.Convention, rounds: int, n_threads: int = 1) -> dict[str, float]:
    k = getattr(convention, "k", None)
    evaluator = ra.Evaluator(data.labels, convention, group_sizes=data.sizes, n_threads=n_threads)
    scores = unrelated(data, rounds)
    depth = int(data.sizes.max()) if k is None else k
    calls = {
        "rankadapters": lambda i: evaluator.evaluate(scores[i]),
        "LightGBM": toolkits.lightgbm(data, depth, n_threads),
    }
    return medians(calls, rounds)


def depths(data: Data, rounds: int) -> None:
    for k, floor in DEPTHS.items():
        floors = {} if floor is None else {"LightGBM": floor}
        report(
            f"NDCG@{k or 'all'}", compare_with_lightgbm(data, ra.presets.lightgbm(k), rounds), "rankadapters", floors
        )
    averaged = compare_with_lightgbm(data, ra.presets.lightgbm(None).replace(ties="average"), rounds)
    report("NDCG@all, ties=average", averaged, "rankadapters", {"LightGBM": 2.5})


def tiny(n_queries: int = 1_000_000) -> Data:
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 4, n_queries)
    n = int(sizes.sum())
    return Data(rng.integers(0, 5, n).astype(float), rng.standard_normal(n), sizes)


def short(n_queries: int = 250_000, length: int = 8) -> Data:
    rng = np.random.default_rng(6)
    n = n_queries * length
    return Data(rng.integers(0, 5, n).astype(float), rng.standard_normal(n), np.full(n_queries, length))


def huge(n_queries: int = 200, length: int = 9_999) -> Data:
    """Return queries of the largest size that LightGBM accepts."""
    rng = np.random.default_rng(4)
    n = n_queries * length
    return Data(rng.integers(0, 5, n).astype(float), rng.standard_normal(n), np.full(n_queries, length))


def binary(data: Data) -> Data:
    return data._replace(labels=(np.random.default_rng(5).random(data.labels.size) < 0.05).astype(float))


def shapes(data: Data, rounds: int) -> None:
    cases = {
        "a million queries of 1 to 3 rows": (tiny(), {"LightGBM": 2}),
        "250,000 queries of 8 rows": (short(), {"LightGBM": 4}),
        "200 queries of 9,999 rows": (huge(), {}),
        "labels of which 5 % are relevant": (binary(data), {}),
    }
    for name, (case, floors) in cases.items():
        seconds = compare_with_lightgbm(case, ra.presets.lightgbm(10), rounds)
        report(f"NDCG@10, {name}", seconds, "rankadapters", floors)


def growth(rounds: int) -> None:
    """Print the nanoseconds per row of binding and evaluating."""
    print("\nGrowth, one thread: nanoseconds per row")
    print(f"  {'rows':>12s} {'binding':>10s} {'NDCG@10':>10s} {'LightGBM':>10s}")
    for n_queries in GROWTH:
        data = make(n_queries)
        n = data.labels.size
        n_rounds = max(3, rounds // 3)
        seconds = compare_with_lightgbm(data, ra.presets.lightgbm(10), n_rounds)
        binding = medians(
            {
                "binding": lambda _, d=data: ra.Evaluator(
                    d.labels, ra.presets.lightgbm(10), group_sizes=d.sizes, n_threads=1
                )
            },
            n_rounds,
        )["binding"]
        print(
            f"  {n:12,d} {binding / n * 1e9:10.1f} {seconds['rankadapters'] / n * 1e9:10.1f} "
            f"{seconds['LightGBM'] / n * 1e9:10.1f}"
        )


def run(data: Data, rounds: int) -> None:
    depths(data, rounds)
    shapes(data, rounds)
    growth(rounds)
