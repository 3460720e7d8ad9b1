"""The conventions that are left: each answer rules out those that give another number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.statistics.grid import Block, values_to_search, with_refusals
from rankadapters.statistics.probing.answers import Function, Reply
from rankadapters.statistics.probing.cases import ANY, EMPTY, PLAIN, UNTIED, Case
from rankadapters.statistics.search import Data, Search

SIGNIFICANT = 10  # digits at which two values of the search are one
FEWEST = 2  # answers without which a convention or a mistake fits by chance
FLOAT32 = 1e-6  # the relative error of a sum of float32 numbers


class Conventions(NamedTuple):
    """Conventions of a measure that give the same value on every case of a pool."""

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
        Conventions that the cases cannot tell apart.
    values : float64 array, shape (n_groups, n_cases)
        What they give; NaN where they have no value.
    """

    cases: list[Case]
    groups: list[Conventions]
    values: Floats

    @classmethod
    def of(
        cls, cases: Sequence[Case], measures: Sequence[type[Convention]], cutoff: int | None, *, further: bool = False
    ) -> Pool:
        """Evaluate the grids of some measures, cut at one cutoff, on some cases."""
        queries = cases[0].queries
        grids = [(m, with_refusals(m, values_to_search(m, queries, further=further))) for m in measures]
        return cls.over(cases, grids, cutoff)

    @classmethod
    def over(cls, cases: Sequence[Case], grids: Sequence[tuple[type[Convention], Block]], cutoff: int | None) -> Pool:
        """Evaluate given grids, cut at one cutoff, on some cases."""
        data = [Data(case.queries, np.asarray(case.scores), (cutoff,)) for case in cases]
        groups: list[Conventions] = []
        values: list[Floats] = [np.empty((0, len(cases)))]
        for measure, grid in grids:
            for found in Search(measure, grid, data).groups():
                choices = product(range(len(found.blocks)), range(len(found.policies.blocks)))
                groups += [Conventions(measure, found.conventions(*choice)) for choice in choices]
                values.append(found.means.reshape(-1, len(cases)))
        return cls(list(cases), groups, np.concatenate(values))

    def members(self, rows: Sequence[int]) -> list[Convention]:
        """Return every convention of some groups."""
        return [convention for row in rows for convention in conventions_in(self.groups[row])]


class Elimination:
    """A function's answers against a pool.

    Parameters
    ----------
    function : Function
        The function under test.
    pool : Pool
        The cases to ask about, and what conventions say of them.
    cutoff : int or None
        The cutoff of the conventions.
    tolerance : float
        The largest difference, relative to values above 1, that counts as none.
    """

    def __init__(self, function: Function, pool: Pool, cutoff: int | None, tolerance: float) -> None:
        self.function, self.pool, self.cutoff, self.tolerance = function, pool, cutoff, tolerance
        self.answers: dict[int, Reply] = {}
        self.refused: list[tuple[Case, Reply]] = []

    @property
    def told(self) -> dict[int, float]:
        """The answers that are numbers, by case."""
        return {case: answer.value for case, answer in self.answers.items() if not answer.problem}

    @property
    def left(self) -> list[int]:
        """The groups that give what the function gave."""
        fits = np.ones(len(self.pool.groups), dtype=bool)
        for case, answer in self.answers.items():
            fits &= self._fits(case, answer.value)
        return np.flatnonzero(fits).tolist()

    @property
    def fits(self) -> bool:
        """Whether a convention is left, and not only because the function has no number for ordinary data."""
        ordinary = [case for case in self.told if self.pool.cases[case].purpose in {PLAIN, UNTIED, ANY}]
        return len(ordinary) >= FEWEST and bool(self.left)

    def run(self, purposes: Sequence[str]) -> None:
        """Ask about cases of each purpose, at least one, as long as they tell conventions apart.

        Where the function refused a case made for a trait, no further case with that trait is asked about.
        """
        for purpose in purposes:
            for number, cases in enumerate(iter(partial(self._waiting, purpose), [])):
                apart = {case: self._told_apart(case) for case in cases}
                case = max(cases, key=lambda case: apart[case])
                if not self.left or (number and apart[case] <= 1):
                    break
                self._ask(case)

    def ask_more(self, purpose: str, least: int) -> None:
        """Ask about cases of a purpose until some were asked about, for what explains a mistake."""
        asked = sum(self.pool.cases[case].purpose == purpose for case in self.answers)
        for case in self._waiting(purpose)[: max(least - asked, 0)]:
            self._ask(case)

    def _waiting(self, purpose: str) -> list[int]:
        refused = {case.purpose for case, _ in self.refused}
        cases = enumerate(self.pool.cases)
        return [i for i, case in cases if i not in self.answers and case.purpose == purpose
                and not case.traits(self.cutoff) & refused]  # fmt: skip

    def nearest(self) -> int | None:
        """Return the group that agrees with the most answers, then comes closest."""
        if not self.told:
            return None
        values = self.pool.values[:, list(self.told)]
        differences = np.abs(values - np.array(list(self.told.values())))
        differences[np.isnan(differences)] = math.inf
        misses = np.sum([~self._fits(case, value) for case, value in self.told.items()], axis=0)
        return int(np.lexsort((differences.sum(axis=1), misses))[0])

    def _fit_float32(self) -> None:
        """Compare as coarsely as float32 computes, if all answers are numbers of float32 and that helps."""
        values = np.array(list(self.told.values()))
        if self.tolerance < FLOAT32 and values.size and np.array_equal(values, values.astype(np.float32)):
            before, self.tolerance = self.tolerance, FLOAT32
            if not self.left:
                self.tolerance = before

    def _ask(self, case: int) -> None:
        asked = self.pool.cases[case]
        answer = self.answers[case] = self.function.ask(asked)
        if len(self.answers) == 1:
            self.function.repeat(asked)
        if answer.problem:
            self.refused.append((asked, answer))
        if not self.left:
            self._fit_float32()

    def _fits(self, case: int, value: float) -> np.ndarray:
        values = self.pool.values[:, case]
        if math.isnan(value):  # an answer without a number speaks for conventions without one, where there are any
            none = np.isnan(values)
            return none if none.any() and self.pool.cases[case].purpose == EMPTY else np.ones(values.size, dtype=bool)
        return np.abs(values - value) <= self.tolerance * max(1.0, abs(value))

    def _told_apart(self, case: int) -> int:
        values = self.pool.values[self.left, case]
        return np.unique(np.round(values, SIGNIFICANT), equal_nan=True).size


def conventions_in(group: Conventions) -> list[Convention]:
    """Return the conventions of blocks that go together."""
    found: dict[Convention, None] = {}
    for block in group.blocks:
        for chosen in product(*block.values()):
            try:
                found[group.measure(**dict(zip(block, chosen, strict=True)))] = None
            except ConventionError:
                continue
    return list(found)


def values_of(conventions: Sequence[Convention], case: Case) -> Floats:
    """Evaluate conventions of one cutoff on a case, together; NaN where one has no value."""
    values: dict[Convention, float] = {}
    measures: dict[type[Convention], None] = dict.fromkeys(map(type, conventions))
    for measure in measures:
        alike = [convention for convention in conventions if type(convention) is measure]
        names = [name for name in measure.declared() if name != "k"]
        grid = {name: tuple(dict.fromkeys(getattr(c, name) for c in alike)) for name in names}
        with suppress(InputError):  # all of them refuse the labels
            pool = Pool.over([case], [(measure, grid)], getattr(alike[0], "k", None))
            for group, value in zip(pool.groups, pool.values[:, 0].tolist(), strict=True):
                values |= dict.fromkeys(conventions_in(group), value)
    return np.array([values.get(convention, math.nan) for convention in conventions])
