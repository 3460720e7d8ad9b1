"""The training and the round in which a toolkit calls a metric."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from rankadapters.callbacks.history import History

DEPTH = 12  # most functions between a training's loop and the metric, including wrappers


class Round(NamedTuple):
    """A round of a training."""

    training: object  # the same object for all rounds and sets of a training
    number: int  # rises by 1 from round to round, from any start


class Call(NamedTuple):
    """The context of a metric's call, read from the toolkit's functions."""

    set_name: str | None = None  # the toolkit's name; None if you call the metric yourself
    round: Round | None = None
    set_names: Sequence[str] = ()  # names of all sets of the training, if the toolkit has them
    fold: int | None = None

    def in_fold(self, member: object, folds: Iterable[object]) -> Call:
        """Add the fold's number to the set's name, since all folds of a cross-validation use the same names."""
        number = next(number for number, fold in enumerate(folds) if fold is member)
        return self._replace(set_name=f"{self.set_name}_fold_{number}", fold=number)


class Rounds:
    """Numbers the trainings of a history, and the rounds of each, from 0 on."""

    def __init__(self) -> None:
        self.run = self.iteration = 0
        self._begun: WeakKeyDictionary[Any, tuple[int, int]] = WeakKeyDictionary()  # run and first round by training
        self._by_hand: int | None = None  # run of the calls outside any training
        self._seen: dict[str, int] = {}  # number of these calls by set name

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy nothing: a copy counts its own trainings."""
        return Rounds, ()

    @property
    def at(self) -> dict[str, int]:
        """The training and its round, as in the entries of a history."""
        return {"run": self.run, "iteration": self.iteration}

    def enter(self, history: History, current: Round | None, set_name: str = "") -> None:
        """Set `run` and `iteration`; calls outside any training are one run, with a round each."""
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
    """Yield the local variables of a package's functions on the call stack, nearest first.

    A toolkit passes a metric only predictions and data. The calling functions know which training these belong to.
    """
    frame = inspect.currentframe()
    for _ in range(DEPTH):
        frame = None if frame is None else frame.f_back
        if frame is None:
            return
        if str(frame.f_globals.get("__name__")).partition(".")[0] == package:
            yield frame.f_locals
