"""What the objective callbacks share: gradients bound to the datasets of a toolkit, and state from round to round."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from rankadapters.callbacks.judged import Judged, flat
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.threads import as_n_threads
from rankadapters.objectives.base import Objective, as_objective
from rankadapters.objectives.position_bias import AddedBiases, PairRatios, PositionBias, as_position_bias

if TYPE_CHECKING:
    from rankadapters.objectives.bias_gradients import BiasedGradients
    from rankadapters.objectives.bound_gradients import Gradients

Array = NDArray[Any]


class Training:
    """An objective trained on whichever datasets a toolkit hands over.

    It is bound at the first sight of a dataset, held by weak reference. What it carries from round to round belongs to
    the dataset: a pickle takes it along, for datasets of the same queries; a deep copy and `reset` start anew.
    """

    def __init__(
        self, objective: Objective | str, n_threads: int | None, position_bias: PositionBias | str | None = None
    ) -> None:
        self.objective = as_objective(objective)
        self.position_bias = as_position_bias(position_bias, self.objective)
        self.n_threads = None if n_threads is None else as_n_threads(n_threads)
        self.learned = Learned()
        self.reset()

    def reset(self) -> None:
        """Forget every dataset, and with it what was carried from round to round."""
        self._bound: dict[int, _BoundGradients] = {}
        self._waiting: list[_Carried] = []

    def knows(self, owner: object) -> bool:
        """Tell whether a dataset has been seen, and found fit, before."""
        return id(owner) in self._bound

    def gradients(
        self, owner: object, judged: Judged, factors: Sequence[Any], scores: Any, *, drawn: int = 0
    ) -> tuple[Array, Array]:
        """First and second derivatives for one dataset; a first round there goes on after `drawn` earlier draws."""
        binding = self._binding(owner, judged, factors, drawn)
        binding.rounds[0] += 1
        try:
            grad, hess = binding.gradients.gradients(flat(scores))
            for factor in binding.factors:
                grad *= factor
                hess *= factor
            if binding.factors:
                from rankadapters.objectives.bound_gradients import refuse_infinite

                refuse_infinite(grad, hess)
        except InputError as error:
            raise error.about(f"round {binding.rounds[0]}") from None
        self._learn(binding, grad, hess)
        return grad, hess

    def _learn(self, binding: _BoundGradients, grad: Array, hess: Array) -> None:
        if self.position_bias is not None:
            biased = cast("BiasedGradients", binding.gradients)
            biased.learn(grad, hess)
            self.learned.latest = self.position_bias.learned(biased)

    def _binding(self, owner: object, judged: Judged, factors: Sequence[Any], drawn: int) -> _BoundGradients:
        key = id(owner)
        binding = self._bound.get(key)
        if binding is None:
            bound = self._bound  # the dict and not this object, which a dataset must not keep alive
            gone = weakref.ref(owner, lambda _: bound.pop(key, None))
            binding = self._bind(gone, judged, factors, drawn)._replace(judged=judged.copied())
            self._bound[key] = binding
        elif not binding.judged.says(judged):
            rounds = binding.rounds[0]
            msg = (
                f"labels, groups or weights of the dataset, or its positions, changed after round {rounds} of its "
                "training.\nHint: reset() before another training, or a new dataset."
            )
            raise InputError(msg)
        return binding

    def _bind(self, gone: weakref.ref[Any], judged: Judged, factors: Sequence[Any], drawn: int) -> _BoundGradients:
        queries = Queries(judged.labels, group_sizes=judged.group_sizes)
        carried = self._claim(_digest(queries, judged.positions))
        bind = self.objective.bind if self.position_bias is None else self._bind_biased(judged.positions)
        gradients = bind(queries, n_threads=self.n_threads, state=carried and carried.state)
        if carried is None:
            gradients.skip(drawn)
        kept = [np.asarray(factor, np.float32) for factor in factors if self.objective.uses_weights]
        return _BoundGradients(gone, judged, gradients, kept, [carried.rounds if carried else 0])

    def _bind_biased(self, positions: Array | None) -> Callable[..., BiasedGradients]:
        return partial(cast("PositionBias", self.position_bias).bind, self.objective, positions=positions)

    def _claim(self, digest: int) -> _Carried | None:
        """Find what a pickle brought along for a dataset of these queries."""
        for place, carried in enumerate(self._waiting):
            if carried.digest == digest:
                return self._waiting.pop(place)
        return None

    def __getstate__(self) -> dict[str, Any]:
        """Keep what was declared and carried, not what was bound."""
        carried = [
            _Carried(
                _digest(binding.gradients.queries, binding.judged.positions),
                binding.gradients.state.copy(),
                binding.rounds[0],
            )
            for binding in self._bound.values()
        ]
        return {**self.__dict__, "_bound": {}, "_waiting": [*self._waiting, *carried]}

    def __deepcopy__(self, memo: dict[int, Any]) -> Training:
        """Start anew, and let the original tell what the copy learns: `lgb.train` trains by a copy."""
        del memo
        copied = Training(self.objective, self.n_threads, self.position_bias)
        copied.learned = self.learned
        return copied


class Trained:
    """What the objective callbacks of all toolkits are; each adds how its toolkit calls it."""

    def __init__(
        self, value: Objective | str, n_threads: int | None, position_bias: PositionBias | str | None = None
    ) -> None:
        self._training = Training(value, n_threads, position_bias)

    @property
    def objective(self) -> Objective:
        """What is trained under."""
        return self._training.objective

    @property
    def position_bias(self) -> PositionBias | None:
        """What is taken out of the objective."""
        return self._training.position_bias

    @property
    def learned_bias(self) -> AddedBiases | PairRatios | None:
        """What was learned of the positions up to the last round, of this callback's or of a deep copy's training.

        None before the first round, and without `position_bias`. Under `AdditiveBias` its `positions` and their
        `biases`; under `BiasRatios`, by position, the ratios `higher` and `lower`.
        """
        return self._training.learned.latest

    def __repr__(self) -> str:
        """Show the signatures."""
        bias = "" if self.position_bias is None else f", position_bias={self.position_bias}"
        return f"objective({self.objective}{bias})"

    def reset(self) -> None:
        """Start anew on every dataset: for objectives that draw at random, and after labels changed."""
        self._training.reset()


class Learned:
    """Where a training leaves what it learned of the positions."""

    latest: AddedBiases | PairRatios | None = None


def _digest(queries: Queries, positions: Array | None) -> int:
    return queries.digest if positions is None else queries.digest ^ crc32(np.asarray(positions).tobytes())


class _Carried(NamedTuple):
    digest: int
    state: Array
    rounds: int


class _BoundGradients(NamedTuple):
    owner: weakref.ref[Any]  # its callback removes the binding when the dataset goes
    judged: Judged
    gradients: Gradients | BiasedGradients
    factors: list[Array]  # float32, per row or one for all, multiplied one after the other as the toolkit does
    rounds: list[int]  # one entry: rounds so far
