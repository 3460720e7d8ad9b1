"""A toolkit that is always installed; its value is ours plus a shift."""

from __future__ import annotations

import rankadapters as ra
from rankadapters.parity import Toolkit
from rankadapters.parity.trainers import Trainer


class StandIn(Toolkit):
    """A toolkit whose words for a convention are the convention itself."""

    version = "0"

    def __init__(self, shift=0.0):
        self.shift = shift

    def nearest(self, convention):
        return convention, convention

    def names(self, words):
        return "its ndcg", "its ndcg"

    def ask(self, data, words):
        return ra.evaluate(data.queries, data.scores, words).value + self.shift


class StandInTrainer(Trainer):
    """A trainer that calls a function of the task and the words."""

    def train(self, task, words):
        return self.made["train"](task, words), None


def stand_in_trainer(
    name,
    *,
    train=lambda task, words: task.test.X[:, 0],
    shift=0.0,
    package="numpy",
    model="StandIn",
    convention=ra.presets.yahoo,
):
    """Return a trainer whose model scores by the first feature, or by the scores that `train` returns."""
    return StandInTrainer(name, (package,), model, convention, {"train": train}, load=lambda _: StandIn(shift))
