"""Rule out conventions by a function's answers: an answer excludes all conventions with a different value."""

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
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.statistics.grid import Block, values_to_search, with_refusals
from rankadapters.statistics.probing.answers import Function, Reply
from rankadapters.statistics.probing.cases import ANY, EMPTY, PLAIN, UNTIED, Case
from rankadapters.statistics.search import Data, Search

SIGNIFICANT = 10  # values that agree to this many decimals are equal
FEWEST = 2  # with fewer answers, a convention or a mistake may fit by chance
FLOAT32 = 1e-6  # the relative error of a sum of float32 numbers


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
        cls, cases: Sequence[Case], measures: Sequence[type[Convention]], cutoff: int | None, *, further: bool = False
    ) -> Pool:
        """Evaluate all conventions in the grids of the measures, at one cutoff."""
        queries = cases[0].queries
        grids = [(m, with_refusals(m, values_to_search(m, queries, further=further))) for m in measures]
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
    """The answers of a function, and the conventions of a pool that agree with them.

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
        self.answers: dict[int, Reply] = {}
        self.refused: list[tuple[Case, Reply]] = []

    @property
    def values(self) -> dict[int, float]:
        """The answers that are numbers, by the index of the case."""
        return {case: answer.value for case, answer in self.answers.items() if not answer.problem}

    @property
    def remaining(self) -> list[int]:
        """The indices of the groups whose values agree with all answers."""
        fits = np.ones(len(self.pool.groups), dtype=bool)
        for case, answer in self.answers.items():
            fits &= self._fits(case, answer.value)
        return np.flatnonzero(fits).tolist()

    @property
    def fits(self) -> bool:
        """Whether a convention agrees with all answers, and enough answers on ordinary cases are numbers."""
        ordinary = [case for case in self.values if self.pool.cases[case].purpose in {PLAIN, UNTIED, ANY}]
        return len(ordinary) >= FEWEST and bool(self.remaining)

    def run(self, purposes: Sequence[str]) -> None:
        """For each purpose, call the function on one case, then on more as long as they tell conventions apart.

        Once the function has refused a case made for a trait, all other cases with that trait are skipped.
        """
        for purpose in purposes:
            for number, cases in enumerate(iter(partial(self._unasked, purpose), [])):
                n_distinct = {case: self._n_distinct(case) for case in cases}
                case = max(cases, key=lambda case: n_distinct[case])
                if not self.remaining or (number and n_distinct[case] <= 1):
                    break
                self._ask(case)

    def ask_more(self, purpose: str, least: int) -> None:
        """Call the function on cases of a purpose until there are `least` answers, as a diagnosis needs."""
        n_answers = sum(self.pool.cases[case].purpose == purpose for case in self.answers)
        for case in self._unasked(purpose)[: max(least - n_answers, 0)]:
            self._ask(case)

    def _unasked(self, purpose: str) -> list[int]:
        refused = {case.purpose for case, _ in self.refused}
        cases = enumerate(self.pool.cases)
        return [i for i, case in cases if i not in self.answers and case.purpose == purpose
                and not case.traits(self.cutoff) & refused]  # fmt: skip

    def nearest(self) -> int | None:
        """Return the index of the group that agrees with the most answers; among equals, the closest group."""
        if not self.values:
            return None
        values = self.pool.values[:, list(self.values)]
        differences = np.abs(values - np.array(list(self.values.values())))
        differences[np.isnan(differences)] = math.inf
        misses = np.sum([~self._fits(case, value) for case, value in self.values.items()], axis=0)
        return int(np.lexsort((differences.sum(axis=1), misses))[0])

    def _relax_to_float32(self) -> None:
        """Raise the tolerance to float32 precision if all answers are float32 numbers and a convention then fits."""
        values = np.array(list(self.values.values()))
        if self.tolerance < FLOAT32 and values.size and np.array_equal(values, values.astype(np.float32)):
            original, self.tolerance = self.tolerance, FLOAT32
            if not self.remaining:
                self.tolerance = original

    def _ask(self, index: int) -> None:
        case = self.pool.cases[index]
        answer = self.answers[index] = self.function.ask(case)
        if len(self.answers) == 1:
            self.function.repeat(case)
        if answer.problem:
            self.refused.append((case, answer))
        if not self.remaining:
            self._relax_to_float32()

    def _fits(self, case: int, value: float) -> np.ndarray:
        values = self.pool.values[:, case]
        if math.isnan(value):  # NaN for an empty query: only conventions without a value fit, if any
            no_value, is_empty = np.isnan(values), self.pool.cases[case].purpose == EMPTY
            return no_value if no_value.any() and is_empty else np.ones(values.size, dtype=bool)
        return np.abs(values - value) <= self.tolerance * max(1.0, abs(value))

    def _n_distinct(self, case: int) -> int:
        values = self.pool.values[self.remaining, case]
        return np.unique(np.round(values, SIGNIFICANT), equal_nan=True).size


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


def values_of(conventions: Sequence[Convention], case: Case) -> Floats:
    """Return the values of conventions on a case, all with the same cutoff; NaN for no value."""
    values: dict[Convention, float] = {}
    measures: dict[type[Convention], None] = dict.fromkeys(map(type, conventions))
    for measure in measures:
        members = [convention for convention in conventions if type(convention) is measure]
        names = [name for name in measure.declared() if name != "k"]
        grid = {name: tuple(dict.fromkeys(getattr(c, name) for c in members)) for name in names}
        with suppress(InputError):  # all conventions of the measure refuse the labels
            pool = Pool.over([case], [(measure, grid)], getattr(members[0], "k", None))
            for group, value in zip(pool.groups, pool.values[:, 0].tolist(), strict=True):
                values |= dict.fromkeys(conventions_in(group), value)
    return np.array([values.get(convention, math.nan) for convention in conventions])
