"""A Pool on which CatBoost grows one tree at a time, and functions that read a Pool's columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import catboost as cb
import numpy as np

from rankadapters.callbacks.dataset_columns import DatasetColumns
from rankadapters.catboost.training_params import TrainingParams
from rankadapters.core.arrays import Array, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError

FAINT = 2.0**-60  # least hessian of a row, as a share of its gradient; too small to change a sum
COARSE = 1e-3  # largest error of a gradient by rounding to float32, as a share of the largest gradient


class BoostedPool:
    """A copy of a Pool, quantized once.

    A tree of CatBoost's RMSE with targets z = -gradient / hessian and the hessians as weights is a Newton step. On a
    quantized Pool we cannot set labels, but we can set a baseline; with the baseline `labels - z`, the tree learns z.

    `quantization` are parameters of `Pool.quantize`. `random_seed` samples the rows that decide the borders if there
    are many rows.
    """

    def __init__(self, pool: cb.Pool, quantization: Mapping[str, Any], random_seed: int) -> None:
        self.features = copied(pool)
        if quantization and pool.is_quantized():
            msg = f"{min(quantization)} cannot be used: the Pool is quantized already."
            raise InputError(msg, hint="pass it to Pool.quantize, or train on the Pool before quantization")
        if not pool.is_quantized():
            self.features.quantize(random_seed=random_seed, **quantization)
        self._grown = copied(self.features)
        self._grown.set_group_weight(np.ones(pool.num_row()))  # 1, because the hessians include group weights
        self._labels = labels_of(pool)

    def grow(self, grad: Array, hess: Array, mean_weight: float, params: TrainingParams, index: int) -> cb.CatBoost:
        """Grow one tree from gradients and hessians that already include weights of mean `mean_weight`."""
        weight = np.maximum(hess, np.abs(grad) * np.float32(FAINT), dtype=np.float32)
        targets = np.divide(-grad, weight, out=np.zeros(weight.size), where=weight > 0, dtype=np.float64)
        baseline = (self._labels - targets).astype(np.float32)
        if not index:
            self._refuse_coarse(baseline, targets, weight)
        # CatBoost reads a list of tuples four times as fast as an array.
        self._grown._set_baseline(list(zip(baseline.tolist())))  # noqa: SLF001 - set_baseline converts to an array
        self._grown.set_weight(weight.tolist())
        tree_params = params.of_tree(index, weight.size, float(np.mean(weight, dtype=np.float64)) / mean_weight)
        return cb.CatBoost(tree_params).fit(self._grown)

    def _refuse_coarse(self, baseline: Array, targets: Floats, weight: Array) -> None:
        lost = np.abs(self._labels - baseline - targets) * weight
        if lost.max() > COARSE * np.abs(targets * weight).max():
            row = int(np.argmax(np.abs(self._labels)))
            raise InputError(
                f"labels[{row}] is {self._labels[row]:g}, so large that a float32 baseline loses the steps of the "
                "objective.",
                hint="map the labels to small numbers, and undo this in the objective's gains",
                row=row,
            )


def copied(pool: cb.Pool) -> cb.Pool:
    """Copy a Pool; the copy shares the features."""
    return pool.slice(np.arange(pool.num_row()))


def without_baseline(pool: cb.Pool) -> cb.Pool:
    """Return a Pool, or a copy without its baseline if it has one."""
    return pool if baseline_of(pool) is None else copied(pool).set_baseline(np.empty((pool.num_row(), 0)))


def predicted(model: cb.CatBoost, features: cb.Pool) -> Floats:
    """Return predictions on a Pool. The Pool must have no baseline, because CatBoost would add it to them.

    Pools quantized with more than 255 borders of a feature are refused: CatBoost can train but not predict on them.
    """
    try:
        return np.asarray(cb.CatBoost.predict(model, features, prediction_type="RawFormulaVal"))
    except cb.CatBoostError as error:
        if not features.is_quantized() or "IDynamicBlockIterator" not in str(error):
            raise
        raise InputError(
            "the Pool is quantized with more than 255 borders of a feature. CatBoost cannot predict on such a Pool, "
            "and every round needs the predictions of its tree.",
            hint="pass the Pool before Pool.quantize, and params={'border_count': 1024}",
        ) from None


def baseline_of(pool: cb.Pool) -> Floats | None:
    """Return the baseline of a Pool; None if it has none."""
    baseline = pool.get_baseline()
    if baseline.shape[1] > 1:
        msg = f"the Pool has a baseline of {baseline.shape[1]} columns, but a ranking has one score per row."
        raise InputError(msg, hint="catboost.Pool(X, labels, group_id=qid, baseline=scores)")
    return np.asarray(baseline[:, 0], np.float64) if baseline.shape[1] else None


def labels_of(pool: cb.Pool) -> Floats:
    """Return the labels of a Pool, one per row."""
    labels = pool.get_label()
    if labels is None or np.ndim(labels) != 1:
        description = "no labels" if labels is None else f"labels of shape {np.shape(labels)}"
        msg = f"the Pool has {description}, but needs one label per row."
        raise InputError(msg, hint="catboost.Pool(X, labels, group_id=qid)")
    return np.asarray(labels, np.float64)


def columns_of_pools(pools: Sequence[cb.Pool], thread_count: int) -> list[DatasetColumns]:
    """Return each Pool's labels, group sizes and weights; the first Pool must be quantized and its labels must vary.

    A Pool does not return its group weights, but CatBoost passes the weights of its rows to a metric.
    """
    recorder = _WeightRecorder()
    params = {
        "iterations": 1, "depth": 1, "loss_function": "RMSE", "eval_metric": recorder, "has_time": True,
        "boost_from_average": False, "bootstrap_type": "No", "allow_writing_files": False, "logging_level": "Silent",
        "thread_count": thread_count,
    }  # fmt: skip
    # CatBoost refuses a baseline that only some of the sets have.
    train, *eval_sets = map(without_baseline, pools)
    cb.CatBoost(params).fit(train, eval_set=eval_sets or None)
    labels, sizes = map(labels_of, pools), map(sizes_of, pools)
    columns_by_pool = list(map(DatasetColumns, labels, sizes, recorder.weights))
    for columns in columns_by_pool:
        if columns.weights is not None:
            query_weights_of_pool(columns.weights, columns.group_sizes)  # to refuse weights that vary within a query
    return columns_by_pool


def sizes_of(pool: cb.Pool) -> Array:
    """Return the number of rows of each group of a Pool."""
    ids = pool.get_group_id_hash()
    if ids is None:
        msg = "the Pool has no group ids, so its rows belong to no query."
        raise InputError(msg, hint="catboost.Pool(X, labels, group_id=qid)")
    return np.diff(np.flatnonzero(np.r_[True, ids[1:] != ids[:-1], True]))


def query_weights_of_pool(row_weights: Array, group_sizes: Array) -> Array:
    """Return the weight of each query; weights that vary within a query are refused."""
    hint = "catboost.Pool(..., group_weight=weights), since no objective supports row weights"
    queries = Queries(np.zeros(row_weights.size), group_sizes=group_sizes)
    return queries.weights_per_query("weight= of the Pool", row_weights, hint=hint)


class _WeightRecorder:
    """A metric that records the weights that CatBoost passes for each set."""

    no_jit = True  # otherwise CatBoost warns that numba cannot compile these methods

    def __init__(self) -> None:
        self.weights: list[Array | None] = []

    def is_max_optimal(self) -> bool:
        return True

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        del approxes, target
        self.weights.append(None if weight is None else np.array(weight, np.float32))
        return 0.0, 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        del weight
        return error

    def __deepcopy__(self, memo: dict[int, Any]) -> _WeightRecorder:
        """Return the same object, because CatBoost copies its parameters, and the copy would record the weights."""
        del memo
        return self
