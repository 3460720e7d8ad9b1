"""Rows for Dask and Spark: cut into partitions, and scored in one process."""

from __future__ import annotations

import numpy as np

import rankadapters as ra
from tests.helpers.conventions import WITH_PRESET, first_preset

COLUMNS = {"label": "grade", "score": "model", "qid": "query"}
ORDER_AND_DOCID = {"order": "position", "docid": "document"}
ROW_WEIGHTED = ra.presets.catboost.query_rmse().replace(average="row")
AVERAGED_TIES = ra.presets.textbook(5).replace(ties="average")  # its value does not depend on the order of the rows


def rows(n_queries=40, seed=0):
    """Return columns of queries of 1 to 24 rows, with tied scores and with labels 0 and 1, as losses need."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 25, n_queries)
    n = int(sizes.sum())
    return {
        "query": np.repeat(np.arange(n_queries) * 3 - 20, sizes),
        "grade": rng.integers(0, 2, n),
        "model": np.round(rng.standard_normal(n), 1) * 1.37,
        "position": rng.permutation(n),  # order of the rows for ties="input"
        "document": rng.permutation(n),
        "weight": np.repeat(rng.random(n_queries), sizes),
        "share": rng.random(n),
    }


def conventions():
    """Return one convention of every measure, without weights, whose tallies can be merged."""
    return [_mergeable(first_preset(measure)) for measure in WITH_PRESET]


def _mergeable(convention):
    replacements = {"pairs": ("given", "label"), "pool": ("rows", "queries"), "empty": ("error", 0)}
    changes = {name: new for name, (old, new) in replacements.items() if getattr(convention, name, None) == old}
    return convention.replace(average="uniform", **changes)


def expected_scores(data, conventions, **columns):
    """Return the scores of the rows in the order of their positions, computed in one process."""
    order = np.argsort(data["position"])
    rows = {name: column[order] for name, column in data.items()}
    row_weight = rows.get(columns.get("row_weight"))
    queries = ra.Queries(
        rows["grade"], qid=rows["query"], docid=list(map(str, rows["document"])), row_weight=row_weight
    )
    if "weight" in columns:
        queries = queries.with_weights(queries.per_query(rows["weight"])[0])
    return ra.evaluate(queries, rows["model"], conventions)


def as_texts(queries):
    """Return query ids as texts of the same order."""
    return np.array([f"q{query + 20:03}" for query in queries], str)


def partition_rows(data, n_partitions, *, shuffled=False, with_empty=False, whole_queries=False):
    """Return random partitions of rows, in their order or shuffled; with empty partitions, or of whole queries."""
    n = data["query"].size
    rng = np.random.default_rng(n_partitions)
    ends = np.sort(rng.integers(0, n + 1, n_partitions - 1))
    if whole_queries:
        starts = np.flatnonzero(np.diff(data["query"], prepend=data["query"][0] - 1))
        ends = np.append(starts, n)[np.searchsorted(starts, ends)]
    parts = np.split(rng.permutation(n) if shuffled else np.arange(n), ends)
    if with_empty:
        parts = [rows for part in parts for rows in (part[:0], part)]
    return [{name: column[rows] for name, column in data.items()} for rows in parts]


def score_dicts(scores):
    return {convention: score.to_dict() for convention, score in scores.items()}
