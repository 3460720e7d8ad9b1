"""Small generated rankings for the tests of toolkits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


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
