"""Measure the memory of a bound evaluator and of one evaluation."""

from __future__ import annotations

import tracemalloc

import numpy as np

import rankadapters as ra
from benchmarks.data import Data


def run(data: Data) -> None:
    n = data.labels.size
    print("\nMemory, in numbers of 8 bytes per row")
    shuffled = np.random.default_rng(0).permutation(n)
    plain = {"labels": data.labels, "qid": data.qid}
    mixed = {"labels": data.labels[shuffled], "qid": data.qid[shuffled]}
    fractional = {"labels": data.labels + 0.3, "qid": data.qid}
    cases = [
        ("row order", ra.presets.lightgbm(10), plain, np.float64),
        ("row order, float32 scores", ra.presets.lightgbm(10), plain, np.float32),
        ("average ties", ra.presets.textbook(10), plain, np.float64),
        ("average ties, fractional labels", ra.presets.textbook(10), fractional, np.float64),
        ("worst ties, interleaved, all ranks", ra.presets.catboost(None), mixed, np.float64),
        (
            "worst ties, interleaved, fractional",
            ra.presets.catboost(10),
            {**mixed, "labels": mixed["labels"] + 0.3},
            np.float64,
        ),
    ]
    for name, convention, columns, dtype in cases:
        scores = data.scores.astype(dtype)
        ra.Evaluator(convention=convention, **columns).evaluate(scores)  # compile first
        tracemalloc.start()
        evaluator = ra.Evaluator(convention=convention, **columns)
        evaluator.evaluate(scores)
        n_bytes = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        evaluator.evaluate(scores)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(
            f"  {name:40s} held {n_bytes / 8 / n:5.2f} (at most 4)   "
            f"extra in an evaluation {(peak - n_bytes) / 8 / n:5.2f}"
        )
