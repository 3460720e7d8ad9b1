"""Queries of different lengths for the tests of evaluations and tallies."""

from __future__ import annotations

import numpy as np

import rankadapters as ra

TEXTBOOK = ra.presets.textbook(10)


def ragged_columns(seed: int, n_queries: int = 40, longest: int = 60, levels: int = 8):
    """Return labels, scores with ties, and query ids."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest + 1, n_queries)
    n = int(sizes.sum())
    labels = rng.choice([0, 0, 0, 1, 2, 3], n).astype(float)
    return labels, rng.integers(0, levels, n) / levels, np.repeat(rng.permutation(n_queries), sizes)
