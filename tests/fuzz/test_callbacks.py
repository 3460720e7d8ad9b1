"""Callbacks of LightGBM and XGBoost under random sequences of events."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import get_state_machine_test, rule

import rankadapters as ra
from tests.fuzz.budget import share
from tests.fuzz.callback_machine import CONVENTIONS, PLACES, SEEDS, CallbackMachine, Held, labels_of
from tests.fuzz.objective_machine import ObjectiveMachine

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")
from rankadapters.lightgbm.metrics import query_weights  # noqa: E402 - after the skip

STEPS = settings(share(0.003), stateful_step_count=12)


class LightGBMData:
    weights_per_query = False

    def make(self, labels, sizes):
        found = lgb.Dataset(np.zeros((labels.size, 1)), label=labels, group=sizes, params={"verbosity": -1})
        return found.construct()


class XGBoostData:
    weights_per_query = True

    def make(self, labels, sizes):
        return xgb.DMatrix(np.zeros((labels.size, 1)), label=labels, group=sizes)


class LightGBMMachine(LightGBMData, CallbackMachine):
    make_metric = staticmethod(ra.lightgbm.eval_metric)

    def __init__(self) -> None:
        super().__init__()
        self.buffer = Held(None, np.array([3, 2]), np.array([1.0, 0, 2, 0, 1]))

    def query_weights(self, held):
        return query_weights(held.weights, held.sizes)

    def evaluated(self, metric, held, scores):
        if held.made is None:  # as LGBMRanker calls it
            return [value for _, value, _ in metric(held.labels, scores, held.weights, held.sizes)]
        return [value for _, value, _ in metric(scores, held.made)]

    @rule(metric=PLACES, seed=SEEDS, changed=st.booleans(), weighted=st.booleans())
    def evaluate_arrays(self, metric, seed, changed, weighted):
        """Labels in an array that the caller may write into between two calls."""
        rng = np.random.default_rng(seed)
        if changed:
            self.buffer.labels[:] = labels_of(rng, 5)
            self.buffer.sizes[:] = self.buffer.sizes[::-1].copy()
        self.buffer.weights = rng.choice([0.5, 1.0], 5) if weighted else None
        self.compare(self.metrics[metric % len(self.metrics)], self.buffer, seed)


class XGBoostMachine(XGBoostData, CallbackMachine):
    make_metric = staticmethod(ra.xgboost.custom_metric)

    def query_weights(self, held):
        return held.weights

    def evaluated(self, metric, held, scores):
        found = dict(metric(scores, held.made))
        return [found[convention.name] for convention in CONVENTIONS]


class LightGBMObjectiveMachine(LightGBMData, ObjectiveMachine):
    make_objective = staticmethod(ra.lightgbm.objective)

    def factors(self, held):
        return [] if held.weights is None else [held.weights]


class XGBoostObjectiveMachine(XGBoostData, ObjectiveMachine):
    make_objective = staticmethod(ra.xgboost.objective)

    def factors(self, held):
        if held.weights is None:
            return []
        return [
            np.repeat(held.weights, held.sizes),
            held.weights.size / held.weights.astype(np.float32).sum(dtype=float),
        ]


test_callbacks_of_lightgbm = get_state_machine_test(LightGBMMachine, settings=STEPS)
test_callbacks_of_xgboost = get_state_machine_test(XGBoostMachine, settings=STEPS)
test_objectives_of_lightgbm = get_state_machine_test(LightGBMObjectiveMachine, settings=STEPS)
test_objectives_of_xgboost = get_state_machine_test(XGBoostObjectiveMachine, settings=STEPS)
