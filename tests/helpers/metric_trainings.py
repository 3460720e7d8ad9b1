"""LightGBM and XGBoost, trained with a declared metric by the same calls."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import rankadapters as ra

LETOR, TEXTBOOK = ra.presets.letor4(5), ra.presets.textbook(10)


class Weights(NamedTuple):
    """Weights of the rows or queries of a ranking."""

    column: Any  # as the toolkit's dataset takes them
    by_query: Any  # as `ra.evaluate` takes them


class LightGBM:
    """`lgb.train` and `lgb.cv`."""

    name, rounding = "lightgbm", 0.0
    preset, logistic_objective, dataset_name = ra.presets.lightgbm(5), "binary", "Dataset"

    def __init__(self) -> None:
        self.package = pytest.importorskip("lightgbm")
        pytest.importorskip("sklearn")
        from tests.helpers import lightgbm_datasets

        self.adapter, self.metric, self._helpers = ra.lightgbm, ra.lightgbm.eval_metric, lightgbm_datasets
        self.global_metric = ra.lightgbm.global_eval  # over the rows of all workers
        self.error = self.package.basic.LightGBMError

    def dataset(self, data: Any, *, group: bool = True, weights: Any = None) -> Any:
        """Return a Dataset, with or without its groups."""
        return self._helpers.dataset(data if group else data._replace(sizes=None), weight=weights).construct()

    def weights(self, data: Any) -> Weights:
        """Return weights of rows that differ within queries, and their means by query."""
        rows = np.random.default_rng(0).random(data.y.size).astype(np.float32)
        return Weights(rows, self.adapter.metrics.mean_weights(rows, data.sizes))

    def train(self, metric: Any, sets: dict[str, Any], /, rounds: int = 2, *, log: Any = None, eta: float = 0.5,
              callbacks: Any = (), init: Any = None, **params: Any) -> Any:  # fmt: skip
        """Train on the first set, report the metric of all sets, and return the Booster."""
        params = {**self._helpers.PARAMS, "learning_rate": eta, **params}
        train, callbacks = next(iter(sets.values())), list(callbacks)
        if log is not None:
            callbacks.append(self.package.record_evaluation(log))
        return self.package.train(params, train, rounds, valid_sets=list(sets.values()), valid_names=list(sets),
                                  feval=metric, callbacks=callbacks, init_model=init)  # fmt: skip

    def cv(self, metric: Any, data: Any, rounds: int, callbacks: Any = ()) -> Any:
        """Return the mean value of the three test folds after each round."""
        from sklearn.model_selection import GroupKFold

        results = self.package.cv({**self._helpers.PARAMS, "learning_rate": 0.5}, self._helpers.dataset(data), rounds,
                                folds=GroupKFold(3).split(data.X, data.y, data.qid), feval=metric,
                                callbacks=list(callbacks), eval_train_metric=True)  # fmt: skip
        return results[f"valid {TEXTBOOK.name}-mean"]

    def best(self, booster: Any) -> tuple[int, Any]:
        """Return the best round, counted from 0, and the best score of the set `valid`."""
        return booster.best_iteration - 1, booster.best_score["valid"]

    def native_stopping(self, rounds: int) -> Any:
        return self.package.early_stopping(rounds, verbose=False)


class XGBoost:
    """`xgb.train` and `xgb.cv`."""

    name, rounding = "xgboost", 6e-7  # it logs six decimals
    preset, logistic_objective, dataset_name = ra.presets.xgboost(5), "binary:logistic", "DMatrix"

    def __init__(self) -> None:
        self.package = pytest.importorskip("xgboost")
        pytest.importorskip("sklearn")
        from tests.helpers import xgboost_matrices

        self.adapter, self.metric, self._helpers = ra.xgboost, ra.xgboost.eval_metric, xgboost_matrices
        self.global_metric = self.metric  # with the same object in callbacks=
        self.error = self.package.core.XGBoostError

    def dataset(self, data: Any, *, group: bool = True, weights: Any = None) -> Any:
        return self._helpers.dmatrix(data if group else data._replace(qid=None), weight=weights)

    def weights(self, data: Any) -> Weights:
        weights = np.random.default_rng(0).random(data.sizes.size).astype(np.float32)
        return Weights(weights, weights)

    def train(self, metric: Any, sets: dict[str, Any], /, rounds: int = 2, *, log: Any = None, eta: float = 0.5,
              callbacks: Any = (), init: Any = None, **params: Any) -> Any:  # fmt: skip
        obj = params.pop("objective") if callable(params.get("objective")) else None
        return self._helpers.train({"eta": eta, **params}, next(iter(sets.values())), rounds, obj=obj, xgb_model=init,
                                evals=[(data, name) for name, data in sets.items()], custom_metric=metric,
                                callbacks=list(callbacks), evals_result=log)  # fmt: skip

    def cv(self, metric: Any, data: Any, rounds: int, callbacks: Any = ()) -> Any:
        results = self.package.cv({**self._helpers.PARAMS, "eta": 0.5}, self.dataset(data), rounds, nfold=3,
                                custom_metric=metric, callbacks=list(callbacks), as_pandas=False)  # fmt: skip
        return results[f"test-{TEXTBOOK.name}-mean"]

    def best(self, booster: Any) -> tuple[int, Any]:
        return booster.best_iteration, booster.best_score

    def native_stopping(self, rounds: int) -> Any:
        return self.package.callback.EarlyStopping(rounds=rounds)
