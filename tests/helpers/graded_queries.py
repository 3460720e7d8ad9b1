"""Queries and scores that the tests of the audits share."""

from __future__ import annotations

from functools import cache

import numpy as np

import rankadapters as ra
from tests.helpers.shared_data import mq2008_files

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
