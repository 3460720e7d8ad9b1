"""Small generated rankings, columns and queries, and distributions of scores."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

import rankadapters as ra
from tests.helpers.checkout import mq2008_files


class Ranking(NamedTuple):
    """Features, labels and query ids of rows, and the sizes of the queries."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    sizes: np.ndarray


def ranking(seed: int, n_queries: int = 30, longest: int = 20) -> Ranking:
    """Return a ranking of labels 0 to 2 and few feature values, with empty queries and queries of one document."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest + 1, n_queries)
    n = int(sizes.sum())
    X = rng.integers(0, 6, (n, 5)).astype(float)
    relevant = np.repeat(rng.random(n_queries) < 0.75, sizes)
    y = np.clip(np.round(X[:, 0] / 3 + rng.normal(0, 0.8, n) - 0.5), 0, 2) * relevant
    return Ranking(X, y, np.repeat(np.arange(n_queries), sizes), sizes)


TEXTBOOK = ra.presets.textbook(10)


def ragged_columns(seed: int, n_queries: int = 40, longest: int = 60, levels: int = 8):
    """Return labels, scores with ties, and query ids."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest + 1, n_queries)
    n = int(sizes.sum())
    labels = rng.choice([0, 0, 0, 1, 2, 3], n).astype(float)
    return labels, rng.integers(0, levels, n) / levels, np.repeat(rng.permutation(n_queries), sizes)


BM25 = 25  # feature of MQ2008


@cache
def mq2008():
    """Return MQ2008 with BM25 as the scores, and docids; skip where the files are missing."""
    return ra.io.read_letor(mq2008_files(), feature=BM25, docids=True)


def small_queries(seed=0, n_queries=40, **columns):
    """Return Queries and scores with ties, empty queries, short queries and queries of one document."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 14, n_queries)
    n = int(sizes.sum())
    labels = rng.choice(3, n, p=[0.6, 0.25, 0.15]).astype(float)
    labels[np.repeat(rng.random(n_queries) < 0.2, sizes)] = 0
    docids = {"docid": [f"d{i}" for i in rng.permutation(n)]} if columns.pop("docids", False) else {}
    scores = rng.integers(0, 6, n) / 4 + 1e-9 * rng.integers(0, 2, n)
    return ra.Queries(labels, group_sizes=sizes, **docids, **columns), scores


SPREADS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n) ** 3,
    "dense at the top": lambda rng, n: -rng.lognormal(0, 3, n),
    "one value": lambda rng, n: np.zeros(n),
    "few values": lambda rng, n: rng.integers(0, 5, n) * 0.5,
    "few positives": lambda rng, n: (rng.random(n) < 0.02) * 1.0,
    "all in one lane": lambda rng, n: np.where(np.arange(n) % 16 == 3, rng.random(n) + 10, rng.random(n)),
    "two clusters": lambda rng, n: rng.integers(0, 2, n) + rng.standard_normal(n) * 1e-9,
    "an outlier": lambda rng, n: np.where(np.arange(n) == n // 2, 1e200, rng.standard_normal(n)),
    "clusters at every scale": lambda rng, n: 10.0 ** rng.integers(-300, 300, n) * rng.standard_normal(n),
    "both ends of float64": lambda rng, n: rng.choice([-1.7e308, 1.7e308, 0.0, 1.0], n),
    "neighbors": lambda rng, n: 1 + rng.integers(0, 3 * n, n) * 2.0**-52,
    "denormals": lambda rng, n: rng.integers(-n, n + 1, n) * 5e-324,
    "ascending": lambda rng, n: np.arange(n, dtype=float),
    "descending": lambda rng, n: -np.arange(n, dtype=float),
    "signed zeros": lambda rng, n: rng.choice([0.0, -0.0], n),
}
