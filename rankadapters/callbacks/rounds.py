"""Which training calls a metric, and in which of its rounds."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from rankadapters.callbacks.history import History

DEPTH = 12  # functions between a training's loop and the metric, with room for wrappers


class Round(NamedTuple):
    """A round of a training."""

    training: object  # one for all rounds and sets of a training
    number: int  # rises by 1 from round to round, from wherever


class Call(NamedTuple):
    """What a toolkit's functions know of the call of a metric."""

    set_name: str | None = None  # as the toolkit shows it; None where the metric is called by hand
    round: Round | None = None
    set_names: Sequence[str] = ()  # of all sets of the training, where the toolkit tells them
    fold: int | None = None

    def in_fold(self, member: object, folds: Iterable[object]) -> Call:
        """Add the number of the fold to the name of the set: the folds of a cross-validation show the same names."""
        number = next(number for number, fold in enumerate(folds) if fold is member)
        return self._replace(set_name=f"{self.set_name}_fold_{number}", fold=number)


class Rounds:
    """Numbers trainings by the history that they report into, and the rounds of each from 0 on."""

    def __init__(self) -> None:
        self.run = self.iteration = 0
        self._begun: WeakKeyDictionary[Any, tuple[int, int]] = WeakKeyDictionary()  # run and first round of trainings
        self._by_hand: int | None = None  # run of the calls that are of no training
        self._seen: dict[str, int] = {}  # those calls by name of the set

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy nothing: a copy has trainings of its own."""
        return Rounds, ()

    @property
    def at(self) -> dict[str, int]:
        """The training and its round, as entries of a history have them."""
        return {"run": self.run, "iteration": self.iteration}

    def enter(self, history: History, current: Round | None, set_name: str = "") -> None:
        """Set `run` and `iteration`; calls that are of no training count as one run, a round each."""
        if current is None:
            if self._by_hand is None:
                self._by_hand = _next_run(history)
            self.run, self.iteration = self._by_hand, self._seen.get(set_name, 0)
            self._seen[set_name] = self.iteration + 1
            return
        if current.training not in self._begun:
            self._begun[current.training] = _next_run(history), current.number
        self.run, first = self._begun[current.training]
        self.iteration = current.number - first


def _next_run(history: History) -> int:
    return max(history.runs, default=-1) + 1


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
