"""LightGBM and XGBoost, trained with our objectives or with built-in ones by the same calls, and such objectives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
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


def with_accepted_labels(data: Ranking, value: objectives.Objective) -> Ranking:
    """Return the data with labels that an objective accepts: some need labels 0 and 1."""
    probabilities = isinstance(getattr(value, "convention", None), ra.ERR)
    binary = probabilities or isinstance(value, objectives.LambdaMAP | objectives.QueryCrossEntropy)
    return data._replace(y=(data.y > 0).astype(float)) if binary else data


class LightGBM:
    """Train with `lgb.train` and predict raw scores."""

    name, tolerance = "lightgbm", 1e-10  # the difference was 0 in LightGBM 4.6.0 and 4.7.0
    presets: ClassVar[dict[str, Callable[..., Any]]] = {
        "lambdarank": objectives.lightgbm.lambdarank,
        "rank_xendcg": objectives.lightgbm.xendcg,
    }
    pairs: ClassVar = [{}]  # how pairs are drawn
    params: ClassVar = {"metric": "None", "verbosity": -1, "num_threads": 1, "num_leaves": 15, "min_data_in_leaf": 10}
    score_dtype = np.float64  # of the scores that LightGBM passes to an objective
    no_group: ClassVar = {"group": None}
    no_group_message = r"the Dataset has no group.*\nHint: lgb.Dataset\(..., group=sizes\)"
    exact_sigmoid = objectives.lightgbm.lambdarank().replace(sigmoid="exact")

    def __init__(self) -> None:
        self.package = pytest.importorskip("lightgbm")
        self.adapter = ra.lightgbm

    def dataset(self, data: Any, **columns: Any) -> Any:
        """Return a Dataset that is not constructed yet."""
        columns = {"label": data.y, "group": data.sizes, **columns}
        return self.package.Dataset(data.X, free_raw_data=False, params={"verbosity": -1, "num_threads": 1}, **columns)

    def weights(self, data: Ranking, by_query: Any) -> dict[str, Any]:
        """Return the column of a dataset that has these weights of queries."""
        return {"weight": np.repeat(by_query, data.sizes)}

    def replace_field(self, dataset: Any, field: str, data: Ranking) -> None:
        """Change the labels, the weights or the groups of a dataset."""
        new = {"label": data.y[::-1], "weight": np.full(data.y.size, 2.0), "group": data.sizes[::-1]}[field]
        dataset.set_field("weight", new) if field == "weight" else getattr(dataset, f"set_{field}")(new)

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
    pairs: ClassVar = [{}, MEAN_PAIRS]
    params: ClassVar = {"nthread": 1, "max_depth": 4, "base_score": 0.0, "disable_default_eval_metric": 1}
    score_dtype = np.float32
    no_group: ClassVar = {"qid": None}
    no_group_message = r"the DMatrix has no group.*\nHint: xgb.DMatrix\(..., qid=qid\)"
    exact_sigmoid = objectives.xgboost.ndcg().replace(sigmoid="exact")

    def __init__(self) -> None:
        self.package = pytest.importorskip("xgboost")
        self.adapter = ra.xgboost

    def dataset(self, data: Any, *, kind: Any = None, **columns: Any) -> Any:
        """Return a DMatrix, or another kind of matrix."""
        columns = {"label": data.y, "qid": data.qid, **columns}
        return (kind or self.package.DMatrix)(data.X, nthread=1, **columns)

    def weights(self, data: Ranking, by_query: Any) -> dict[str, Any]:
        return {"weight": by_query}

    def replace_field(self, dataset: Any, field: str, data: Ranking) -> None:
        new = {"label": data.y[::-1], "weight": np.arange(1, data.sizes.size + 1), "group": data.sizes[::-1]}[field]
        getattr(dataset, f"set_{field}")(new)

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


def rows_of_toolkits(
    *names: str, rows: Callable[[Any], Iterable[Any]], toolkits: Iterable[type] = (LightGBM, XGBoost)
) -> pytest.MarkDecorator:
    """Return the parameters of a test whose rows differ between the toolkits of the fixture `toolkit`."""
    table = [(toolkit, *(row if len(names) > 1 else [row])) for toolkit in toolkits for row in rows(toolkit)]
    return pytest.mark.parametrize(("toolkit", *names), table, indirect=["toolkit"])
