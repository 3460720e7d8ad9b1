"""Rule out conventions by a function's answers: an answer excludes all conventions with a different value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.data.columns import Flags, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.statistics.grid import Block, values_to_search, with_refusals
from rankadapters.statistics.probing.answers import Function
from rankadapters.statistics.probing.cases import EMPTY, Case, value_of
from rankadapters.statistics.search import Data, Search

FLOAT32 = 1e-6  # the relative error of a sum of float32 numbers


ExtraValues = tuple[type[Convention], str, tuple[Any, ...]]  # values of a field that a measure's grid lacks


class Conventions(NamedTuple):
    """A group of conventions of a measure, all with the same value on every case of a `Pool`."""

    measure: type[Convention]
    blocks: list[Block]


@dataclass(slots=True)
class Pool:
    """Cases, and the value of every convention on each of them.

    Attributes
    ----------
    cases : list of Case
        The cases.
    groups : list of Conventions
        Groups of conventions that the cases cannot distinguish.
    values : float64 array, shape (n_groups, n_cases)
        Values of the groups; NaN for no value.
    """

    cases: list[Case]
    groups: list[Conventions]
    values: Floats

    @classmethod
    def of(
        cls,
        cases: Sequence[Case],
        measures: Sequence[type[Convention]],
        cutoff: int | None,
        *,
        further: bool = False,
        extra: Sequence[ExtraValues] = (),
        ranked: bool = False,
    ) -> Pool:
        """Evaluate all conventions in the grids of the measures, at one cutoff.

        The grids may have rare values (`further`) and `extra` values. With `ranked`, the fields about scores have only
        their first value, since a function of a ranking has no scores.
        """
        grids = []
        for measure in measures:
            grid = with_refusals(measure, values_to_search(measure, cases[0].queries, further=further))
            for _, name, values in (entry for entry in extra if entry[0] is measure):
                grid[name] = tuple(dict.fromkeys((*grid[name], *values)))
            if ranked:
                about_scores = [name for name, field in measure.declared().items() if field.group == "ranking"]
                grid |= {name: grid[name][:1] for name in about_scores}
            grids.append((measure, grid))
        return cls.over(cases, grids, cutoff)

    @classmethod
    def over(cls, cases: Sequence[Case], grids: Sequence[tuple[type[Convention], Block]], cutoff: int | None) -> Pool:
        """Evaluate all conventions in the grids of measures, at one cutoff."""
        labels, scores, sizes = (np.concatenate([getattr(case, name) for case in cases])
                                 for name in ("labels", "scores", "sizes"))  # fmt: skip
        parts = [len(case.sizes) for case in cases]
        data = [Data(Queries(labels, group_sizes=sizes), scores, (cutoff,), parts)]
        groups: list[Conventions] = []
        values: list[Floats] = [np.empty((0, len(cases)))]
        for measure, grid in grids:
            for batch in Search(measure, grid, data).groups():
                choices = product(range(len(batch.blocks)), range(len(batch.policies.blocks)))
                groups += [Conventions(measure, batch.conventions(*choice)) for choice in choices]
                values.append(batch.means.reshape(-1, len(cases)))
        return cls(list(cases), groups, np.concatenate(values))

    def members(self, rows: Sequence[int]) -> list[Convention]:
        """Return every convention of the groups with these indexes."""
        return [convention for row in rows for convention in conventions_in(self.groups[row])]


class Elimination:
    """The answers of a function to the cases of a pool, and the conventions that agree with them.

    Parameters
    ----------
    function : Function
        The function under test.
    pool : Pool
        The cases, and the values of conventions on them.
    cutoff : int or None
        The cutoff of the conventions.
    tolerance : float
        The largest difference that counts as equal, relative for values above 1.
    """

    def __init__(self, function: Function, pool: Pool, cutoff: int | None, tolerance: float) -> None:
        self.function, self.pool, self.cutoff, self.tolerance = function, pool, cutoff, tolerance

    @property
    def answered(self) -> list[int]:
        """The indices of the cases that the function has been asked."""
        return [i for i, case in enumerate(self.pool.cases) if case in self.function.answers]

    @property
    def numbers(self) -> list[int]:
        """The indices of the cases to which the function has returned a number."""
        return [i for i in self.answered if not self.function.answers[self.pool.cases[i]].problem]

    @property
    def refused(self) -> list[Case]:
        """The cases to which the function has returned no number."""
        cases = (self.pool.cases[i] for i in self.answered)
        return [case for case in cases if self.function.answers[case].problem]

    @property
    def values(self) -> Floats:
        """The answers that are numbers, in the order of `numbers`."""
        return np.array([self.function.answers[self.pool.cases[i]].value for i in self.numbers], float)

    @property
    def margins(self) -> Floats:
        """The largest difference from each of `values` that counts as equal."""
        return self.tolerance * np.maximum(1.0, np.abs(self.values))

    @property
    def remaining(self) -> list[int]:
        """The indices of the groups whose values agree with all answers.

        If a function returns no number where nothing is relevant, the conventions without a value for such data fit;
        if there are none, and for any other data, such an answer fits every convention.
        """
        fits = self.near(self.pool.values[:, self.numbers], self.margins).all(axis=1)
        for i in self.answered:
            if i not in self.numbers and EMPTY in self.pool.cases[i].traits():
                without_value = fits & np.isnan(self.pool.values[:, i])
                fits = without_value if without_value.any() else fits
        return np.flatnonzero(fits).tolist()

    def near(self, values: Floats, margins: Floats) -> Flags:
        """Return which values of conventions, shape (n_conventions, n_numbers), agree with the numbers."""
        return np.asarray(np.abs(values - self.values) <= margins)

    @property
    def members(self) -> list[Convention]:
        """All conventions that agree with all answers."""
        return self.pool.members(self.remaining)

    def ask(self, cases: Iterable[Case]) -> None:
        """Ask the function these cases, as long as a convention remains."""
        for case in cases:
            if not self.remaining:
                self._relax_to_float32()
                if not self.remaining:
                    break
            self.function.ask(case)

    def nearest(self) -> int | None:
        """Return the index of the group that agrees with the most answers; among equals, the closest group."""
        if not self.numbers or not self.pool.groups:
            return None
        values = self.pool.values[:, self.numbers]
        differences = np.where(np.isnan(values), math.inf, np.abs(values - self.values))
        misses = (~self.near(values, self.margins)).sum(axis=1)
        return int(np.lexsort((differences.sum(axis=1), misses))[0])

    def _relax_to_float32(self) -> None:
        """Raise the tolerance to float32 precision if all answers are float32 numbers and a convention then fits."""
        if self.tolerance < FLOAT32 and np.array_equal(self.values, self.values.astype(np.float32)):
            original, self.tolerance = self.tolerance, FLOAT32
            if not self.remaining:
                self.tolerance = original


def conventions_in(group: Conventions) -> list[Convention]:
    """Return all valid conventions in the blocks of a group."""
    conventions: dict[Convention, None] = {}
    for block in group.blocks:
        for values in product(*block.values()):
            try:
                conventions[group.measure(**dict(zip(block, values, strict=True)))] = None
            except ConventionError:
                continue
    return list(conventions)


def values_of(convention: Convention, cases: Sequence[Case]) -> Floats:
    """Return the value of a convention on each case, NaN if it has none; much faster than `value_of` in turn.

    Cases with unusual labels, which a convention may refuse, are evaluated apart from the others.
    """
    grid = {name: (getattr(convention, name),) for name in convention.fields() if name != "k"}
    kinds = [(min(case.labels) < 0, all(float(label).is_integer() for label in case.labels)) for case in cases]
    values = np.full(len(cases), math.nan)
    for kind in set(kinds):
        rows = [i for i, other in enumerate(kinds) if other == kind]
        chosen = [cases[i] for i in rows]
        with suppress(InputError):
            pool = Pool.over(chosen, [(type(convention), grid)], getattr(convention, "k", None))
            if len(pool.groups) == 1:
                values[rows] = pool.values[0]
                continue
        values[rows] = [value_of(convention, case) for case in chosen]
    return values
