"""Which training calls a metric, and in which of its rounds."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

from rankadapters.callbacks.history import History

DEPTH = 12  # functions between a training's loop and the metric, with room for wrappers


class Round(NamedTuple):
    """A round of a training."""

    training: object  # one for all rounds and sets of a training
    number: int  # rises by 1 from round to round, from wherever


class Rounds:
    """Numbers trainings by the history that they report into, and the rounds of each from 0 on."""

    def __init__(self) -> None:
        self.run = self.iteration = 0
        self._training: weakref.ref[Any] | None = None
        self._first: int | None = None  # number of the run's first round; None before the first run
        self._seen: dict[int, int] = {}  # calls by place of the set, where no training tells the round

    def enter(self, history: History, current: Round | None, place: int = 0) -> None:
        """Set `run` and `iteration`; calls that are of no training count as one run, a round each."""
        training = None if current is None else current.training
        if self._first is None or training is not self._known():
            self.run = max(history.runs, default=-1) + 1
            self._training = None if training is None else weakref.ref(training)
            self._first = 0 if current is None else current.number
            self._seen = {}
        if current is None:
            self.iteration = self._seen.get(place, 0)
            self._seen[place] = self.iteration + 1
        else:
            self.iteration = current.number - self._first

    def _known(self) -> object:
        """The training of the last call; for one that is gone, something that no training is."""
        if self._training is None:
            return None
        training = self._training()
        return self if training is None else training


def calling(package: str) -> Iterator[dict[str, Any]]:
    """Give the local names of a package's functions that are calling, the nearest first.

    A toolkit hands a metric its predictions and its data. Neither says which training they are of: that is known to the
    functions that call.
    """
    frame = inspect.currentframe()
    for _ in range(DEPTH):
        frame = None if frame is None else frame.f_back
        if frame is None:
            return
        if str(frame.f_globals.get("__name__")).partition(".")[0] == package:
            yield frame.f_locals
