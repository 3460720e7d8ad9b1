"""A toolkit that is always installed, and whose number is ours plus a shift."""

from __future__ import annotations

import rankadapters as ra
from rankadapters.crosscheck.toolkits import Said, Trainer
from rankadapters.parity import Toolkit


class StandIn(Toolkit):
    """Its words for a convention are the convention."""

    version = "0"

    def __init__(self, shift=0.0):
        self.shift = shift

    def nearest(self, convention):
        return convention, convention

    def metric(self, words):
        return "its ndcg"

    def source(self, words):
        return "its ndcg"

    def ask(self, held, words):
        return ra.evaluate(held.queries, held.scores, words).value + self.shift


def first_feature(task, words):
    """A model that scores by the first feature."""
    return Said(task.test.X[:, 0])


def trainer(name, *, train=first_feature, shift=0.0, package="numpy", model="StandIn", convention=ra.presets.yahoo):
    return Trainer(name, (package,), model, convention, train, lambda _: StandIn(shift))
