"""Rankings to train objectives on, generated or from the shared data, recorded first trees, and positions of rows."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankadapters import objectives
from tests.helpers.checkout import SHARED, golden_file, mq2008_files, shared_records
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


@cache
def mq2008() -> Ranking:
    """Return the first part of MQ2008 (LETOR 4.0); skip where it is missing."""
    return _read(*mq2008_files(1))


@cache
def lightgbm_example() -> Ranking:
    """Return LightGBM's examples/lambdarank; where it is missing, a generated ranking like it."""
    file = SHARED / "data" / "lightgbm" / "rank.train"
    if not file.is_file():
        return _example_like_ranking()
    data = _read(file)
    sizes = np.loadtxt(file.with_name("rank.train.query"), dtype=int)  # a separate file
    return data._replace(sizes=sizes, qid=np.repeat(np.arange(sizes.size), sizes))


def _example_like_ranking() -> Ranking:
    """Return 201 queries, labels 0 to 4, and 300 features that are mostly 0; three of them predict the label."""
    rng = np.random.default_rng(201)
    sizes = rng.integers(4, 27, 201)
    n = int(sizes.sum())
    X = np.where(rng.random((n, 300)) < 0.1, rng.random((n, 300)).round(2), 0)
    X[:, :3] = rng.random((n, 3)).round(2)
    y = np.clip(np.floor(3 * X[:, :3].mean(axis=1) + rng.normal(0, 0.7, n)), 0, 4)
    return Ranking(X, y, np.repeat(np.arange(201), sizes), sizes)


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


def _read(*files: Path) -> Ranking:
    datasets = pytest.importorskip("sklearn.datasets")
    parts = [datasets.load_svmlight_file(str(file), query_id=True) for file in files]
    width = max(X.shape[1] for X, _, _ in parts)
    X = np.vstack([np.pad(X.toarray(), ((0, 0), (0, width - X.shape[1]))) for X, _, _ in parts])
    y, qid = (np.concatenate([part[index] for part in parts]) for index in (1, 2))
    starts = np.flatnonzero(np.r_[True, qid[1:] != qid[:-1]])
    return Ranking(X, y, qid, np.diff(np.r_[starts, qid.size]))


ADDITIVE_BIAS, RATIO_BIAS = objectives.lightgbm.position_bias(), objectives.xgboost.unbiased()

ADDITIVE_BIAS_BY_ROW, TRUE_COST = ADDITIVE_BIAS.replace(positions="rows"), objectives.unbiased_lambdamart()


def shuffled_positions(data):
    """Return positions that differ from the index in the query: with gaps, and falling in every other query."""
    indices = np.arange(data.y.size) - np.repeat(np.cumsum(data.sizes) - data.sizes, data.sizes)
    return np.where(data.qid % 2, indices, 30 - indices % 7) * 2
