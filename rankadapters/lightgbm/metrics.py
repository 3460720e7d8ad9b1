"""Declared metrics for LightGBM's `feval=` and `eval_metric=`."""

from __future__ import annotations

from functools import partial
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from rankadapters import presets
from rankadapters.callbacks.arguments import refuse_other_toolkit, refused_as_scorer
from rankadapters.callbacks.dataset_columns import DatasetColumns, flat, missing_group
from rankadapters.callbacks.metrics import Monitor
from rankadapters.core.arrays import Array
from rankadapters.core.data.columns import shared_index
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.guesses import EVAL_METRIC, shows_call
from rankadapters.core.errors import InputError
from rankadapters.lightgbm.trainings import refuse_cut_queries, refuse_dask_workers, refuse_named_metric, refuse_workers
from rankadapters.presets.texts import Conventions

native_metric, read_metric = presets.lightgbm.write, presets.lightgbm.read

NO_GROUP = (
    "LGBMRanker.fit(group=sizes, eval_group=[sizes]); its other estimators pass a metric no queries: "
    "lgb.train(params, lgb.Dataset(X, y, group=sizes)); for XGBRanker, QueryRanker(XGBRanker(), eval_metric=)"
)


class EvalMetric:
    """A metric for LightGBM's `feval=` and `eval_metric=`; made by `eval_metric`."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self._maximized = [name for convention, name in monitor.names.items() if convention.higher_is_better]
        self._ranks_queries = any(convention.over != "rows" for convention in monitor.names)

    # LightGBM counts a metric's parameters, and passes the groups only if there are four positional parameters.
    def __call__(self, first: Any, second: Any = None, weight: Any = None, group: Any = None) -> Any:
        """Evaluate the arguments of `feval`, `(preds, Dataset)`, or LGBMRanker's `(y_true, y_pred, weight, group)`."""
        if (refused := refused_as_scorer(first)) is not None:
            return refused
        refuse_other_toolkit("lightgbm", "eval_metric", first, second)
        if second is None:
            msg = f"the metric got only a {type(first).__name__}, so it was passed as callbacks=."
            raise InputError(msg, hint="lgb.train(feval=metric), or LGBMRanker.fit(eval_metric=metric)")
        if isinstance(second, lgb.Dataset):
            params = second.params or {}
            refuse_workers(params)
            refuse_named_metric(params, self._maximized)
            cut = partial(refuse_cut_queries, second) if self._ranks_queries else None
            return self._monitor.evaluate(columns_of(second), flat(first), cut)
        if self._monitor.is_new:  # LGBMRanker trains with a copy
            refuse_dask_workers()
        shared_index({"y_true": first, "y_pred": second, "weight": weight})
        return self._monitor.evaluate(columns_of(first, weight, group), flat(second))


@shows_call(EVAL_METRIC["lightgbm"])
def eval_metric(
    convention: Convention | str | Conventions,
    *,
    n_threads: int | None = None,
) -> EvalMetric:
    """Make a metric that reports each convention, with values bit-identical to `ra.evaluate` on the same columns.

    Use it for `lgb.train(feval=)`, `lgb.cv(feval=)` and `LGBMRanker.fit(eval_metric=)`. Set LightGBM's `metric="None"`
    unless you also want its own metrics. Pass `lgb.cv` folds of whole queries: its own folds keep queries together only
    under LightGBM's ranking objectives. On several workers use `global_eval`.

    Parameters
    ----------
    convention : Convention or str, or sequence of these, or mapping of str to these
        The conventions to report. A query's weight is the float32 mean of its row weights, as in LightGBM. Under
        `average="uniform"` the Dataset's weights are ignored, with a warning.
    n_threads : int, optional
        None uses all CPUs.

    Returns
    -------
    EvalMetric
        A callable. LightGBM's log has its values in full precision: `ra.History.of` reads it.

    Raises
    ------
    InputError
        At the first evaluation of a Dataset: it has no group; its labels do not fit the convention; `lgb.cv` cut its
        queries, and a convention ranks by query; the training has several workers, each with a part of the rows (in
        `lgb.train` and DaskLGBMRanker); or its `params["metric"]` has the name of a convention of which higher is
        better, because Optuna's LightGBMTuner would minimize it.

    Warns
    -----
    UserWarning
        Once in a training: a Dataset has weights that a convention ignores. DaskLGBMRanker trains on a version of Dask
        that hides the number of workers.

    References
    ----------
    LightGBM 4.7.0, python-package: `engine.train`, `sklearn._EvalFunctionWrapper`.

    Examples
    --------
    >>> import lightgbm as lgb, numpy as np, rankadapters as ra
    >>> X, y = np.random.default_rng(0).random((60, 3)), np.arange(60) % 3
    >>> data = lgb.Dataset(X, label=y, group=[20, 40])
    >>> metric, log = ra.lightgbm.eval_metric(ra.presets.letor4(5)), {}
    >>> params = {"objective": "lambdarank", "metric": "None", "verbosity": -1}
    >>> callbacks = [lgb.record_evaluation(log)]
    >>> booster = lgb.train(params, data, 3, valid_sets=[data], feval=metric, callbacks=callbacks)
    >>> len(log["training"]["ndcg@5/letor4"]), ra.History.of(log)[0].convention == ra.presets.letor4(5)
    (3, True)
    """
    return EvalMetric(Monitor(convention, n_threads, mean_weights))


def mean_weights(row_weights: Array, group_sizes: Array) -> NDArray[np.float32]:
    """Return the mean row weight of each query, computed in float32 as in LightGBM.

    References
    ----------
    LightGBM 4.7.0, src/io/metadata.cpp, `Metadata::CalculateQueryWeights`.

    Examples
    --------
    >>> mean_weights(np.array([1, 2, 5]), np.array([2, 1])).tolist()
    [1.5, 5.0]
    """
    weights, sizes = np.asarray(row_weights, np.float32), np.asarray(group_sizes)
    if not sizes.size or sizes.min() < 1 or sizes.sum() != weights.size:
        msg = f"group_sizes adds up to {sizes.sum()} but there are {weights.size} row weights."
        raise InputError(msg, hint="rows per query")
    starts = np.cumsum(sizes) - sizes
    sums = np.zeros(sizes.size, np.float32)
    for index in range(int(sizes.max())):
        longer = sizes > index
        sums[longer] += weights[starts[longer] + index]
    sums /= sizes.astype(np.float32)
    return sums


def columns_of(data: Any, weight: Any = None, group: Any = None) -> DatasetColumns:
    """Return the columns of a Dataset, or of the labels, row weights and group sizes that LGBMRanker passes."""
    if isinstance(data, lgb.Dataset):
        owner, hint = "Dataset", "lgb.Dataset(..., group=sizes)"
        labels, weight, group = np.asarray(data.get_label()), data.get_weight(), data.get_group()
    else:
        owner, hint, labels = "data", NO_GROUP, data
    if group is None:
        raise missing_group(owner, hint)
    return DatasetColumns(labels, np.asarray(group), None if weight is None else np.asarray(weight))
