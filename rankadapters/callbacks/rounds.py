"""Find the training and the round in which a toolkit calls a metric."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from rankadapters.callbacks.history import History

DEPTH = 12  # functions on the call stack to search for the training's loop, including wrappers


class Round(NamedTuple):
    """A round of a training."""

    training: object  # the same object for all rounds and sets of a training
    number: int  # increases by 1 every round; the first need not be 0


class Call(NamedTuple):
    """The set, round and fold for which a toolkit calls a metric, read from the call stack."""

    set_name: str | None = None  # the toolkit's name; None if you call the metric yourself
    round: Round | None = None
    set_names: Sequence[str] = ()  # names of all sets of the training, if the toolkit provides them
    fold: int | None = None

    def in_fold(self, member: object, folds: Iterable[object]) -> Call:
        """Add the fold's number to the set's name, since all folds of a cross-validation use the same names."""
        number = next(number for number, fold in enumerate(folds) if fold is member)
        return self._replace(set_name=f"{self.set_name}_fold_{number}", fold=number)


class Rounds:
    """Numbers the trainings in a history, and the rounds of each training, from 0 on."""

    def __init__(self) -> None:
        self.run = self.iteration = 0
        self._trainings: WeakKeyDictionary[Any, tuple[int, int]] = WeakKeyDictionary()  # run and first round of each
        self._manual_run: int | None = None  # index of the run that has all metric calls made outside a training
        self._manual_calls: dict[str, int] = {}  # number of such metric calls by set name

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy without any state, because a copy numbers its own trainings."""
        return Rounds, ()

    @property
    def at(self) -> dict[str, int]:
        """The current run and iteration, as `Evaluation` takes them."""
        return {"run": self.run, "iteration": self.iteration}

    def enter(self, history: History, current: Round | None, set_name: str = "") -> None:
        """Set `run` and `iteration`; calls outside a training are one run, with an iteration for each call of a set."""
        if current is None:
            if self._manual_run is None:
                self._manual_run = _next_run(history)
            self.run, self.iteration = self._manual_run, self._manual_calls.get(set_name, 0)
            self._manual_calls[set_name] = self.iteration + 1
            return
        if current.training not in self._trainings:
            self._trainings[current.training] = _next_run(history), current.number
        self.run, first = self._trainings[current.training]
        self.iteration = current.number - first


def _next_run(history: History) -> int:
    return max(history.runs, default=-1) + 1


def calling(package: str) -> Iterator[dict[str, Any]]:
    """Yield the local variables of every function of a package on the call stack, innermost first.

    A toolkit passes a metric only predictions and data. The calling functions know which training these belong to.
    """
    frame = inspect.currentframe()
    for _ in range(DEPTH):
        frame = None if frame is None else frame.f_back
        if frame is None:
            return
        if str(frame.f_globals.get("__name__")).partition(".")[0] == package:
            yield frame.f_locals
