"""A metric and an objective that fail in one round on one worker of a Dask cluster."""

from __future__ import annotations

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")


class FailingFunction:
    """A function whose call number `call` fails on worker 0."""

    order, before_iteration = 50, False  # as a LightGBM callback, run after all others

    def __init__(self, call):
        self.call, self.calls = call, 0

    def __deepcopy__(self, memo):
        return self

    def count_call(self):
        self.calls += 1
        if self.calls == self.call and distributed.get_worker().name == 0:
            raise RuntimeError("deliberate")


class FailingMetric(FailingFunction):
    """A metric of LightGBM."""

    def __call__(self, y_true, y_pred, weight, group):
        self.count_call()
        return "deliberate", 0.0, True


class FailingObjective(FailingFunction):
    """An objective of XGBoost."""

    def __call__(self, preds, dmatrix):
        self.count_call()
        return preds - dmatrix.get_label(), np.ones_like(preds)
