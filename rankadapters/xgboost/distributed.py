"""Metrics over the rows of all workers: on Dask, on Spark and in any run of `xgboost.collective`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import xgboost as xgb
from numpy.typing import NDArray
from xgboost import collective

from rankadapters.callbacks.dataset_columns import DatasetColumns, flat
from rankadapters.callbacks.global_metrics import GlobalMonitor, GlobalValue
from rankadapters.callbacks.history import History
from rankadapters.callbacks.rounds import Round
from rankadapters.callbacks.workers import Integers
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, RankAdaptersError, warn_caller
from rankadapters.xgboost.metrics import columns_of, query_weights, refuse_names

Array = NDArray[Any]


class GlobalEval(xgb.callback.TrainingCallback):
    """A metric over all workers, to pass as `custom_metric=` and also in `callbacks=`; made by `global_eval`."""

    __name__ = "rankadapters"

    def __init__(self, monitor: GlobalMonitor) -> None:
        super().__init__()
        refuse_names(monitor.names.values())
        self._monitor = monitor
        self._in_callbacks = False
        self._stopped_before: tuple[Any, Any] | None = None

    @property
    def history(self) -> History:
        """Every value so far in this process, as (dataset, convention, value over all workers)."""
        return self._monitor.history

    def before_training(self, model: Any) -> Any:
        """Drop earlier tallies, and store the model's best score, to notice if early stopping runs first."""
        if not isinstance(model, xgb.Booster):
            msg = "global_eval is not for xgb.cv.\nHint: xgb.cv(custom_metric=ra.xgboost.custom_metric(...))."
            raise InputError(msg)
        self._monitor.forget()
        self._in_callbacks, self._stopped_before = True, _best(model)
        return model

    def after_training(self, model: Any) -> Any:
        """Mark the end of the training, after which calls as a metric are refused."""
        self._in_callbacks = False
        return model

    def __call__(self, preds: Array, dmatrix: xgb.DMatrix) -> list[tuple[str, float]]:
        """Tally this worker's rows, and return NaN, which `after_iteration` replaces with the merged values."""
        if not isinstance(dmatrix, xgb.DMatrix):
            msg = "XGBRanker passes a metric the rows of one query at a time.\nHint: xgb.dask.train(custom_metric=)."
            raise InputError(msg)
        if not self._in_callbacks:
            msg = "global_eval reports at the end of a round.\nHint: the same object in callbacks= too."
            raise InputError(msg)
        self._monitor.note(dmatrix, lambda: _columns_if_any(dmatrix), lambda: flat(preds))
        return [(name, value) for name, value, _ in self._monitor.placeholders()]

    def after_iteration(self, model: Any, epoch: int, evals_log: dict[str, Any]) -> bool:
        """Merge the tallies of all workers, and write the values into the log in full precision."""
        shown = list(self._monitor.names.values())
        sets = [name for name, log in evals_log.items() if shown[0] in log]
        if not sets:
            msg = (
                "global_eval evaluated no set.\nHint: the same object as custom_metric= too, and evals=[(data, name)]."
            )
            raise InputError(msg)
        if self._stopped_before is not None and _best(model) != self._stopped_before:
            msg = "early stopping ran before global_eval.\nHint: list global_eval before early_stopping in callbacks=."
            raise InputError(msg)
        parts = collective.get_world_size()
        self._monitor.enter(Round(model, epoch))
        values_by_set = self._monitor.merge(Collective() if parts > 1 else None, f"round {epoch}", parts, sets, sets)
        for name, values in values_by_set.items():
            for value in values:
                evals_log[name][value.name][-1] = value.value
        if self._stopped_before is not None:
            _warn_of_empty_workers(values_by_set, evals_log, parts)
        self._stopped_before = None  # the check and the warning above are only for the first round
        return False


class Collective:
    """An `Exchange` that sums by XGBoost's allreduce."""

    def add(self, key: str, parts: int, array: Integers) -> Integers:
        """Sum the arrays of all workers."""
        try:
            total: Integers = collective.allreduce(array, collective.Op.SUM)
        except xgb.core.XGBoostError as error:
            msg = f"{key}: another of the {parts} workers ended.\nHint: read the error of that worker."
            raise RankAdaptersError(msg) from error
        return total


def global_eval(
    convention: Convention | str | Sequence[Convention | str],
    *,
    n_queries: int | Mapping[str, int] | None = None,
    names: Sequence[str] | None = None,
    n_threads: int | None = None,
) -> GlobalEval:
    """Make a metric over the rows of all workers, with values bit-identical to `ra.evaluate` on all rows.

    Pass the same object to `custom_metric=` and in `callbacks=`, before any early stopping. It works in
    `xgboost.dask.train`, SparkXGBRanker, `xgb.train` inside `xgboost.collective`, and one process. Each worker tallies
    its rows, and XGBoost's allreduce adds the tallies. Every worker's log has the values in full precision, so all
    workers stop in the same round. If a worker fails, all workers raise.

    Parameters
    ----------
    convention : Convention or str, or sequence of them
        The conventions to report; not over all rows (`pool="rows"`).
    n_queries : int or mapping of str to int, optional
        Number of queries in the set over all workers, or a mapping of set names to numbers. XGBoost silently cuts a
        query in two if a partition ends inside it; with `n_queries`, a wrong number of queries is an error.
    names : sequence of str, optional
        Display names; `convention.name` by default.
    n_threads : int, optional
        None uses all CPUs.

    Returns
    -------
    GlobalEval
        Callable as `metric(preds, dmatrix)`, and a callback. A copy on a worker has its own history. On a cluster, read
        the values from the training's result.

    Raises
    ------
    UnsupportedConventionError
        A convention is over all rows.
    InputError
        During training: queries were cut, a worker failed, or the object is not in both places.

    References
    ----------
    XGBoost 3.2.0, python-package: `callback._allreduce_metric`, which averages over the workers unweighted;
    `collective.allreduce`.

    Examples
    --------
    >>> import numpy as np, rankadapters as ra, xgboost as xgb
    >>> rng = np.random.default_rng(0)
    >>> data = xgb.DMatrix(rng.random((60, 3)), label=rng.integers(0, 3, 60), qid=np.repeat([0, 1], 30))
    >>> watch = ra.xgboost.global_eval("letor4@5", n_queries=2)
    >>> params, log = {"objective": "rank:ndcg", "disable_default_eval_metric": True}, {}
    >>> settings = {"custom_metric": watch, "callbacks": [watch, ra.xgboost.early_stopping("letor4@5", rounds=3)]}
    >>> booster = xgb.train(params, data, 9, evals=[(data, "train")], evals_result=log, verbose_eval=False, **settings)
    >>> log["train"]["ndcg@5/letor4"] == [entry.value for entry in watch.history]
    True
    """
    return GlobalEval(GlobalMonitor(convention, names, n_queries, n_threads, query_weights))


def _columns_if_any(dmatrix: xgb.DMatrix) -> DatasetColumns | None:
    return columns_of(dmatrix) if dmatrix.num_row() else None


def _best(model: xgb.Booster) -> tuple[Any, Any]:
    """Return a model's best score and best iteration, which early stopping sets."""
    return model.attr("best_score"), model.attr("best_iteration")


def _warn_of_empty_workers(values_by_set: dict[str, list[GlobalValue]], evals_log: dict[str, Any], parts: int) -> None:
    """Warn if XGBoost's own metric values are wrong because it counts each worker without rows as a query."""
    if collective.get_rank():
        return
    for name, values in values_by_set.items():
        n_empty = parts - values[0].n_workers
        declared = {value.name for value in values}
        native = [metric for metric in evals_log[name] if metric not in declared and metric.startswith(("ndcg", "map"))]
        if n_empty and native:
            msg = (
                f"{n_empty} of {parts} workers have no rows of {name!r}: XGBoost's own {', '.join(native)} "
                "counts each as a query of value 1.\n"
                "Hint: a partition of the set on each worker, or disable_default_eval_metric."
            )
            warn_caller(msg)
