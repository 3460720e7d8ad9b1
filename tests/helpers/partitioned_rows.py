"""Rows whose values are known from one process, to be cut into the partitions of an engine."""

from __future__ import annotations

import numpy as np

import rankadapters as ra
from rankadapters.core import presets
from rankadapters.core.measures import MEASURES

COLUMNS = {"label": "grade", "score": "model", "qid": "query"}
N_PARTITIONS = (1, 2, 3, 17)
BY_ROW = ra.presets.catboost.query_rmse().replace(average="row")
TIED = ra.presets.textbook(5).replace(ties="average")  # whose value no order of the rows changes


def rows(n_queries=40, seed=0):
    """Queries of 1 to 24 rows with tied scores and labels 0 and 1, which losses take too."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 25, n_queries)
    n = int(sizes.sum())
    return {
        "query": np.repeat(np.arange(n_queries) * 3 - 20, sizes),
        "grade": rng.integers(0, 2, n),
        "model": np.round(rng.standard_normal(n), 1) * 1.37,
        "position": rng.permutation(n),  # which is what ties="input" goes by
        "document": rng.permutation(n),
        "weight": np.repeat(rng.random(n_queries), sizes),
        "share": rng.random(n),
    }


def conventions():
    """One of every measure, as it merges and without weights."""
    return [_merging(presets.make(presets.names(measure)[0], 3)) for measure in MEASURES]


def _merging(made):
    wanted = {"pairs": ("given", "label"), "pool": ("rows", "queries"), "empty": ("error", 0)}
    changes = {name: other for name, (one, other) in wanted.items() if getattr(made, name, None) == one}
    return made.replace(average="uniform", **changes)


def reference(data, several, **columns):
    """Scores of one process, of the rows in the order of their positions."""
    by = np.argsort(data["position"])
    given = {name: column[by] for name, column in data.items()}
    documents, by_row = [str(each) for each in given["document"]], given.get(columns.get("row_weight"))
    queries = ra.Queries(given["grade"], qid=given["query"], docid=documents, row_weight=by_row)
    if "weight" in columns:
        queries = queries.with_weights(queries.per_query(given["weight"])[0])
    return ra.evaluate(queries, given["model"], several)


def cut(data, n_partitions, *, mixed=False, empty=False, whole=False):
    """Cut rows into partitions: anywhere or between queries, in their order or mixed, and empty ones between them."""
    n = data["query"].size
    rng = np.random.default_rng(n_partitions)
    ends = np.sort(rng.integers(0, n + 1, n_partitions - 1))
    if whole:
        starts = np.flatnonzero(np.diff(data["query"], prepend=data["query"][0] - 1))
        ends = np.append(starts, n)[np.searchsorted(starts, ends)]
    places = np.split(rng.permutation(n) if mixed else np.arange(n), ends)
    if empty:
        places = [place for each in places for place in (each[:0], each)]
    return [{name: column[place] for name, column in data.items()} for place in places]


def exactly(scores):
    """All that a Score holds, by convention."""
    return {convention: score.to_dict() for convention, score in scores.items()}
