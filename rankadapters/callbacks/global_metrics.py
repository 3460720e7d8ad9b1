"""Metrics over the rows of all workers: tally each worker's rows, and add the tallies; if one fails, all raise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from threading import current_thread
from typing import NamedTuple, Protocol

import numpy as np

from rankadapters.callbacks.arguments import QueryCounts
from rankadapters.callbacks.dataset_columns import DatasetColumns
from rankadapters.callbacks.metrics import Monitor, Trainings
from rankadapters.core.arrays import Array, Ints
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.evaluation.tally import Tally


class GlobalTallies:
    """The tallies of this worker's rows in a round, set by set, until `merge` adds those of all workers.

    Each thread that trains has its own.
    """

    def __init__(self, monitor: Monitor, counts: QueryCounts) -> None:
        self._monitor, self._counts = monitor, counts
        self._noted_by_thread: Trainings[list[_Noted]] = Trainings()

    def forget(self) -> None:
        """Drop the tallies of an unfinished round."""
        self._noted_by_thread.pop(current_thread(), None)

    def note(
        self, owner: object, read: Callable[[], DatasetColumns | None], scores: Callable[[], Array]
    ) -> list[tuple[str, float, bool]]:
        """Tally this worker's rows of a set, if it has any; return NaN for each value, until `merge` computes it.

        `merge` raises any error, on all workers together.
        """
        noted = self._noted_by_thread.setdefault(current_thread(), [])
        if sum(entry.owner == id(owner) for entry in noted) > 1:  # one may be left from a failed training
            msg = "the values of two rounds were never added up over the workers."
            raise InputError(msg, hint="the same object in callbacks= too; a new one after a training that failed")
        tallies, failure = {}, None
        try:
            if (columns := read()) is not None:
                tallies = self._monitor.tally(columns, scores())
        except Exception as error:  # noqa: BLE001 - raised in `merge`, by all workers together
            failure = error
        noted.append(_Noted(id(owner), tallies, failure))
        return [(name, np.nan, convention.higher_is_better) for convention, name in self._monitor.names.items()]

    def merge(
        self, exchange: Exchange | None, key: str, parts: int, sets: Sequence[str], local_sets: Sequence[str]
    ) -> dict[str, dict[str, float]]:
        """Add up the tallies of all workers in this round, and return the values by set and display name.

        `key` names the round, and `sets` are the names of all sets in order; both are the same on all workers.
        `local_sets` are the sets that this worker tallied, in the order of its calls of `note`.
        """
        self._counts.refuse_sets(sets)
        noted = self._noted_by_thread.pop(current_thread(), [])
        shape = (len(sets), len(self._monitor.names), Tally.N_LIMBS)
        limbs = partial(self._limbs, noted, shape, sets, local_sets)
        total = limbs() if exchange is None else summed(exchange, key, parts, int(np.prod(shape)), limbs)
        return {
            name: self._values(name, limbs_of_set, parts)
            for name, limbs_of_set in zip(sets, total.reshape(shape), strict=True)
        }

    def _limbs(
        self, noted: list[_Noted], shape: tuple[int, int, int], sets: Sequence[str], local_sets: Sequence[str]
    ) -> Ints:
        """Encode this worker's tallies as integers to be added over the workers."""
        if len(noted) < len(local_sets):
            msg = f"{len(noted)} sets were evaluated in this round, but {list(local_sets)} report."
            raise InputError(msg, hint="one object both as the metric and in callbacks=")
        limbs = np.zeros(shape, np.int64)
        for name, (_, tallies, failure) in zip(local_sets, noted[len(noted) - len(local_sets) :], strict=True):
            if failure is not None:
                raise failure
            if name not in sets:
                msg = f"set {name!r} is not one of {list(sets)}."
                raise InputError(msg, hint="eval_names= in global_eval as in fit")
            for number, convention in enumerate(self._monitor.names):
                if convention in tallies:
                    limbs[sets.index(name), number] = tallies[convention].to_limbs()
        return limbs.ravel()

    def _values(self, set_name: str, limbs: Ints, parts: int) -> dict[str, float]:
        values = {}
        for (convention, name), of_convention in zip(self._monitor.names.items(), limbs, strict=True):
            tally = Tally.from_limbs(of_convention, convention)
            if not tally.n_queries:
                msg = f"no worker has rows of {set_name!r}."
                raise InputError(msg, hint="the names of the sets that the training is given")
            self._counts.refuse(set_name, tally.n_queries, f" on {parts} workers")
            try:
                values[name] = tally.score().value
            except InputError as error:
                raise error.about(f"set {set_name!r} under {name!r}") from None
        return values


class _Noted(NamedTuple):
    owner: int
    tallies: dict[Convention, Tally]
    failure: Exception | None


def refuse_over_rows(conventions: Iterable[Convention]) -> None:
    """Refuse conventions over all rows as one query, which cannot be added up over workers."""
    for convention in conventions:
        if convention.over == "rows":
            msg = f"{convention.name} is over all rows as one query, which the workers' parts do not add up to."
            raise UnsupportedConventionError(msg, hint="pool='queries', or ra.evaluate on gathered rows")


def refuse_parts(feature: str, parts: int, hint: str, why: str = "") -> None:
    """Refuse a metric over one worker's rows if the training has several workers; `parts` is their number."""
    if parts > 1:
        msg = f"{feature} is for one process, but this training has {parts}, each with a part of the rows{why}."
        raise InputError(msg, hint=hint)


class Exchange(Protocol):
    """A sum over all workers: for example MPI's allreduce, or `ra.dask.exchange`."""

    def add(self, key: str, parts: int, array: Ints, /) -> Ints:
        """Wait until `parts` workers have passed an array of the same shape for this key, and return the sum to each.

        Every worker calls it with the same keys in the same order. If a worker is lost, the others get an error.
        """
        ...


def summed(exchange: Exchange, key: str, parts: int, size: int, make_array: Callable[[], Ints]) -> Ints:
    """Return the sum of the workers' arrays; if a worker fails to make its array, all workers raise.

    `key` names this sum and is the same on all workers. `size` is the length of the array, which a failing worker needs
    too. `make_array` makes this worker's array.
    """
    array, failure = np.zeros(size + 1, np.int64), None
    try:
        array[:-1] = make_array()
    except Exception as error:  # noqa: BLE001 - any error, since the other workers wait for this one
        array[-1], failure = 1, error
    total = exchange.add(key, parts, array)
    if n_failed := int(total[-1]):
        if failure is not None:
            raise failure
        who = "another worker" if n_failed == 1 else f"{n_failed} other workers"
        raise InputError(f"{who} of {parts} failed.", hint="its log has the error")
    return total[:-1]
