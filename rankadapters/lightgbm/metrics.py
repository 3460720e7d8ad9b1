"""Declared metrics for LightGBM's `feval=` and `eval_metric=`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from rankadapters.callbacks.dataset_columns import DatasetColumns, flat, missing_group
from rankadapters.callbacks.history import History
from rankadapters.callbacks.metrics import Monitor
from rankadapters.callbacks.rounds import Call, Round, calling
from rankadapters.core import presets
from rankadapters.core.data.columns import shared_index
from rankadapters.core.data.keywords import by_name
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError

native_metric, read_metric = presets.lightgbm.write, presets.lightgbm.read

Array = NDArray[Any]


class EvalMetric:
    """A metric for LightGBM's `feval=` and `eval_metric=`; made by `eval_metric`."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor

    @property
    def history(self) -> History:
        """Every value so far, as (dataset, convention, value in full precision)."""
        return self._monitor.history

    def __deepcopy__(self, memo: dict[int, Any]) -> EvalMetric:
        """Share the history with the copy, because LGBMRanker copies its metrics and calls only the copies."""
        del memo
        return EvalMetric(self._monitor.sharing_history())

    # LightGBM counts a metric's parameters, and passes the groups only if there are four positional parameters.
    def __call__(
        self,
        first: Any,
        second: Any = None,
        weight: Any = None,
        group: Any = None,
    ) -> list[tuple[str, float, bool]]:
        """Evaluate the arguments of `feval`, `(preds, Dataset)`, or LGBMRanker's `(y_true, y_pred, weight, group)`."""
        if isinstance(second, lgb.Dataset):
            return self._monitor.evaluate(second, columns_of(second), flat(first), _current_call())
        if second is None:
            msg = f"the metric got only a {type(first).__name__}, so it was passed as callbacks=."
            raise InputError(f"{msg}\nHint: lgb.train(feval=metric), or LGBMRanker.fit(eval_metric=metric).")
        if group is None:
            raise missing_group("evaluation set", "fit(group=..., eval_group=[...])")
        shared_index({"y_true": first, "y_pred": second, "weight": weight})
        columns = DatasetColumns(first, np.asarray(group), _optional(weight))
        return self._monitor.evaluate(first, columns, flat(second), _current_call())


@by_name
def eval_metric(
    convention: Convention | str | Sequence[Convention | str],
    *,
    names: Sequence[str] | None = None,
    n_threads: int | None = None,
) -> EvalMetric:
    """Make a metric that reports each convention, with values bit-identical to `ra.evaluate` on the same columns.

    Use it for `lgb.train(feval=)`, `lgb.cv(feval=)` and `LGBMRanker.fit(eval_metric=)`. Set LightGBM's `metric="None"`
    unless you also want its own metrics.

    Parameters
    ----------
    convention : Convention or str, or sequence of them
        The conventions to report. A query's weight is the float32 mean of its row weights, as in LightGBM. Under
        `average="uniform"` the Dataset's weights are ignored, with a warning.
    names : sequence of str, optional
        Display names; `convention.name` by default.
    n_threads : int, optional
        None uses all CPUs.

    Returns
    -------
    EvalMetric
        A callable, whose `history` has the values in full precision.

    Raises
    ------
    InputError
        At the first evaluation, when the Dataset has no group or its labels do not fit the convention.

    Warns
    -----
    UserWarning
        Once, at the first evaluation: a Dataset has weights that a convention ignores.

    References
    ----------
    LightGBM 4.7.0, python-package: `engine.train`, `sklearn._EvalFunctionWrapper`.

    Examples
    --------
    >>> import lightgbm as lgb, numpy as np, rankadapters as ra
    >>> rng = np.random.default_rng(0)
    >>> data = lgb.Dataset(rng.random((60, 3)), label=rng.integers(0, 3, 60), group=[20, 40])
    >>> metric = ra.lightgbm.eval_metric(ra.presets.letor4(5))
    >>> params = {"objective": "lambdarank", "metric": "None", "verbosity": -1}
    >>> booster = lgb.train(params, data, 3, valid_sets=[data], feval=metric)
    >>> len(metric.history), metric.history[0].convention.name
    (3, 'ndcg@5/letor4')
    """
    return EvalMetric(Monitor(convention, names, n_threads, query_weights))


def query_weights(row_weights: Array, group_sizes: Array) -> NDArray[np.float32]:
    """Return the mean row weight of each query, computed in float32 as in LightGBM.

    References
    ----------
    LightGBM 4.7.0, src/io/metadata.cpp, `Metadata::CalculateQueryWeights`.

    Examples
    --------
    >>> query_weights(np.array([1, 2, 5]), np.array([2, 1])).tolist()
    [1.5, 5.0]
    """
    weights, sizes = np.asarray(row_weights, np.float32), np.asarray(group_sizes)
    if not sizes.size or sizes.min() < 1 or sizes.sum() != weights.size:
        msg = f"group_sizes adds up to {sizes.sum()} but there are {weights.size} row weights.\nHint: rows per query."
        raise InputError(msg)
    starts = np.cumsum(sizes) - sizes
    sums = np.zeros(sizes.size, np.float32)
    for index in range(int(sizes.max())):
        longer = sizes > index
        sums[longer] += weights[starts[longer] + index]
    sums /= sizes.astype(np.float32)
    return sums


def columns_of(dataset: lgb.Dataset) -> DatasetColumns:
    """Return the labels, group sizes and weights of a Dataset."""
    group = dataset.get_group()
    if group is None:
        raise missing_group("Dataset", "lgb.Dataset(..., group=sizes)")
    return DatasetColumns(np.asarray(dataset.get_label()), np.asarray(group), _optional(dataset.get_weight()))


def _current_call() -> Call:
    """Return the evaluated set and its training, from the call stack; all folds of `lgb.cv` are one training."""
    call, booster = Call(), None
    for names in calling("lightgbm"):
        owner = names.get("self")
        if isinstance(owner, lgb.Booster) and booster is None:
            booster = owner
            call = Call(names.get("data_name"), Round(booster, booster.current_iteration()))
        elif isinstance(owner, lgb.CVBooster) and booster is not None and call.fold is None:
            call = call.in_fold(booster, owner.boosters)._replace(round=Round(owner, booster.current_iteration()))
        if call.round is not None and "num_boost_round" in names:
            # The training loop counts every round; the model does not count rounds in which it could add no tree.
            return call._replace(round=call.round._replace(number=names.get("i", call.round.number)))
    return call


def _optional(weights: Any) -> Array | None:
    return None if weights is None else np.asarray(weights)
