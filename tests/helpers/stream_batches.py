"""Rows for streams, and ways to cut them into batches."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

LABEL, SCORE, QID = "label", "score", "qid"


def rows(seed, *, n_queries=20, longest=30, text=False):
    """Columns by name: scores with ties, ids in no order, weights and docids."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest + 1, n_queries)
    n = int(sizes.sum())
    ids = rng.permutation(n_queries) * 7 - 20
    return {
        "label": rng.choice([0.0, 0.0, 0.0, 1.0, 2.0, 3.0], n),
        "score": rng.integers(0, 6, n) / 8,
        "other": rng.standard_normal(n),
        "qid": np.repeat([f"q{i}" for i in ids] if text else ids, sizes),
        "weight": np.repeat(rng.choice([0.25, 1.0, 2.5], n_queries), sizes),
        "row_weight": rng.choice([0.5, 1.0, 3.0], n),
        "docid": np.array([f"d{i}" for i in rng.permutation(n)]),
    }


def evenly(n_rows, n_parts):
    """Bounds of parts that cut wherever it falls; some are empty where there are more parts than rows."""
    return np.linspace(0, n_rows, n_parts + 1).astype(int).tolist()


def anyhow(n_rows, n_parts, seed):
    """Bounds of parts of any size, of which some are empty."""
    inner = np.sort(np.random.default_rng(seed).integers(0, n_rows + 1, n_parts - 1))
    return [0, *inner.tolist(), n_rows]


def cut(columns, bounds):
    """Batches of the rows between bounds."""
    return [{name: column[first:last] for name, column in columns.items()} for first, last in pairwise(bounds)]


def given(columns, *names):
    """Columns of `ra.evaluate` that a stream has by name."""
    found = {"qid": columns["qid"]}
    if "query_weight" in names:
        _, first = np.unique(columns["qid"], return_index=True)
        found["query_weight"] = columns["weight"][np.sort(first)]
    for name in ("row_weight", "docid"):
        if name in names:
            found[name] = columns[name]
    return found


def facts(score):
    """Everything that a score holds."""
    return score.to_dict()
