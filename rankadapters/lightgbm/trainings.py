"""What a metric or an objective can tell about the training that calls it: parameters, cut queries and workers."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from typing import Any

import lightgbm as lgb
import numpy as np

from rankadapters.callbacks.global_metrics import refuse_parts
from rankadapters.core.errors import InputError, warn_caller

OPTUNA_MAXIMIZES = {"auc", "auc_mu", "ndcg", "map", "average_precision"}
NEW_DATASET = "a new Dataset, since this one keeps the parameters of its first training"
ALL_WORKERS = "ra.lightgbm.global_eval as the metric and in callbacks="


def sort_ours_first(results: list[Any], names: Collection[str]) -> None:
    """Sort the results of the metrics with these names before others; `first_metric_only` watches the first."""
    results.sort(key=lambda result: result[1] not in names)


def n_machines(params: Mapping[str, Any]) -> int:
    """Return the number of workers of a training."""
    machines = _setting(params, "machines", "nodes", "workers") or ()
    n_listed = len(machines.split(",") if isinstance(machines, str) else machines)
    return int(_setting(params, "num_machines", "num_machine") or max(n_listed, 1))


def refuse_workers(params: Mapping[str, Any]) -> None:
    """Refuse a metric over one worker's rows if the training has several workers."""
    refuse_parts("eval_metric", n_machines(params), ALL_WORKERS)


def refuse_dask_workers() -> None:
    """Refuse a metric over one worker's rows inside DaskLGBMRanker; warn if Dask hides the number of workers.

    Any other Dask task that trains has all rows of its training.

    References
    ----------
    LightGBM 4.7.0, python-package: `dask._train_part`, the function of the task on each worker.
    """
    get_worker = getattr(sys.modules.get("distributed"), "get_worker", None)
    if get_worker is None:  # nobody has imported Dask
        return
    try:
        worker = get_worker()
    except ValueError:  # not in a task of a worker
        return
    key = worker.get_current_task()
    if not str(key).startswith("_train_part-"):
        return
    task = worker.state.tasks.get(key)
    arguments = getattr(getattr(task, "run_spec", None), "kwargs", None) or {}
    if "num_machines" in arguments:
        refuse_workers(arguments)
    else:
        warn_caller("eval_metric sees only the rows of one Dask worker.", hint=ALL_WORKERS)


def refuse_named_metric(params: Mapping[str, Any], maximized: Collection[str]) -> None:
    """Refuse `params["metric"]` with the name of a metric that Optuna's tuners would minimize.

    References
    ----------
    optuna-integration 5.0.0, lightgbm/_lightgbm_tuner/optimize.py: `_BaseTuner.higher_is_better`.
    """
    metrics = _setting(params, "metric", "metrics", "metric_types") or ()
    named = set(metrics.split(",") if isinstance(metrics, str) else metrics)
    for name in sorted(named.intersection(maximized) - OPTUNA_MAXIMIZES):
        raise InputError(
            f"metric={name!r} is not a metric of LightGBM. Optuna's LightGBMTuner and LightGBMTunerCV would minimize "
            "it, but higher values are better.",
            hint=f'optuna.create_study(direction="maximize"), metric="None" and {NEW_DATASET}',
        )


def refuse_bagging_by_query(params: Mapping[str, Any]) -> None:
    """Refuse `bagging_by_query` under a declared objective, where LightGBM trains on all rows, or grows no tree."""
    fraction = float(_setting(params, "bagging_fraction", "bagging", "sub_row", "subsample") or 1)
    frequency = int(_setting(params, "bagging_freq", "subsample_freq") or 0)
    if str(params.get("bagging_by_query")).lower() in {"true", "+"} and frequency > 0 and fraction < 1:
        msg = "bagging_by_query=True draws queries only for LightGBM's own objectives, and harms any other training."
        hint = f"bagging_by_query=False, which draws rows; in lgb.train and lgb.cv with {NEW_DATASET}"
        raise InputError(msg, hint=hint)


def refuse_cut_queries(dataset: lgb.Dataset) -> None:
    """Refuse a subset Dataset that has only some rows of a query."""
    while dataset.used_indices is not None and dataset.reference is not None:
        rows, dataset = np.asarray(dataset.used_indices), dataset.reference
        if dataset.get_group() is None:
            continue
        sizes = np.asarray(dataset.get_group())
        used = np.bincount(np.repeat(np.arange(sizes.size), sizes)[rows], minlength=sizes.size)
        cut = np.flatnonzero((used > 0) & (used < sizes))
        if cut.size:
            msg = f"the Dataset has {used[cut[0]]} of the {sizes[cut[0]]} rows of query {cut[0]}: its queries were cut."
            hint = "lgb.cv(folds=sklearn.model_selection.GroupKFold(5)), to which LightGBM passes the queries"
            raise InputError(msg, hint=hint)


def _setting(params: Mapping[str, Any], *names: str) -> Any:
    """Return a parameter's value under the first of its names, as LightGBM prefers them; None without one."""
    return next((params[name] for name in names if params.get(name) is not None), None)
