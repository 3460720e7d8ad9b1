"""Rows for streams, and bounds that cut them into batches."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def rows(seed, *, n_queries=20, longest=30, text=False):
    """Return columns by name, with tied scores, query ids in random order, weights and docids."""
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


def even_bounds(n_rows, n_parts):
    """Return the bounds of parts of equal size; some parts are empty if there are more parts than rows."""
    return np.linspace(0, n_rows, n_parts + 1).astype(int).tolist()


def random_bounds(n_rows, n_parts, seed):
    """Return the bounds of parts of random sizes, some of them empty."""
    inner = np.sort(np.random.default_rng(seed).integers(0, n_rows + 1, n_parts - 1))
    return [0, *inner.tolist(), n_rows]


def cut_at(columns, bounds):
    """Return the batches of the rows between bounds."""
    return [{name: column[first:last] for name, column in columns.items()} for first, last in pairwise(bounds)]


def evaluate_columns(columns, *names):
    """Return the columns of `ra.evaluate` that have these names in a stream."""
    arguments = {"qid": columns["qid"]}
    if "query_weight" in names:
        _, first = np.unique(columns["qid"], return_index=True)
        arguments["query_weight"] = columns["weight"][np.sort(first)]
    for name in ("row_weight", "docid"):
        if name in names:
            arguments[name] = columns[name]
    return arguments
