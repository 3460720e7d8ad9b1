"""LightGBM and XGBoost called in the same way: trainings that report a declared metric."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import rankadapters as ra

LETOR, TEXTBOOK = ra.presets.letor4(5), ra.presets.textbook(10)


class Weights(NamedTuple):
    column: Any  # as the toolkit's dataset takes them
    by_query: Any  # what they mean for each query


class LightGBM:
    """`lgb.train` and `lgb.cv`."""

    name, held_out, rounding = "lightgbm", "valid", 0.0
    own, logistic, dataset_name = ra.presets.lightgbm(5), "binary", "Dataset"

    def __init__(self) -> None:
        self.package = pytest.importorskip("lightgbm")
        pytest.importorskip("sklearn")
        from tests.helpers import lightgbm_datasets

        self.adapter, self.metric, self._data = ra.lightgbm, ra.lightgbm.eval_metric, lightgbm_datasets
        self.error = self.package.basic.LightGBMError

    def dataset(self, data: Any, *, group: bool = True, weights: Any = None) -> Any:
        """A Dataset, with its groups unless told otherwise."""
        return self._data.dataset(data if group else data._replace(sizes=None), weight=weights).construct()

    def weights(self, data: Any) -> Weights:
        """Weights of rows that differ within queries, and their means."""
        rows = np.random.default_rng(0).random(data.y.size).astype(np.float32)
        return Weights(rows, self.adapter.metrics.query_weights(rows, data.sizes))

    def train(self, metric: Any, sets: dict[str, Any], /, rounds: int = 2, *, log: Any = None, eta: float = 0.5,
              callbacks: Any = (), init: Any = None, **params: Any) -> Any:  # fmt: skip
        """Train on the first of the sets and report all of them."""
        params = {**self._data.PARAMS, "learning_rate": eta, **params}
        train, callbacks = next(iter(sets.values())), list(callbacks)
        if log is not None:
            callbacks.append(self.package.record_evaluation(log))
        return self.package.train(params, train, rounds, valid_sets=list(sets.values()), valid_names=list(sets),
                                  feval=metric, callbacks=callbacks, init_model=init)  # fmt: skip

    def cv(self, metric: Any, data: Any, rounds: int, callbacks: Any = ()) -> Any:
        """The means over three folds of the queries that are held out."""
        from sklearn.model_selection import GroupKFold

        found = self.package.cv({**self._data.PARAMS, "learning_rate": 0.5}, self._data.dataset(data), rounds,
                                folds=GroupKFold(3).split(data.X, data.y, data.qid), feval=metric,
                                callbacks=list(callbacks), eval_train_metric=True)  # fmt: skip
        return found[f"valid {TEXTBOOK.name}-mean"]

    def best(self, booster: Any) -> tuple[int, Any]:
        """Best round, from 0 on, and the best score of the set `valid`."""
        return booster.best_iteration - 1, booster.best_score["valid"]

    def own_stopping(self, rounds: int) -> Any:
        """LightGBM's own early stopping."""
        return self.package.early_stopping(rounds, verbose=False)

    def asked_by_hand(self, metric: Any, data: Any, name: str) -> Any:
        """Ask a booster for the metric of a set."""
        booster = self.package.Booster(self._data.PARAMS, self.dataset(data))
        return booster.eval(self._data.dataset(data, reference=booster.train_set), name, metric)


class XGBoost:
    """`xgb.train` and `xgb.cv`."""

    name, held_out, rounding = "xgboost", "test", 6e-7  # it logs six decimals
    own, logistic, dataset_name = ra.presets.xgboost(5), "binary:logistic", "DMatrix"

    def __init__(self) -> None:
        self.package = pytest.importorskip("xgboost")
        pytest.importorskip("sklearn")
        from tests.helpers import xgboost_matrices

        self.adapter, self.metric, self._data = ra.xgboost, ra.xgboost.custom_metric, xgboost_matrices
        self.error = self.package.core.XGBoostError

    def dataset(self, data: Any, *, group: bool = True, weights: Any = None) -> Any:
        """A DMatrix, with its groups unless told otherwise."""
        return self._data.dmatrix(data if group else data._replace(qid=None), weight=weights)

    def weights(self, data: Any) -> Weights:
        """Weights of queries."""
        weights = np.random.default_rng(0).random(data.sizes.size).astype(np.float32)
        return Weights(weights, weights)

    def train(self, metric: Any, sets: dict[str, Any], /, rounds: int = 2, *, log: Any = None, eta: float = 0.5,
              callbacks: Any = (), init: Any = None, **params: Any) -> Any:  # fmt: skip
        """Train on the first of the sets and report all of them."""
        obj = params.pop("objective") if callable(params.get("objective")) else None
        return self._data.train({"eta": eta, **params}, next(iter(sets.values())), rounds, obj=obj, xgb_model=init,
                                evals=[(data, name) for name, data in sets.items()], custom_metric=metric,
                                callbacks=list(callbacks), evals_result=log)  # fmt: skip

    def cv(self, metric: Any, data: Any, rounds: int, callbacks: Any = ()) -> Any:
        """The means over three folds of the queries that are held out."""
        found = self.package.cv({**self._data.PARAMS, "eta": 0.5}, self.dataset(data), rounds, nfold=3,
                                custom_metric=metric, callbacks=list(callbacks), as_pandas=False)  # fmt: skip
        return found[f"test-{TEXTBOOK.name}-mean"]

    def best(self, booster: Any) -> tuple[int, Any]:
        """Best round, from 0 on, and the best score of the set `valid`."""
        return booster.best_iteration, booster.best_score

    def own_stopping(self, rounds: int) -> Any:
        """XGBoost's own early stopping."""
        return self.package.callback.EarlyStopping(rounds=rounds)

    def asked_by_hand(self, metric: Any, data: Any, name: str) -> Any:
        """Ask a booster for the metric of a set."""
        matrix = self.dataset(data)
        return self.package.Booster(self._data.PARAMS, [matrix]).eval_set([(matrix, name)], feval=metric)
