"""A toolkit that is always installed; its value is ours plus a shift."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np

import rankadapters as ra
from rankadapters.parity import Toolkit, installed


class StandIn(Toolkit):
    """A toolkit whose words for a convention are the convention itself, and whose model is a function of the task."""

    version = np.__version__

    def __init__(self, train, shift):
        self.train_model, self.shift = train, shift

    def nearest(self, convention):
        return convention, convention

    def names(self, words):
        return "its ndcg", "its ndcg"

    def ask(self, data, words):
        return ra.evaluate(data.queries, data.scores, words).value + self.shift

    def train(self, task, words):
        return self.train_model(task), None


def use_stand_in(monkeypatch, name, *, train=lambda task: task.test.X[:, 0], shift=0.0, package="numpy"):
    """Replace a toolkit by a stand-in whose model has the first feature as scores, or those that `train` returns."""
    monkeypatch.setitem(installed.TOOLKITS, name, (package,))
    module = SimpleNamespace(TOOLKIT=StandIn(train, shift))
    monkeypatch.setitem(sys.modules, f"rankadapters.{name}.parity", module)
