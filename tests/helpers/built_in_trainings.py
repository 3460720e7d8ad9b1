"""LightGBM and XGBoost trained by their built-in objectives, and by ours in their place, in the same way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_trainings import MEAN, SEED

GAINS = [0.0, 1.0, 3.5, 3.5, 20.0]
LIGHTGBM_OPTIONS: list[dict[str, Any]] = [
    {},
    {"lambdarank_norm": False},
    {"lambdarank_truncation_level": 3},
    {"lambdarank_truncation_level": 10_000},
    {"sigmoid": 2.0},
    {"label_gain": GAINS},
    {"sigmoid": 0.7, "lambdarank_norm": False, "lambdarank_truncation_level": 7, "label_gain": GAINS},
]
XGBOOST_OPTIONS: list[dict[str, Any]] = [
    {},
    {"lambdarank_num_pair_per_sample": 3},
    {"lambdarank_num_pair_per_sample": 1000},
    {"lambdarank_normalization": False},
    {"lambdarank_score_normalization": False},
    {"lambdarank_normalization": False, "lambdarank_score_normalization": False},
]
MEANS = [
    {"lambdarank_pair_method": "mean", **SEED},
    MEAN,
    {**MEAN, "lambdarank_num_pair_per_sample": 4},
    {**MEAN, "lambdarank_num_pair_per_sample": 2, "lambdarank_normalization": False},
    {"lambdarank_pair_method": "mean", "lambdarank_score_normalization": False, **SEED},
]


class LightGBM:
    """Raw scores of `lgb.train`."""

    name, same = "lightgbm", 1e-10  # 0.0 is what was seen, with LightGBM 4.6.0 and 4.7.0
    presets: ClassVar[dict[str, Callable[..., Any]]] = {
        "lambdarank": objectives.lightgbm.lambdarank,
        "rank_xendcg": objectives.lightgbm.xendcg,
    }
    built_in: ClassVar = [
        *(("lambdarank", options) for options in LIGHTGBM_OPTIONS),
        ("rank_xendcg", {}),
        ("rank_xendcg", {"objective_seed": 11}),
    ]
    params: ClassVar = {"metric": "None", "verbosity": -1, "num_threads": 1, "num_leaves": 15, "min_data_in_leaf": 10}

    def __init__(self) -> None:
        self.package = pytest.importorskip("lightgbm")
        self.adapter = ra.lightgbm

    def dataset(self, data: Any, **more: Any) -> Any:
        """A Dataset that is not constructed yet."""
        params: ClassVar = {"verbosity": -1, "num_threads": 1}
        return self.package.Dataset(data.X, label=data.y, group=data.sizes, free_raw_data=False, params=params, **more)

    def predictions(self, data: Any, objective: Any, rounds: int = 10, *, columns: Any = None, **params: Any) -> Any:
        """Raw scores after some rounds, by an objective of ours or the parameters of a built-in one."""
        ours = isinstance(objective, objectives.Objective)
        objective = self.adapter.objective(objective, n_threads=1) if ours else objective
        told = objective if isinstance(objective, dict) else {"objective": objective}
        train = self.dataset(data, **(columns or {}))
        return self.package.train({**self.params, **params, **told}, train, rounds).predict(data.X, raw_score=True)


class XGBoost:
    """Margins of `xgb.train`."""

    name, same = "xgboost", 1e-8  # 0.0 is what was seen, with XGBoost 3.1.2, 3.2.0 and 3.4.1
    presets: ClassVar[dict[str, Callable[..., Any]]] = {
        "rank:ndcg": objectives.xgboost.ndcg,
        "rank:pairwise": objectives.xgboost.pairwise,
        "rank:map": objectives.xgboost.map,
    }
    built_in: ClassVar = [
        *((name, options) for name in presets for options in (*XGBOOST_OPTIONS, *MEANS)),
        ("rank:ndcg", {"ndcg_exp_gain": False}),
    ]
    params: ClassVar = {"nthread": 1, "max_depth": 4, "base_score": 0.0, "disable_default_eval_metric": 1}

    def __init__(self) -> None:
        self.package = pytest.importorskip("xgboost")
        self.adapter = ra.xgboost

    def dataset(self, data: Any, *, kind: Any = None, **more: Any) -> Any:
        """A DMatrix, or another kind of matrix."""
        return (kind or self.package.DMatrix)(data.X, label=data.y, qid=data.qid, nthread=1, **more)

    def predictions(
        self, data: Any, objective: Any, rounds: int = 3, *, columns: Any = None, kind: Any = None, **params: Any
    ) -> Any:
        """Margins after some rounds, by an objective of ours or the parameters of a built-in one."""
        told, obj = (objective, None) if isinstance(objective, dict) else ({}, objective)
        obj = self.adapter.objective(obj, n_threads=1) if isinstance(obj, objectives.Objective) else obj
        train = self.dataset(data, kind=kind, **(columns or {}))
        booster = self.package.train({**self.params, **params, **told}, train, rounds, obj=obj)
        return booster.predict(train, output_margin=True)


def assert_same(found: Any, expected: Any, atol: float = 1e-10) -> None:
    """Check that something was learned, and the same."""
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)
