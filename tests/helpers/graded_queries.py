"""Data that the tests of the audits share."""

from __future__ import annotations

from functools import cache

import numpy as np

import rankadapters as ra
from tests.helpers.shared_data import MQ2008, mq2008_files

__all__ = ["BM25", "MQ2008", "mq2008", "small"]

BM25 = 25


@cache
def mq2008():
    """MQ2008 with BM25 as the score, and docids; skips where the files are not there."""
    return ra.io.read_letor(mq2008_files(), feature=BM25, docids=True)


def small(seed=0, n_queries=40, **columns):
    """Queries and scores with ties, empty and short queries, single documents."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 14, n_queries)
    n = int(sizes.sum())
    labels = rng.choice(3, n, p=[0.6, 0.25, 0.15]).astype(float)
    labels[np.repeat(rng.random(n_queries) < 0.2, sizes)] = 0
    given = {"docid": [f"d{i}" for i in rng.permutation(n)]} if columns.pop("docids", False) else {}
    scores = rng.integers(0, 6, n) / 4 + 1e-9 * rng.integers(0, 2, n)
    return ra.Queries(labels, group_sizes=sizes, **given, **columns), scores
