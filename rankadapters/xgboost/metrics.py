"""Declared metrics for XGBoost's `custom_metric=`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray
from xgboost import collective

from rankadapters.callbacks.dataset_columns import DatasetColumns, flat, missing_group
from rankadapters.callbacks.history import History
from rankadapters.callbacks.metrics import Monitor
from rankadapters.callbacks.query_counts import QueryCounts
from rankadapters.callbacks.rounds import Call, Round, calling
from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError

native_metric, read_metric = presets.xgboost.write, presets.xgboost.read

Array = NDArray[Any]


class CustomMetric:
    """A metric for XGBoost's `custom_metric=`; made by the function `custom_metric`."""

    __name__ = "rankadapters"  # XGBRanker reads the `__name__` of a metric

    def __init__(self, monitor: Monitor, n_queries: int | Mapping[str, int] | None) -> None:
        self._monitor = monitor
        self._counts = query_counts(n_queries)
        refuse_names(monitor.names.values())

    @property
    def history(self) -> History:
        """Every value so far, as (dataset, convention, value in full precision)."""
        return self._monitor.history

    def __call__(self, preds: Array, dmatrix: xgb.DMatrix) -> list[tuple[str, float]]:
        """Evaluate predictions on a DMatrix with groups."""
        if not isinstance(dmatrix, xgb.DMatrix):
            msg = (
                "XGBRanker passes a metric the rows of one query at a time and averages the values by query size.\n"
                "Hint: XGBRanker(callbacks=[ra.xgboost.EvalCallback(convention, [((X, y, qid), 'valid')])])."
            )
            raise InputError(msg)
        refuse_workers("custom_metric")
        columns, call = columns_of(dmatrix), _current_call()
        self._refuse_counts(call, columns.group_sizes.size)
        results = self._monitor.evaluate(dmatrix, columns, flat(preds), call)
        return [(name, value) for name, value, _ in results]

    def _refuse_counts(self, call: Call, n_queries: int) -> None:
        if self._counts and call.fold is not None:
            msg = "n_queries= is not for xgb.cv, which divides the queries into folds."
            raise InputError(f"{msg}\nHint: compare len(dmatrix.get_group()) with the number of queries beforehand.")
        if call.set_names:
            self._counts.refuse_sets(call.set_names)
        self._counts.refuse(call.set_name, n_queries)


def custom_metric(
    convention: Convention | str | Sequence[Convention | str],
    *,
    n_queries: int | Mapping[str, int] | None = None,
    names: Sequence[str] | None = None,
    n_threads: int | None = None,
) -> CustomMetric:
    """Make a metric that reports each convention in `xgb.train(custom_metric=)` and `xgb.cv(custom_metric=)`.

    XGBoost writes custom metrics with six decimals into its log. `history` has the full values, and `EvalCallback`
    writes them into the log. The metric ranks the predictions that XGBoost passes: transformed by a built-in objective,
    raw under `obj=`. XGBRanker calls metrics per query and is refused; use `EvalCallback`. Several workers are refused,
    because XGBoost averages over them without weights; use `global_eval`.

    Parameters
    ----------
    convention : Convention or str, or sequence of them
        The conventions to report. The DMatrix's weights are one per query. Under `average="uniform"` they are ignored,
        with a warning.
    n_queries : int or mapping of str to int, optional
        Number of queries in the set, or a mapping of set names to numbers. XGBoost silently cuts a query in two if a
        batch of a DataIter ends inside it; with `n_queries`, a wrong number of queries is an error. Not for `xgb.cv`.
    names : sequence of str, optional
        Display names; `convention.name` by default.
    n_threads : int, optional
        None uses all CPUs.

    Returns
    -------
    CustomMetric
        Callable as `metric(preds, dmatrix)`.

    Raises
    ------
    ConventionError
        A name has a space, a tab or a colon, where XGBoost would cut it.
    InputError
        During training: the DMatrix has no group, or a set does not have `n_queries` queries.

    Warns
    -----
    UserWarning
        Once, at the first evaluation: a DMatrix has weights that a convention ignores.

    References
    ----------
    XGBoost 3.2.0, python-package: `core.Booster.eval_set`.

    Examples
    --------
    >>> import numpy as np, rankadapters as ra, xgboost as xgb
    >>> rng = np.random.default_rng(0)
    >>> data = xgb.DMatrix(rng.random((60, 3)), label=rng.integers(0, 3, 60), qid=np.repeat([0, 1], 30))
    >>> metric = ra.xgboost.custom_metric(["letor4@5", "yahoo@5"])
    >>> params = {"objective": "rank:ndcg", "disable_default_eval_metric": True}
    >>> booster = xgb.train(params, data, 3, evals=[(data, "train")], custom_metric=metric, verbose_eval=False)
    >>> len(metric.history)
    6
    """
    return CustomMetric(Monitor(convention, names, n_threads, query_weights), n_queries)


def columns_of(dmatrix: xgb.DMatrix) -> DatasetColumns:
    """Return the labels, group sizes and weights of a DMatrix."""
    group_ptr = dmatrix.get_uint_info("group_ptr")
    if group_ptr.size < 2:  # noqa: PLR2004 - one query has two offsets
        raise missing_group("DMatrix", "xgb.DMatrix(..., qid=qid), with qid sorted and dense")
    weights = dmatrix.get_weight()
    return DatasetColumns(dmatrix.get_label(), np.diff(group_ptr.astype(np.int64)), weights if weights.size else None)


def query_weights(weights: Array, group_sizes: Array) -> Array:
    """Return a DMatrix's weights unchanged, because a DMatrix with groups has one weight per query."""
    del group_sizes
    return weights


def _current_call() -> Call:
    """Return the evaluated set and its training, from the call stack; all folds of `xgb.cv` are one training."""
    call, pack = Call(), None
    for names in calling("xgboost"):
        owner = names.get("self")
        if isinstance(owner, xgb.Booster) and "evname" in names:
            call = Call(names["evname"], set_names=[name for _, name in names["evals"]])
        elif isinstance(owner, xgb.training.CVPack):
            pack = owner
        elif pack is not None and (packs := getattr(owner, "cvfolds", None)) is not None:
            call = call.in_fold(pack, packs)
        elif isinstance(owner, xgb.callback.CallbackContainer) and "epoch" in names:
            return call._replace(round=Round(owner, names["epoch"]))
    return call


def query_counts(n_queries: int | Mapping[str, int] | None) -> QueryCounts:
    """Return a check of the number of queries in each set, whose errors say how XGBoost cuts queries in two."""
    return QueryCounts(n_queries, "sort by qid, and end each batch of a DataIter at the end of a query")


def refuse_names(names: Iterable[str]) -> None:
    """Refuse display names with a space, tab or colon, at which XGBoost splits its log."""
    for name in names:
        if any(c in name for c in " \t\n:"):
            msg = f"name {name!r} has a space, tab or colon, where XGBoost cuts its log.\nHint: use letters and /@-."
            raise ConventionError(msg)


def refuse_workers(feature: str) -> None:
    """Refuse a training on several workers."""
    if (parts := collective.get_world_size()) > 1:
        msg = (
            f"{feature} is for one process, but this training has {parts}, each with a part of the rows, and XGBoost "
            "averages their values unweighted.\n"
            "Hint: ra.xgboost.global_eval(...) as custom_metric= and in callbacks=."
        )
        raise InputError(msg)
