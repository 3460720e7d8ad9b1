"""Rankings to train objectives on, generated or from the shared data, recorded first trees, and positions of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters import objectives
from tests.helpers.checkout import golden_file, shared_records
from tests.helpers.rankings import Ranking


def graded_ranking(
    seed: int, n_queries: int = 40, longest: int = 60, grades: int = 3, n_values: int | None = None
) -> Ranking:
    """Return a ranking of labels from 0 to grades - 1, with empty queries and queries of one document.

    `n_values` limits the distinct values of each feature, so that rows are tied.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest + 1, n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    X = rng.random((qid.size, 6))
    if n_values is not None:
        X = np.floor(X * n_values)
    signal = X[:, 0] / X.max() + 0.5 * X[:, 1] / X.max() + rng.normal(0, 0.3, qid.size)
    y = np.clip(np.floor(signal * grades / 1.6), 0, grades - 1) * (qid % 5 > 0)
    return Ranking(X, y, qid, sizes)


def first_trees(toolkit: str) -> dict[str, dict[str, Any]]:
    """Return first trees of the built-in objectives by name: those of the checkout, and all in a thorough run."""
    file = golden_file("objectives")
    defaults = {"train_params": file["train_params"][toolkit], "row_weight": None, "query_weight": None}
    trees = {
        _record_name(number, record): {**defaults, **file["inputs"][record["input"]], **record}
        for number, record in enumerate(file["records"])
        if record["library"] == toolkit
    }
    whole = enumerate(shared_records(f"toolkits/{toolkit}_objectives"))
    return trees | {f"full-{_record_name(number, record)}": record for number, record in whole}


def _record_name(number: int, record: dict[str, Any]) -> str:
    options = " ".join(f"{name}={value}" for name, value in record["params"].items())
    return f"{number}-{record['objective']} {options}"


ADDITIVE_BIAS, RATIO_BIAS = objectives.lightgbm.position_bias(), objectives.xgboost.unbiased()

ADDITIVE_BIAS_BY_ROW, TRUE_COST = ADDITIVE_BIAS.replace(positions="rows"), objectives.unbiased_lambdamart()


def shuffled_positions(data):
    """Return positions that differ from the index in the query: with gaps, and falling in every other query."""
    indices = np.arange(data.y.size) - np.repeat(np.cumsum(data.sizes) - data.sizes, data.sizes)
    return np.where(data.qid % 2, indices, 30 - indices % 7) * 2
