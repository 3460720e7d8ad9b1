"""Data that both toolkits' objectives are trained on: made here, and real sets where the shared data are there."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.rankings import Ranking
from tests.helpers.shared_data import SHARED, kept, mq2008_files, shared_records


def graded(seed: int, n_queries: int = 40, longest: int = 60, grades: int = 3, distinct: int | None = None) -> Ranking:
    """Grades from 0 on, every fifth query of nothing relevant, some of one document; ties where few are `distinct`."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest + 1, n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    X = rng.random((qid.size, 6))
    if distinct is not None:
        X = np.floor(X * distinct)
    signal = X[:, 0] / X.max() + 0.5 * X[:, 1] / X.max() + rng.normal(0, 0.3, qid.size)
    y = np.clip(np.floor(signal * grades / 1.6), 0, grades - 1) * (qid % 5 > 0)
    return Ranking(X, y, qid, sizes)


@cache
def mq2008() -> Ranking:
    """The first of the five parts of MQ2008 (LETOR 4.0)."""
    return _read(*mq2008_files(1))


@cache
def lightgbm_example() -> Ranking:
    """LightGBM's examples/lambdarank; where it is not there, queries in its shape."""
    file = SHARED / "data" / "lightgbm" / "rank.train"
    if not file.is_file():
        return _in_the_shape_of_the_example()
    data = _read(file)
    sizes = np.loadtxt(file.with_name("rank.train.query"), dtype=int)  # in a file of their own
    return data._replace(sizes=sizes, qid=np.repeat(np.arange(sizes.size), sizes))


def _in_the_shape_of_the_example() -> Ranking:
    """201 queries, grades 0 to 4 and 300 features that are mostly absent, three of which tell the grade."""
    rng = np.random.default_rng(201)
    sizes = rng.integers(4, 27, 201)
    n = int(sizes.sum())
    X = np.where(rng.random((n, 300)) < 0.1, rng.random((n, 300)).round(2), 0)
    X[:, :3] = rng.random((n, 3)).round(2)
    y = np.clip(np.floor(3 * X[:, :3].mean(axis=1) + rng.normal(0, 0.7, n)), 0, 4)
    return Ranking(X, y, np.repeat(np.arange(201), sizes), sizes)


def recorded(toolkit: str) -> list[tuple[str, dict[str, Any]]]:
    """First trees of the built-in objectives, by name: those kept here, and all in a thorough run."""
    file = kept("objectives")
    same = {"train_params": file["train_params"][toolkit], "row_weight": None, "query_weight": None}
    found = [
        (_name(place, record), {**same, **file["inputs"][record["input"]], **record})
        for place, record in enumerate(file["records"])
        if record["library"] == toolkit
    ]
    whole = shared_records(f"toolkits/{toolkit}_objectives")
    return found + [(f"full-{_name(place, record)}", record) for place, record in enumerate(whole)]


def _name(place: int, record: dict[str, Any]) -> str:
    options = " ".join(f"{name}={value}" for name, value in record["params"].items())
    return f"{place}-{record['objective']} {options}"


def golden(toolkit: str) -> list[Any]:
    """What is recorded of a toolkit's built-in objectives, as test parameters."""
    return [pytest.param(record, id=name) for name, record in recorded(toolkit)]


def _read(*files: Path) -> Ranking:
    datasets = pytest.importorskip("sklearn.datasets")
    parts = [datasets.load_svmlight_file(str(file), query_id=True) for file in files]
    width = max(X.shape[1] for X, _, _ in parts)
    X = np.vstack([np.pad(X.toarray(), ((0, 0), (0, width - X.shape[1]))) for X, _, _ in parts])
    y, qid = (np.concatenate([part[place] for part in parts]) for place in (1, 2))
    starts = np.flatnonzero(np.r_[True, qid[1:] != qid[:-1]])
    return Ranking(X, y, qid, np.diff(np.r_[starts, qid.size]))
