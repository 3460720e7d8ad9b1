"""A Pool on which CatBoost grows one tree after the other, and what a Pool says of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import catboost as cb
import numpy as np
from numpy.typing import NDArray

from rankadapters.callbacks.judged import Judged
from rankadapters.catboost.training_params import TrainingParams
from rankadapters.core.data.columns import Array
from rankadapters.core.errors import InputError

Floats = NDArray[np.float64]

FAINT = 2.0**-60  # share of a row's gradient below which its hessian changes no sum
COARSE = 1e-3  # share of the largest gradient that may be lost to float32


class BoostedPool:
    """A copy of a Pool, quantized once.

    A tree of CatBoost's RMSE on targets z = -gradient / hessian and weights hessian is a Newton step. Labels cannot be
    set on a quantized Pool, but a baseline can: `labels - z` leaves z to be learnt.

    `quantization` are parameters for `Pool.quantize`; `random_seed` chooses the rows that give the borders, where there
    are many.
    """

    def __init__(self, pool: cb.Pool, quantization: Mapping[str, Any], random_seed: int) -> None:
        self.features = copied(pool)
        if quantization and pool.is_quantized():
            msg = (
                f"{min(quantization)} has no place: the Pool is quantized already.\n"
                "Hint: hand it to Pool.quantize, or train on the Pool as it was before."
            )
            raise InputError(msg)
        if not pool.is_quantized():
            self.features.quantize(random_seed=random_seed, **quantization)
        self._grown = copied(self.features)
        self._grown.set_group_weight(np.ones(pool.num_row()))  # whose weights are among the hessians
        self._labels = labels_of(pool)

    def grow(self, grad: Array, hess: Array, mean_weight: float, params: TrainingParams, place: int) -> cb.CatBoost:
        """Grow one tree by derivatives that are multiplied by weights of this mean already."""
        weight = np.maximum(hess, np.abs(grad) * np.float32(FAINT), dtype=np.float32)
        wanted = np.divide(-grad, weight, out=np.zeros(weight.size), where=weight > 0, dtype=np.float64)
        baseline = (self._labels - wanted).astype(np.float32)
        if not place:
            self._refuse_coarse(baseline, wanted, weight)
        # Row by row CatBoost reads a list of tuples in a quarter of the time that an array takes it.
        self._grown._set_baseline(list(zip(baseline.tolist())))  # noqa: SLF001 - set_baseline makes it an array
        self._grown.set_weight(weight.tolist())
        of_tree = params.of_tree(place, weight.size, float(np.mean(weight, dtype=np.float64)) / mean_weight)
        return cb.CatBoost(of_tree).fit(self._grown)

    def _refuse_coarse(self, baseline: Array, wanted: Floats, weight: Array) -> None:
        lost = np.abs(self._labels - baseline - wanted) * weight
        if lost.max() > COARSE * np.abs(wanted * weight).max():
            row = int(np.argmax(np.abs(self._labels)))
            msg = (
                f"labels[{row}] is {self._labels[row]:g}, beside which the steps of the objective are lost in the "
                "float32 of a baseline.\nHint: map the labels to small numbers, which the objective's gains may undo."
            )
            raise InputError(msg, row=row)


def copied(pool: cb.Pool) -> cb.Pool:
    """Copy a Pool, of which the features are shared."""
    return pool.slice(np.arange(pool.num_row()))


def without_baseline(pool: cb.Pool) -> cb.Pool:
    """Copy a Pool without its baseline."""
    return copied(pool).set_baseline(np.empty((pool.num_row(), 0)))


def predicted(model: cb.CatBoost, features: cb.Pool) -> Floats:
    """Predict on a Pool without a baseline, which CatBoost would add.

    A Pool that is quantized to more than 255 borders of a feature is refused: CatBoost trains on such a Pool, but has
    no code that predicts on it.
    """
    try:
        return np.asarray(cb.CatBoost.predict(model, features, prediction_type="RawFormulaVal"))
    except cb.CatBoostError as error:
        if not features.is_quantized() or "IDynamicBlockIterator" not in str(error):
            raise
        msg = (
            "the Pool is quantized with more than 255 borders of a feature. CatBoost cannot predict on such a Pool, "
            "and every round needs the predictions of its tree.\n"
            "Hint: hand over the Pool as it was before Pool.quantize, and params={'border_count': 1024}."
        )
        raise InputError(msg) from None


def baseline_of(pool: cb.Pool) -> Floats | None:
    """Give the scores that a Pool starts from; None where it has no baseline."""
    baseline = pool.get_baseline()
    if baseline.shape[1] > 1:
        msg = f"the Pool has a baseline of {baseline.shape[1]} columns, but a ranking has one score per row."
        raise InputError(f"{msg}\nHint: catboost.Pool(X, labels, group_id=qid, baseline=scores).")
    return np.asarray(baseline[:, 0], np.float64) if baseline.shape[1] else None


def labels_of(pool: cb.Pool) -> Floats:
    """Give the labels of a Pool."""
    found = pool.get_label()
    if found is None or np.ndim(found) != 1:
        what = "no labels" if found is None else f"labels of shape {np.shape(found)}"
        msg = f"the Pool has {what}, but one label per row is needed.\nHint: catboost.Pool(X, labels, group_id=qid)."
        raise InputError(msg)
    return np.asarray(found, np.float64)


def judged_pools(pools: Sequence[cb.Pool], thread_count: int) -> list[Judged]:
    """Read what Pools say of their rows; the first one is quantized, and not all of its labels are equal.

    A Pool does not give back its group weights, but CatBoost hands the weights of its rows to a metric.
    """
    seen = _SeenWeights()
    params = {
        "iterations": 1, "depth": 1, "loss_function": "RMSE", "eval_metric": seen, "has_time": True,
        "boost_from_average": False, "bootstrap_type": "No", "allow_writing_files": False, "logging_level": "Silent",
        "thread_count": thread_count,
    }  # fmt: skip
    # CatBoost wants a baseline of all sets or of none.
    train, *others = [pool if baseline_of(pool) is None else without_baseline(pool) for pool in pools]
    cb.CatBoost(params).fit(train, eval_set=others or None)
    found = [
        Judged(labels_of(pool), sizes_of(pool), weights) for pool, weights in zip(pools, seen.weights, strict=True)
    ]
    for judged in found:
        if judged.weights is not None:
            weights_of_queries(judged.weights, judged.group_sizes)  # which refuses those that vary
    return found


def sizes_of(pool: cb.Pool) -> Array:
    """Give the number of rows of each group of a Pool."""
    ids = pool.get_group_id_hash()
    if ids is None:
        msg = (
            "the Pool has no group ids, so its rows belong to no query.\nHint: catboost.Pool(X, labels, group_id=qid)."
        )
        raise InputError(msg)
    starts = np.flatnonzero(np.r_[True, ids[1:] != ids[:-1]])
    return np.diff(np.r_[starts, len(ids)])


def weights_of_queries(row_weights: Array, group_sizes: Array) -> Array:
    """Give each query the weight of its rows."""
    first: Array = row_weights[np.cumsum(group_sizes) - group_sizes]
    other = row_weights != np.repeat(first, group_sizes)
    if other.any():
        row = int(np.argmax(other))
        msg = (
            f"weight= of the Pool varies within a query, at row {row}, and no objective takes weights of rows.\n"
            "Hint: catboost.Pool(..., group_weight=weights)."
        )
        raise InputError(msg, row=row)
    return first


class _SeenWeights:
    """A metric that keeps the weights it is handed, set after set."""

    no_jit = True  # CatBoost would warn that numba cannot compile these methods

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

    def __deepcopy__(self, memo: dict[int, Any]) -> _SeenWeights:
        """Keep what it sees: CatBoost copies its parameters."""
        del memo
        return self
