"""The conventions that are left: each answer rules out those that give another number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.statistics.grid import Block, searched, with_refusals
from rankadapters.statistics.probing.answers import Function, Reply
from rankadapters.statistics.probing.cases import EMPTY, Case
from rankadapters.statistics.search import Data, Search

SIGNIFICANT = 10  # digits at which two values of the search are one
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
    def of(cls, cases: Sequence[Case], measures: Sequence[type[Convention]], cutoff: int | None) -> Pool:
        """Evaluate the grids of some measures, cut at one cutoff, on some cases."""
        grids = [(measure, with_refusals(measure, searched(measure, cases[0].queries))) for measure in measures]
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
    tolerance : float
        The largest difference, relative to values above 1, that counts as none.
    """

    def __init__(self, function: Function, pool: Pool, tolerance: float) -> None:
        self.function, self.pool, self.tolerance = function, pool, tolerance
        self.answers: dict[int, Reply] = {}
        self.refused: list[tuple[Case, Reply]] = []

    @property
    def left(self) -> list[int]:
        """The groups that give what the function gave."""
        fits = np.ones(len(self.pool.groups), dtype=bool)
        for case, answer in self.answers.items():
            fits &= self._fits(case, answer.value)
        return np.flatnonzero(fits).tolist()

    def run(self, purposes: Sequence[str]) -> None:
        """Ask about cases of each purpose, at least one, as long as they tell conventions apart.

        Where the function refused a case made for a trait, no further case with that trait is asked about.
        """
        for purpose in purposes:
            refused = {case.purpose for case, _ in self.refused}
            cases = [i for i, c in enumerate(self.pool.cases) if c.purpose == purpose and not c.traits & refused]
            for number in range(len(cases)):
                waiting = [case for case in cases if case not in self.answers]
                apart = {case: self._told_apart(case) for case in waiting}
                case = max(waiting, key=lambda case: apart[case])
                if not self.left or (number and apart[case] <= 1):
                    break
                self._ask(case)

    def ask_more(self, purpose: str, least: int) -> None:
        """Ask about cases of a purpose until there are answers to some of them, for what explains a mistake."""
        cases = [i for i, case in enumerate(self.pool.cases) if case.purpose == purpose]
        for case in cases[:least]:
            if case not in self.answers:
                self._ask(case)

    def nearest(self) -> int | None:
        """Return the group that agrees with the most answers, then comes closest."""
        told = {case: answer.value for case, answer in self.answers.items() if not math.isnan(answer.value)}
        if not told:
            return None
        values = self.pool.values[:, list(told)]
        differences = np.abs(values - np.array(list(told.values())))
        differences[np.isnan(differences)] = math.inf
        misses = np.sum([~self._fits(case, value) for case, value in told.items()], axis=0)
        total = differences.sum(axis=1)
        return int(np.lexsort((total, misses))[0])

    def fit_float32(self) -> bool:
        """Compare as coarsely as float32 computes, if all answers are numbers of float32; tell whether that helps."""
        values = np.array([answer.value for answer in self.answers.values() if not math.isnan(answer.value)])
        if self.tolerance >= FLOAT32 or not values.size or not np.array_equal(values, values.astype(np.float32)):
            return False
        before, self.tolerance = self.tolerance, FLOAT32
        if not self.left:
            self.tolerance = before
        return bool(self.left)

    def _ask(self, case: int) -> None:
        asked = self.pool.cases[case]
        answer = self.function.ask(asked)
        if not self.function.answers[1:]:
            self.function.repeat(asked, answer)
        if not answer.problem:
            self.answers[case] = answer
        else:
            self.refused.append((asked, answer))
            self.answers[case] = Reply(math.nan, answer.problem)
        if not self.left:
            self.fit_float32()

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
