"""Which set of a training CatBoost hands to a metric, whose calls tell labels, scores and weights only."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankadapters.callbacks.rounds import calling
from rankadapters.core.data.columns import Array
from rankadapters.core.errors import InputError

LEARN = "learn"

UNKNOWN = (
    "CatBoost evaluates a set of {} rows whose labels are those of none of the sets declared (of {} rows).\n"
    "Hint: sets=[(labels, qid), ...] of every eval_set, and of the training set where it is to be evaluated."
)
PERMUTED = (
    "the labels of set {} arrive in another order than declared: CatBoost permutes the rows that it trains on under "
    "boosting_type='Ordered' and with cat_features, and does not say how.\n"
    "Hint: boosting_type='Plain', has_time=True with cat_features; or sets= of every eval_set alone, its rows as in "
    "its Pool."
)


class EvaluatedSet(NamedTuple):
    """A set that CatBoost evaluates."""

    name: str  # as in CatBoost's log; `set_0` and so on where the metric is called by hand
    place: int | None  # among the declared sets; None is a training set that is not declared


class DeclaredSets:
    """The sets that a metric was told, to be recognised by their labels."""

    def __init__(self, labels: Sequence[Array]) -> None:
        self.labels = list(labels)
        # By address of the labels, which tells sets of equal labels apart and stays the same in every round. A training
        # has a metric of its own, since CatBoost copies its parameters.
        self._evaluated: dict[int, tuple[EvaluatedSet, Array]] = {}

    def recognise(self, labels: Array) -> EvaluatedSet:
        """Find out which set this is, at its first sight in a training and at every call by hand."""
        address = labels.__array_interface__["data"][0]
        evaluated = self._evaluated.get(address)
        if evaluated is not None and np.array_equal(labels, evaluated[1]):
            return evaluated[0]
        training, place = labels_of_the_training(), self._place(labels)
        if training is None:
            if place is None:
                raise self._unknown(labels)
            return EvaluatedSet(f"set_{place}", place)
        name = name_of(labels, training, [known.name for known, _ in self._evaluated.values()])
        if place is None and not (name == LEARN and self._leave_out(labels, training[1:])):
            raise self._unknown(labels)
        self._evaluated[address] = EvaluatedSet(name, place), labels.copy()
        return self._evaluated[address][0]

    def _place(self, labels: Array) -> int | None:
        return next((place for place, known in enumerate(self.labels) if np.array_equal(known, labels)), None)

    def _leave_out(self, labels: Array, eval_sets: Sequence[Array]) -> bool:
        """Tell whether the declared sets leave the training set out, beside eval sets.

        A declared set of as many rows that is no eval set is the training set, with its rows permuted or other labels.
        """
        alike = [known for known in self.labels if known.size == labels.size]
        return bool(eval_sets) and all(any(np.array_equal(known, each) for each in eval_sets) for known in alike)

    def _unknown(self, labels: Array) -> InputError:
        for place, known in enumerate(self.labels):
            if known.size == labels.size and np.array_equal(np.sort(known), np.sort(labels)):
                return InputError(PERMUTED.format(place))
        return InputError(UNKNOWN.format(labels.size, [known.size for known in self.labels]))


def set_names(n_eval_sets: int) -> list[str]:
    """Name the sets of a training as CatBoost's log does: the training set, then the eval sets."""
    if n_eval_sets == 1:
        return [LEARN, "validation"]
    return [LEARN, *(f"validation_{place}" for place in range(n_eval_sets))]


def labels_of_the_training() -> list[Array] | None:
    """Read the labels of the training set and of each eval set from the function of CatBoost that trains.

    None where no training is calling: the metric is called by hand, or by `catboost.cv`, which makes its sets itself.
    """
    for names in calling("catboost"):
        if "train_pool" in names and "test_pool" in names:
            eval_pools = names["test_pool"]
            if not isinstance(eval_pools, list):  # `select_features` has one eval set or None
                eval_pools = [] if eval_pools is None else [eval_pools]
            return [_labels(pool) for pool in (names["train_pool"], *eval_pools)]
    return None


def name_of(labels: Array, sets: Sequence[Array], taken: Container[str]) -> str:
    """Name the set that has these labels, of sets that `labels_of_the_training` gives.

    CatBoost evaluates sets of equal labels in the order of their names, so those whose names are taken came before. An
    eval set keeps its order of rows, so labels of none of the sets are those of the training set in a permuted order.
    """
    names = set_names(len(sets) - 1)
    alike = [name for name, known in zip(names, sets, strict=True) if np.array_equal(known, labels)]
    free = [name for name in alike if name not in taken]
    return (free or alike[-1:] or [LEARN])[0]


def _labels(pool: Any) -> Array:
    return np.asarray(pool.get_label(), np.float32)
