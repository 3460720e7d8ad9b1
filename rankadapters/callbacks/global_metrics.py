"""Metrics over all workers, for the toolkits' `global_eval`: tally each worker's rows, and add the tallies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.callbacks.dataset_columns import DatasetColumns
from rankadapters.callbacks.history import History
from rankadapters.callbacks.metrics import Monitor
from rankadapters.callbacks.query_counts import QueryCounts
from rankadapters.callbacks.rounds import Round, Rounds
from rankadapters.callbacks.workers import Exchange, Integers, summed
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.core.evaluation.tally import Tally

Array = NDArray[Any]


class GlobalValue(NamedTuple):
    """The value of a convention on a set, over the rows of all workers."""

    name: str  # display name
    value: float
    higher_is_better: bool
    n_workers: int  # number of workers that have rows of the set


class GlobalMonitor:
    """Conventions evaluated over all workers of a training: each worker tallies its rows, and we add the tallies.

    `n_queries` and `query_weights` are as in `QueryCounts` and `Monitor`.
    """

    def __init__(
        self,
        convention: Convention | str | Sequence[Convention | str],
        names: Sequence[str] | None,
        n_queries: int | Mapping[str, int] | None,
        n_threads: int | None,
        query_weights: Callable[[Array, Array], Array],
    ) -> None:
        self._local = Monitor(convention, names, n_threads, query_weights)
        self.names = self._local.names
        _refuse_over_rows(self.names)
        self._counts = QueryCounts(n_queries, "sort by qid and keep the rows of a query in one partition")
        self.history = History()
        self._rounds = Rounds()
        self._noted: list[_Noted] = []

    def __getstate__(self) -> dict[str, Any]:
        """Copy the settings without the recorded values."""
        return {**self.__dict__, "history": History(), "_noted": []}

    def enter(self, current: Round) -> None:
        """Set the round that the next `merge` belongs to."""
        self._rounds.enter(self.history, current)

    def forget(self) -> None:
        """Drop the tallies of an unfinished round."""
        self._noted = []

    def note(self, owner: object, read: Callable[[], DatasetColumns | None], scores: Callable[[], Array]) -> None:
        """Tally this worker's rows of a set, if it has any; `merge` raises any error, on all workers together."""
        if sum(noted.owner == id(owner) for noted in self._noted) > 1:  # one may be left from a failed training
            msg = (
                "the values of two rounds were never added up over the workers.\n"
                "Hint: the same object in callbacks= too; a new one after a training that failed."
            )
            raise InputError(msg)
        tallies, failure = {}, None
        try:
            if (columns := read()) is not None:
                tallies = self._local.tally(owner, columns, scores())
        except Exception as error:  # noqa: BLE001 - raised in `merge`, by all workers together
            failure = error
        self._noted.append(_Noted(id(owner), tallies, failure))

    def placeholders(self) -> list[tuple[str, float, bool]]:
        """Return NaN for each value, until `merge` computes it."""
        return [(name, np.nan, convention.higher_is_better) for convention, name in self.names.items()]

    def merge(
        self, exchange: Exchange | None, key: str, parts: int, sets: Sequence[str], local_sets: Sequence[str]
    ) -> dict[str, list[GlobalValue]]:
        """Add up the tallies of all workers in this round, and return the values of each set.

        `key` names the round, and `sets` are the names of all sets in order; both are the same on all workers.
        `local_sets` are the sets that this worker tallied, in the order of its calls of `note`.
        """
        self._counts.refuse_sets(sets)
        noted, self._noted = self._noted, []
        shape = (len(sets), len(self.names), Tally.N_LIMBS)

        def limbs() -> Integers:
            return self._limbs(noted, shape, sets, local_sets).ravel()

        total = limbs() if exchange is None else summed(exchange, key, parts, int(np.prod(shape)) + len(sets), limbs)
        sums, workers = np.split(total, [-len(sets)])
        values = {}
        for name, of_set, n_workers in zip(sets, sums.reshape(shape), workers.tolist(), strict=True):
            values[name] = self._values(name, of_set, n_workers, parts)
        return values

    def _limbs(
        self, noted: list[_Noted], shape: tuple[int, int, int], sets: Sequence[str], local_sets: Sequence[str]
    ) -> Integers:
        """Encode this worker's tallies, and which sets have rows here, as integers to be added over the workers."""
        if len(noted) < len(local_sets):
            msg = (
                f"{len(noted)} sets were evaluated in this round, but {list(local_sets)} report.\n"
                "Hint: one object both as the metric and in callbacks=."
            )
            raise InputError(msg)
        limbs, workers = np.zeros(shape, np.int64), np.zeros(len(sets), np.int64)
        for name, (_, tallies, failure) in zip(local_sets, noted[len(noted) - len(local_sets) :], strict=True):
            if failure is not None:
                raise failure
            index = _index_of_set(name, sets)
            for number, convention in enumerate(self.names):
                if convention in tallies:
                    limbs[index, number] = tallies[convention].to_limbs()
            workers[index] = bool(tallies)
        return np.concatenate([limbs.ravel(), workers])

    def _values(self, set_name: str, limbs: Integers, n_workers: int, parts: int) -> list[GlobalValue]:
        values = []
        for (convention, name), of_convention in zip(self.names.items(), limbs, strict=True):
            tally = Tally.from_limbs(of_convention, convention)
            if not tally.n_queries:
                msg = f"no worker has rows of {set_name!r}.\nHint: the names of the sets that the training is given."
                raise InputError(msg)
            self._counts.refuse(set_name, tally.n_queries, f" on {parts} workers")
            try:
                value = tally.score().value
            except InputError as error:
                raise error.about(f"set {set_name!r} under {name!r}") from None
            values.append(GlobalValue(name, value, convention.higher_is_better, n_workers))
        by_convention = {c: result.value for c, result in zip(self.names, values, strict=True)}
        self.history.report(set_name, by_convention, self.names, **self._rounds.at)
        return values


class _Noted(NamedTuple):
    owner: int
    tallies: dict[Convention, Tally]
    failure: Exception | None


def _index_of_set(name: str, sets: Sequence[str]) -> int:
    try:
        return list(sets).index(name)
    except ValueError:
        msg = f"set {name!r} is not one of {list(sets)}.\nHint: eval_names= in global_eval as in fit."
        raise InputError(msg) from None


def _refuse_over_rows(conventions: Mapping[Convention, str]) -> None:
    for convention in conventions:
        if convention.over == "rows":
            msg = (
                f"{convention.name} is over all rows as one query, which the workers' parts do not add up to.\n"
                "Hint: pool='queries', or ra.evaluate on gathered rows."
            )
            raise UnsupportedConventionError(msg)
