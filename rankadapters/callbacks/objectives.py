"""The shared part of objective callbacks: gradients bound to a toolkit's datasets, and state across rounds."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from rankadapters.callbacks.dataset_columns import DatasetColumns, flat
from rankadapters.core.arrays import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.evaluation.threads import as_n_threads
from rankadapters.objectives.base import Objective, as_objective
from rankadapters.objectives.position_bias import AddedBiases, PairRatios, PositionBias, as_position_bias

if TYPE_CHECKING:
    from rankadapters.objectives.bound_gradients import Gradients
    from rankadapters.objectives.position_bias import BiasedGradients


class ToolkitObjective:
    """An objective trained on the datasets that a toolkit passes; the toolkits' callbacks add `__call__`.

    It is bound when a dataset first appears. Its state across rounds belongs to the dataset: another of equal columns
    has its own, and a freed dataset leaves none. A pickle, a copy and `reset` start anew.

    Attributes
    ----------
    objective : Objective
        The objective of the training.
    position_bias : PositionBias or None
        The position bias that the training learns and removes from the gradients.
    """

    def __init__(
        self, value: Objective | str, n_threads: int | None, position_bias: PositionBias | str | None = None
    ) -> None:
        self.objective = as_objective(value)
        self.position_bias = as_position_bias(position_bias, self.objective)
        self._n_threads = None if n_threads is None else as_n_threads(n_threads)
        self._learned = SimpleNamespace(latest=None)  # the latest learned bias; shared by copies
        self.reset()

    def __repr__(self) -> str:
        """Show the signatures of the objective and of its position bias."""
        bias = "" if self.position_bias is None else f", position_bias={self.position_bias}"
        return f"objective({self.objective}{bias})"

    def reset(self) -> None:
        """Forget the state of every dataset, to repeat a training with the same random samples or with new labels."""
        self._bound: dict[int, _BoundGradients] = {}

    @property
    def learned_bias(self) -> AddedBiases | PairRatios | None:
        """The position bias that a training with this callback, or with a deep copy of it, has learned so far.

        None before the first round, and without `position_bias`. `AdditiveBias` gives `positions` and their `biases`;
        `BiasRatios` gives the ratios `higher` and `lower` by position.
        """
        learned: AddedBiases | PairRatios | None = self._learned.latest
        return learned

    def _knows(self, owner: object) -> bool:
        """Return whether a dataset is bound already."""
        return id(owner) in self._bound

    def gradients(
        self, owner: object, columns: DatasetColumns, factors: Sequence[Any], scores: Any
    ) -> tuple[Array, Array]:
        """Return gradients and hessians for one dataset."""
        binding = self._binding(owner, columns, factors)
        binding.rounds += 1
        try:
            grad, hess = binding.gradients.gradients(flat(scores))
            for factor in binding.factors:
                grad *= factor
                hess *= factor
            if binding.factors:
                from rankadapters.objectives.bound_gradients import refuse_infinite

                refuse_infinite(grad, hess)
        except InputError as error:
            raise error.about(f"round {binding.rounds}") from None
        if self.position_bias is not None:
            biased = cast("BiasedGradients", binding.gradients)
            biased.learn(grad, hess)
            self._learned.latest = self.position_bias.learned(biased)
        return grad, hess

    def _binding(self, owner: object, columns: DatasetColumns, factors: Sequence[Any]) -> _BoundGradients:
        key = id(owner)
        binding = self._bound.get(key)
        if binding is None:
            bindings = self._bound  # not self, or the weak reference would keep this object alive
            owner_ref = weakref.ref(owner, lambda _: bindings.pop(key, None))
            binding = self._bind(owner_ref, columns, factors)
            self._bound[key] = binding
        elif not binding.columns.equals(columns):
            raise InputError(
                f"labels, groups or weights of the dataset, or its positions, changed after round {binding.rounds} of "
                "its training.",
                hint="reset() before another training, or a new dataset",
            )
        return binding

    def _bind(self, owner_ref: weakref.ref[Any], columns: DatasetColumns, factors: Sequence[Any]) -> _BoundGradients:
        queries = Queries(columns.labels, group_sizes=columns.group_sizes)
        bind: Callable[..., Any] = self.objective.bind
        if self.position_bias is not None:
            bind = partial(self.position_bias.bind, self.objective, positions=columns.positions)
        gradients = bind(queries, n_threads=self._n_threads)
        row_factors = [np.asarray(factor, np.float32) for factor in factors if self.objective.uses_weights]
        return _BoundGradients(owner_ref, copy.deepcopy(columns), gradients, row_factors)

    def __getstate__(self) -> dict[str, Any]:
        """Copy the settings without the datasets and their state."""
        return {**self.__dict__, "_bound": {}}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Copy without state; both share the learned bias, because `lgb.train` trains with a copy."""
        del memo
        return copy.copy(self)


@dataclass(eq=False)
class _BoundGradients:
    owner: weakref.ref[Any]  # the weak reference removes this binding when the dataset is freed
    columns: DatasetColumns  # a copy, because the caller may change or free the arrays
    gradients: Gradients | BiasedGradients
    factors: list[Array]  # multiply the gradients one after another, as in the toolkit; float32, per row or scalar
    rounds: int = 0  # the number of rounds so far
