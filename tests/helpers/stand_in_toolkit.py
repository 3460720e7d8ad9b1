"""A toolkit that is always installed, and whose number is ours plus a shift."""

from __future__ import annotations

import rankadapters as ra
from rankadapters.parity import Toolkit
from rankadapters.parity.trainers import Trainer


class StandIn(Toolkit):
    """Its words for a convention are the convention."""

    version = "0"

    def __init__(self, shift=0.0):
        self.shift = shift

    def nearest(self, convention):
        return convention, convention

    def names(self, words):
        return "its ndcg", "its ndcg"

    def ask(self, held, words):
        return ra.evaluate(held.queries, held.scores, words).value + self.shift


class StandInTrainer(Trainer):
    """Trains by a function of the task and the words."""

    def train(self, task, words):
        return self.made["train"](task, words), None


def trainer(
    name,
    *,
    train=lambda task, words: task.test.X[:, 0],
    shift=0.0,
    package="numpy",
    model="StandIn",
    convention=ra.presets.yahoo,
):
    """Make one whose model scores by the first feature, or by what `train` gives."""
    return StandInTrainer(name, (package,), model, convention, {"train": train}, load=lambda _: StandIn(shift))
