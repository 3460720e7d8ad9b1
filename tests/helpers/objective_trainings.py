"""LightGBM and XGBoost, trained with our objectives by the same calls, and objectives that both can train."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.rankings import Ranking


def xgboost_seed() -> dict[str, int]:
    """Return the parameter that seeds the pairs of `mean` in the installed XGBoost.

    Up to 3.3 the round seeds them, so there is no parameter; from 3.4 on `seed` does.

    src/objective/lambdarank_obj.cc, LambdaRankObj::GetGradient; run with 3.1.2, 3.2.0, 3.3.0 and 3.4.1.
    """
    try:
        release = tuple(int(part) for part in re.findall(r"\d+", version("xgboost"))[:2])
    except PackageNotFoundError:
        return {}
    return {"seed": 0} if release >= (3, 4) else {}


PAIR_SEED = xgboost_seed()
MEAN_PAIRS = {"lambdarank_pair_method": "mean", "lambdarank_num_pair_per_sample": 3, **PAIR_SEED}
XENDCG = objectives.lightgbm.xendcg()
COMMON_OBJECTIVES = [
    objectives.catboost.pair_logit(),
    objectives.ListNet(),
    objectives.ListMLE(),
    objectives.ApproxNDCG(convention="lightgbm@10", temperature=0.5, hessian=0.01),
    objectives.LambdaLoss(convention="lightgbm@10", scheme="ndcg2++_10", truncation=30, sigma=1),
    objectives.LambdaLoss(convention="lightgbm@10", scheme="ndcg1", truncation=30, sigma=1),
    objectives.catboost.query_soft_max(),
    objectives.QueryRMSE(),
    objectives.catboost.query_cross_entropy(),
    XENDCG,
    objectives.catboost.stochastic_rank("NDCG", top=10),
    objectives.catboost.stochastic_rank("ERR", num_estimations=3).replace(arithmetic="exact"),
    objectives.catboost.yetirank(),
    objectives.catboost.yetirank(mode="DCG", top=10, num_neighbors=5),
]
# Objectives that each toolkit trains: its own default first, then those of other toolkits.
OBJECTIVES = {
    "lightgbm": [
        objectives.lightgbm.lambdarank(),
        objectives.xgboost.pairwise(),
        objectives.xgboost.ndcg(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=4),
        *COMMON_OBJECTIVES,
    ],
    "xgboost": [
        objectives.xgboost.ndcg(),
        objectives.xgboost.ndcg(**MEAN_PAIRS),
        objectives.xgboost.map(),
        objectives.lightgbm.lambdarank(),
        *COMMON_OBJECTIVES,
    ],
}


def with_accepted_labels(data: Ranking, value: objectives.Objective) -> Ranking:
    """Return the data with labels that an objective accepts: some need labels 0 and 1."""
    probabilities = isinstance(getattr(value, "convention", None), ra.ERR)
    binary = probabilities or isinstance(value, objectives.LambdaMAP | objectives.QueryCrossEntropy)
    return data._replace(y=(data.y > 0).astype(float)) if binary else data


class LightGBMDriver:
    """Train with `lgb.train`."""

    name = "lightgbm"
    score_dtype = np.float64  # of the scores that LightGBM passes to an objective
    no_group_message = r"the Dataset has no group.*\nHint: lgb.Dataset\(..., group=sizes\)"
    smallest_score = 1e-300  # that LightGBM can tell from 0
    params: ClassVar = {"metric": "None", "verbosity": -1, "num_threads": 1, "num_leaves": 15, "min_data_in_leaf": 10}
    exact_sigmoid = objectives.lightgbm.lambdarank().replace(sigmoid="exact")

    def __init__(self) -> None:
        self.package = pytest.importorskip("lightgbm")
        self.adapter = ra.lightgbm

    def dataset(self, data: Ranking, *, group: bool = True, weights: Any = None) -> Any:
        """Return a dataset, with weights per query."""
        by_row = None if weights is None else np.repeat(weights, data.sizes)
        sizes = data.sizes if group else None
        return self.package.Dataset(data.X, label=data.y, group=sizes, weight=by_row, params=self.params).construct()

    def predictions(self, data: Ranking, objective: Any, rounds: int = 20, *, weights: Any = None) -> Any:
        """Train, and return the raw scores of the training rows."""
        train = self.dataset(data, weights=weights)
        booster = self.package.train({**self.params, "objective": objective}, train, rounds)
        return booster.predict(data.X, raw_score=True)

    def replace_field(self, dataset: Any, field: str, data: Ranking) -> None:
        """Change the labels, the weights or the groups of a dataset."""
        new = {"label": data.y[::-1], "weight": np.full(data.y.size, 2.0), "group": data.sizes[::-1]}[field]
        dataset.set_field("weight", new) if field == "weight" else getattr(dataset, f"set_{field}")(new)


class XGBoostDriver:
    """Train with `xgb.train`."""

    name = "xgboost"
    score_dtype = np.float32
    no_group_message = r"the DMatrix has no group.*\nHint: xgb.DMatrix\(..., qid=qid\)"
    smallest_score = 1e-30
    # `hist` would choose bins that depend on the weights.
    params: ClassVar = {"nthread": 1, "max_depth": 4, "base_score": 0.0, "tree_method": "exact"}
    exact_sigmoid = objectives.xgboost.ndcg().replace(sigmoid="exact")

    def __init__(self) -> None:
        self.package = pytest.importorskip("xgboost")
        self.adapter = ra.xgboost

    def dataset(self, data: Ranking, *, group: bool = True, weights: Any = None) -> Any:
        """Return a dataset, with weights per query."""
        qid = data.qid if group else None
        return self.package.DMatrix(data.X, label=data.y, qid=qid, weight=weights, nthread=1)

    def predictions(self, data: Ranking, objective: Any, rounds: int = 20, *, weights: Any = None) -> Any:
        """Train, and return the margins of the training rows."""
        train = self.dataset(data, weights=weights)
        return self.package.train(self.params, train, rounds, obj=objective).predict(train, output_margin=True)

    def replace_field(self, dataset: Any, field: str, data: Ranking) -> None:
        """Change the labels, the weights or the groups of a dataset."""
        new = {"label": data.y[::-1], "weight": np.arange(1, data.sizes.size + 1), "group": data.sizes[::-1]}[field]
        getattr(dataset, f"set_{field}")(new)


DRIVERS = {"lightgbm": LightGBMDriver, "xgboost": XGBoostDriver}
