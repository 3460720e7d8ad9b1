"""Random events in the life of an objective's callback, whose gradients are those of `ra.objectives.gradients`."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

import rankadapters as ra
from tests.fuzz.callback_machine import PLACES, SEEDS, DatasetMachine, Held

# None of them draws at random or learns from round to round.
VALUES = (
    ra.objectives.lightgbm.lambdarank(), ra.objectives.lightgbm.lambdarank().replace(sigmoid="exact"),
    ra.objectives.xgboost.ndcg(), ra.objectives.catboost.pair_logit(), ra.objectives.QueryRMSE(),
    ra.objectives.catboost.query_soft_max(),
)  # fmt: skip


class Known(NamedTuple):
    """What a dataset said when a callback first saw it."""

    held: Held
    labels: np.ndarray
    sizes: np.ndarray
    weights: np.ndarray | None

    def is_true(self) -> bool:
        pairs = ((self.labels, self.held.labels), (self.sizes, self.held.sizes), (self.weights, self.held.weights))
        return all(np.array_equal(old, new) if old is not None else new is None for old, new in pairs)


class ObjectiveMachine(DatasetMachine):
    """Callbacks by number, and which datasets each has seen: what these say may not change until it is reset."""

    make_objective: ClassVar[Callable[..., Any]]

    def __init__(self) -> None:
        super().__init__()
        self.callbacks: list[tuple[Any, dict[int, Known]]] = []

    def factors(self, held: Held) -> list[Any]:
        raise NotImplementedError

    @rule(value=st.sampled_from(VALUES))
    def new_callback(self, value: Any) -> None:
        self.callbacks = [*self.callbacks[-3:], (type(self).make_objective(value, n_threads=1), {})]

    @precondition(lambda self: self.callbacks)
    @rule(which=PLACES, how=st.sampled_from([copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]))
    def another_callback(self, which: int, how: Callable[[Any], Any]) -> None:
        callback, known = self.callbacks[which % len(self.callbacks)]
        self.callbacks = [*self.callbacks[-3:], (how(callback), known if how is copy.copy else {})]

    @precondition(lambda self: self.callbacks)
    @rule(which=PLACES)
    def reset(self, which: int) -> None:
        callback, known = self.callbacks[which % len(self.callbacks)]
        callback.reset()
        known.clear()

    def forget(self, held: Held) -> None:
        for _, known in self.callbacks:
            known.pop(id(held.made), None)

    @precondition(lambda self: self.callbacks and self.held)
    @rule(which=PLACES, place=PLACES, seed=SEEDS)
    def differentiate(self, which: int, place: int, seed: int) -> None:
        self.compare(*self.callbacks[which % len(self.callbacks)], self.held[place % len(self.held)], seed)

    @precondition(lambda self: self.callbacks and len(self.held) > 1)
    @rule(which=PLACES, seed=SEEDS)
    def differentiate_in_threads(self, which: int, seed: int) -> None:
        callback, known = self.callbacks[which % len(self.callbacks)]
        with ThreadPoolExecutor(4) as pool:
            done = [pool.submit(self.compare, callback, known, held, seed) for held in self.held]
        for each in done:
            each.result()

    def compare(self, callback: Any, known: dict[int, Known], held: Held, seed: int) -> None:
        scores = (np.random.default_rng(seed).integers(-9, 9, held.labels.size) / 8).astype(np.float32)
        before = known.setdefault(
            id(held.made), Known(held, held.labels.copy(), held.sizes.copy(), _copied(held.weights))
        )
        try:
            found = callback(scores, held.made)
        except ra.InputError as error:
            assert "changed after round" in str(error)
            assert not before.is_true()
            return
        assert before.is_true(), "what the dataset says has changed, and the callback has not noticed"
        value = callback.objective
        expected = ra.objectives.gradients(held.labels, scores, value, group_sizes=held.sizes)
        for factor in self.factors(held) if value.uses_weights else []:
            expected = [each * np.asarray(factor, np.float32) for each in expected]
        assert [each.tobytes() for each in found] == [each.tobytes() for each in expected]


def _copied(weights: np.ndarray | None) -> np.ndarray | None:
    return None if weights is None else weights.copy()
