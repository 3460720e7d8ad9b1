"""Random events in the life of a toolkit's callback, after each of which its values are those of `ra.evaluate`."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

import rankadapters as ra
from rankadapters.core.kernels.dispatch import NEVER, kernels

CONVENTIONS = tuple(
    map(ra.parse, ("lightgbm@5", "textbook@3", "lightgbm.map@4", "yahoo.err", "xgboost.auc", "pandas.spearman"))
)
SEEDS = st.integers(0, 2**20)
PLACES = st.integers(0, 7)


class Held:
    """A toolkit's dataset and what it should say."""

    def __init__(self, made: Any, sizes: np.ndarray, labels: np.ndarray) -> None:
        self.made, self.sizes, self.labels, self.weights = made, sizes, labels, None


class DatasetMachine(RuleBasedStateMachine):
    """Datasets by number; a toolkit says how its own are made and changed."""

    weights_per_query: ClassVar[bool]

    def __init__(self) -> None:
        super().__init__()
        self._kernels, self._warned = kernels(NEVER), warnings.catch_warnings()
        self._kernels.__enter__()
        self._warned.__enter__()
        warnings.simplefilter("ignore", ra.AboveValuesWarning)
        warnings.filterwarnings("ignore", "the data has weights, but")  # of which textbook@3 counts none
        self.held: list[Held] = []

    def teardown(self) -> None:
        self._warned.__exit__(None, None, None)
        self._kernels.__exit__(None, None, None)

    def make(self, labels: np.ndarray, sizes: np.ndarray) -> Any:
        raise NotImplementedError

    def forget(self, held: Held) -> None:
        """Forget what is known of a dataset."""

    @rule(seed=SEEDS)
    def new_dataset(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 6, rng.integers(1, 5))
        labels = labels_of(rng, sizes.sum())
        self.held.append(Held(self.make(labels, sizes), sizes, labels))

    @precondition(lambda self: self.held)
    @rule(place=PLACES, seed=SEEDS)
    def change_labels(self, place: int, seed: int) -> None:
        held = self.held[place % len(self.held)]
        held.labels = labels_of(np.random.default_rng(seed), held.labels.size)
        held.made.set_label(held.labels)

    @precondition(lambda self: self.held)
    @rule(place=PLACES, seed=SEEDS)
    def change_weights(self, place: int, seed: int) -> None:
        held = self.held[place % len(self.held)]
        n = held.sizes.size if self.weights_per_query else held.labels.size
        # Never all of them 1: LightGBM 4.7 then keeps the weights from before, and says so when it is asked.
        held.weights = np.random.default_rng(seed).choice([0.25, 1.5, 2.5], n)
        held.made.set_weight(held.weights)

    @precondition(lambda self: self.held)
    @rule(place=PLACES, seed=SEEDS)
    def change_queries(self, place: int, seed: int) -> None:
        """Other sizes of as many queries, so that weights by query stay right."""
        held = self.held[place % len(self.held)]
        held.sizes = np.random.default_rng(seed).permutation(held.sizes)
        held.made.set_group(held.sizes)

    @precondition(lambda self: self.held)
    @rule(place=PLACES)
    def drop(self, place: int) -> None:
        self.forget(self.held.pop(place % len(self.held)))
        gc.collect(0)


class CallbackMachine(DatasetMachine):
    """Metrics by number, each compared with `ra.evaluate`."""

    make_metric: ClassVar[Callable[..., Any]]

    def __init__(self) -> None:
        super().__init__()
        self.metrics = [type(self).make_metric(CONVENTIONS, n_threads=1)]

    def query_weights(self, held: Held) -> np.ndarray:
        raise NotImplementedError

    def evaluated(self, metric: Any, held: Held, scores: np.ndarray) -> list[float]:
        raise NotImplementedError

    def expected(self, held: Held, scores: np.ndarray) -> list[float]:
        found = []
        for convention in CONVENTIONS:
            weights = {}
            if held.weights is not None and convention.weighting == "query_weight":
                weights["query_weight"] = self.query_weights(held)
            elif held.weights is not None and convention.weighting == "row_weight":
                by_row = np.repeat(held.weights, held.sizes) if self.weights_per_query else held.weights
                weights["row_weight"] = by_row
            found.append(ra.evaluate(held.labels, scores, convention, group_sizes=held.sizes, **weights).value)
        return found

    def compare(self, metric: Any, held: Held, seed: int) -> None:
        scores = np.random.default_rng(seed).integers(0, 9, held.labels.size) / 8
        found, expected = self.said(self.evaluated, metric, held, scores), self.said(self.expected, held, scores)
        assert found == expected, f"{found} is not {expected}"

    def said(self, evaluate: Callable[..., list[float]], *given: Any) -> list[float] | str:
        try:
            return evaluate(*given)
        except ra.InputError as error:  # no query has a row that is relevant and one that is not
            assert "nothing is left to average" in str(error)
            return "nothing"

    @precondition(lambda self: self.held)
    @rule(place=PLACES, seed=SEEDS, metric=PLACES)
    def evaluate(self, place: int, seed: int, metric: int) -> None:
        self.compare(self.metrics[metric % len(self.metrics)], self.held[place % len(self.held)], seed)

    @rule(metric=PLACES, how=st.sampled_from([copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]))
    def another_metric(self, metric: int, how: Callable[[Any], Any]) -> None:
        self.metrics = [*self.metrics[-3:], how(self.metrics[metric % len(self.metrics)])]

    @rule(metric=PLACES, seed=SEEDS)
    def pickle_is_empty(self, metric: int, seed: int) -> None:
        assert pickle.loads(pickle.dumps(self.metrics[metric % len(self.metrics)])).history == []

    @precondition(lambda self: len(self.held) > 1)
    @rule(metric=PLACES, seed=SEEDS)
    def evaluate_in_threads(self, metric: int, seed: int) -> None:
        chosen = self.metrics[metric % len(self.metrics)]
        n_before = len(chosen.history)
        with ThreadPoolExecutor(4) as pool:
            done = [pool.submit(self.compare, chosen, held, seed + place) for place, held in enumerate(self.held * 2)]
        for each in done:
            each.result()
        assert (len(chosen.history) - n_before) % len(CONVENTIONS) == 0


def labels_of(rng: np.random.Generator, n: int) -> np.ndarray:
    """Labels of which one at least is not 0, so that a pooled measure has a value."""
    labels = rng.integers(0, 4, n).astype(float)
    labels[rng.integers(0, n)] = 1.0
    return labels
