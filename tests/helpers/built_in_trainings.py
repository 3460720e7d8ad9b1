"""LightGBM and XGBoost, trained with their built-in objectives or with ours by the same calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_trainings import MEAN_PAIRS, PAIR_SEED

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
MEAN_PAIR_OPTIONS = [
    {"lambdarank_pair_method": "mean", **PAIR_SEED},
    MEAN_PAIRS,
    {**MEAN_PAIRS, "lambdarank_num_pair_per_sample": 4},
    {**MEAN_PAIRS, "lambdarank_num_pair_per_sample": 2, "lambdarank_normalization": False},
    {"lambdarank_pair_method": "mean", "lambdarank_score_normalization": False, **PAIR_SEED},
]


class LightGBM:
    """Train with `lgb.train` and predict raw scores."""

    name, tolerance = "lightgbm", 1e-10  # the difference was 0 in LightGBM 4.6.0 and 4.7.0
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

    def dataset(self, data: Any, **columns: Any) -> Any:
        """Return a Dataset that is not constructed yet."""
        params = {"verbosity": -1, "num_threads": 1}
        return self.package.Dataset(
            data.X, label=data.y, group=data.sizes, free_raw_data=False, params=params, **columns
        )

    def predictions(self, data: Any, objective: Any, rounds: int = 10, *, columns: Any = None, **params: Any) -> Any:
        """Return raw scores after some rounds, with our objective or the parameters of a built-in one."""
        if isinstance(objective, objectives.Objective):
            objective = self.adapter.objective(objective, n_threads=1)
        objective_params = objective if isinstance(objective, dict) else {"objective": objective}
        train = self.dataset(data, **(columns or {}))
        booster = self.package.train({**self.params, **params, **objective_params}, train, rounds)
        return booster.predict(data.X, raw_score=True)


class XGBoost:
    """Train with `xgb.train` and predict margins."""

    name, tolerance = "xgboost", 1e-8  # the difference was 0 in XGBoost 3.1.2, 3.2.0 and 3.4.1
    presets: ClassVar[dict[str, Callable[..., Any]]] = {
        "rank:ndcg": objectives.xgboost.ndcg,
        "rank:pairwise": objectives.xgboost.pairwise,
        "rank:map": objectives.xgboost.map,
    }
    built_in: ClassVar = [
        *((name, options) for name in presets for options in (*XGBOOST_OPTIONS, *MEAN_PAIR_OPTIONS)),
        ("rank:ndcg", {"ndcg_exp_gain": False}),
    ]
    params: ClassVar = {"nthread": 1, "max_depth": 4, "base_score": 0.0, "disable_default_eval_metric": 1}

    def __init__(self) -> None:
        self.package = pytest.importorskip("xgboost")
        self.adapter = ra.xgboost

    def dataset(self, data: Any, *, kind: Any = None, **columns: Any) -> Any:
        """Return a DMatrix, or another kind of matrix."""
        return (kind or self.package.DMatrix)(data.X, label=data.y, qid=data.qid, nthread=1, **columns)

    def predictions(
        self, data: Any, objective: Any, rounds: int = 3, *, columns: Any = None, kind: Any = None, **params: Any
    ) -> Any:
        """Return margins after some rounds, with our objective or the parameters of a built-in one."""
        if isinstance(objective, objectives.Objective):
            objective = self.adapter.objective(objective, n_threads=1)
        objective_params, obj = (objective, None) if isinstance(objective, dict) else ({}, objective)
        train = self.dataset(data, kind=kind, **(columns or {}))
        booster = self.package.train({**self.params, **params, **objective_params}, train, rounds, obj=obj)
        return booster.predict(train, output_margin=True)


def assert_same_predictions(predictions: Any, expected: Any, atol: float = 1e-10) -> None:
    """Check that a model learned something, and that its predictions equal the expected ones."""
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(predictions, expected, rtol=0, atol=atol)
