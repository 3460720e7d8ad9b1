"""Data that both toolkits' objectives are trained on: made here, and real sets where they lie beside the checkout."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.ranking_data import Ranking

SHARED = Path(__file__).parents[2] / "shared"


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
    """The training part of the first fold of MQ2008 (LETOR 4.0)."""
    return _read(*(SHARED / "data" / "MQ2008" / f"S{part}.txt" for part in (1, 2, 3)))


@cache
def lightgbm_example() -> Ranking:
    """LightGBM's examples/lambdarank, whose group sizes stand in a file of their own."""
    file = SHARED / "data" / "lightgbm" / "rank.train"
    data = _read(file)
    sizes = np.loadtxt(file.with_name("rank.train.query"), dtype=int)
    return data._replace(sizes=sizes, qid=np.repeat(np.arange(sizes.size), sizes))


def golden(toolkit: str) -> list[Any]:
    """What `shared/golden/toolkits` records of the built-in objectives, as test parameters."""
    file = SHARED / "golden" / "toolkits" / f"{toolkit}_objectives.json"
    if not file.is_file():
        return [
            pytest.param({}, id="golden", marks=pytest.mark.skip(reason=f"{file.name} is not beside this checkout"))
        ]
    kept = json.loads(file.read_text())["records"]
    options = [" ".join(f"{name}={value}" for name, value in record["params"].items()) for record in kept]
    return [
        pytest.param(record, id=f"{number}-{record['objective']} {option}")
        for number, (record, option) in enumerate(zip(kept, options, strict=True))
    ]


def _read(*files: Path) -> Ranking:
    if not all(file.is_file() for file in files):
        pytest.skip(f"{files[0].name} is not beside this checkout")
    datasets = pytest.importorskip("sklearn.datasets")
    parts = [datasets.load_svmlight_file(str(file), query_id=True) for file in files]
    width = max(X.shape[1] for X, _, _ in parts)
    X = np.vstack([np.pad(X.toarray(), ((0, 0), (0, width - X.shape[1]))) for X, _, _ in parts])
    y, qid = (np.concatenate([part[place] for part in parts]) for place in (1, 2))
    starts = np.flatnonzero(np.r_[True, qid[1:] != qid[:-1]])
    return Ranking(X, y, qid, np.diff(np.r_[starts, qid.size]))
