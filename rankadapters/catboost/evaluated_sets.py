"""Recognize by its labels which dataset CatBoost evaluates, since CatBoost passes a metric no dataset name."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankadapters.callbacks.rounds import calling
from rankadapters.core.data.columns import Array
from rankadapters.core.errors import InputError

LEARN = "learn"

UNKNOWN = (
    "CatBoost evaluates a set of {} rows whose labels match none of the declared sets (of {} rows).\n"
    "Hint: sets=[(labels, qid), ...] of every eval_set, and of the training set if you want it evaluated."
)
PERMUTED = (
    "the labels of set {} arrive in a different order than declared: CatBoost permutes training rows under "
    "boosting_type='Ordered' and with cat_features, and does not reveal the permutation.\n"
    "Hint: boosting_type='Plain', has_time=True with cat_features; or sets= of every eval_set alone, its rows as in "
    "its Pool."
)


class EvaluatedSet(NamedTuple):
    """A dataset that CatBoost evaluates."""

    name: str  # as in CatBoost's log; `set_0` and so on if you call the metric yourself
    set_index: int | None  # index among the declared sets; None for a training set that is not declared


class DeclaredSets:
    """The declared sets of a metric, recognized by their labels."""

    def __init__(self, labels: Sequence[Array]) -> None:
        self.labels = list(labels)
        # The key is the memory address of the labels, which differs for sets of equal labels and is the same in every
        # round. The dict is empty when a training starts, since CatBoost copies the metric.
        self._evaluated: dict[int, tuple[EvaluatedSet, Array]] = {}

    def recognize(self, labels: Array) -> EvaluatedSet:
        """Return the set with these labels, which is then cached for the rest of the training."""
        address = labels.__array_interface__["data"][0]
        evaluated = self._evaluated.get(address)
        if evaluated is not None and np.array_equal(labels, evaluated[1]):
            return evaluated[0]
        training, index = labels_of_the_training(), self._index(labels)
        if training is None:
            if index is None:
                raise self._unknown(labels)
            return EvaluatedSet(f"set_{index}", index)
        name = name_of(labels, training, [past.name for past, _ in self._evaluated.values()])
        if index is None and not (name == LEARN and self._omit_training_set(labels, training[1:])):
            raise self._unknown(labels)
        self._evaluated[address] = EvaluatedSet(name, index), labels.copy()
        return self._evaluated[address][0]

    def _index(self, labels: Array) -> int | None:
        return next((index for index, declared in enumerate(self.labels) if np.array_equal(declared, labels)), None)

    def _omit_training_set(self, labels: Array, eval_sets: Sequence[Array]) -> bool:
        """Return whether only eval sets are declared, and not the training set, which has these labels.

        A declared set of its size that is not an eval set must be the training set, permuted or mislabeled.
        """
        same_size = [declared for declared in self.labels if declared.size == labels.size]
        return bool(eval_sets) and all(any(np.array_equal(a, b) for b in eval_sets) for a in same_size)

    def _unknown(self, labels: Array) -> InputError:
        for index, declared in enumerate(self.labels):
            if declared.size == labels.size and np.array_equal(np.sort(declared), np.sort(labels)):
                return InputError(PERMUTED.format(index))
        return InputError(UNKNOWN.format(labels.size, [declared.size for declared in self.labels]))


def set_names(n_eval_sets: int) -> list[str]:
    """Return the names of a training's sets in CatBoost's log: the training set, then the eval sets."""
    if n_eval_sets == 1:
        return [LEARN, "validation"]
    return [LEARN, *(f"validation_{index}" for index in range(n_eval_sets))]


def labels_of_the_training() -> list[Array] | None:
    """Read the labels of the training set and of each eval set from CatBoost's training function on the call stack.

    None outside a training: you call the metric yourself, or `catboost.cv` calls it, which makes its own sets.
    """
    for names in calling("catboost"):
        if "train_pool" in names and "test_pool" in names:
            eval_pools = names["test_pool"]
            if not isinstance(eval_pools, list):  # `select_features` passes one Pool or None
                eval_pools = [] if eval_pools is None else [eval_pools]
            return [_labels(pool) for pool in (names["train_pool"], *eval_pools)]
    return None


def name_of(labels: Array, sets: Sequence[Array], taken: Container[str]) -> str:
    """Return the log's name for the set with these labels; `sets` is the result of `labels_of_the_training`.

    CatBoost evaluates sets of equal labels in the order of their names, so names in `taken` came before. Only the
    training set can have permuted rows, so labels that match no set belong to the training set.
    """
    names = set_names(len(sets) - 1)
    matches = [name for name, declared in zip(names, sets, strict=True) if np.array_equal(declared, labels)]
    free = [name for name in matches if name not in taken]
    return (free or matches[-1:] or [LEARN])[0]


def _labels(pool: Any) -> Array:
    return np.asarray(pool.get_label(), np.float32)
