"""What a search for an explanation holds: a function's answers, the values of conventions, and what fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from rankadapters.core.arrays import Flags, Floats
from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.probing import cases as kinds
from rankadapters.statistics.probing.cases import Case
from rankadapters.statistics.probing.elimination import (
    FEWEST,
    Examination,
    Pool,
    agree,
    disagree,
    is_untied,
    twin_key,
    values_of,
)
from rankadapters.statistics.rivals import changed_columns

N_UNTIED = 3  # cases without tied rows on which formulas are tried first
N_FILTERS = 6  # cases on which what is left is tried next
MOST_MEMBERS = 6  # conventions of a group that further answers may contradict
FEWEST_DIFFERENT = 2  # answers; an explanation of equal ones may fit by chance


class Finding(NamedTuple):
    """An explanation of a function's answers."""

    text: str  # what the function does, as the end of a sentence
    conventions: list[Convention]  # that the function computes but for what the text says
    names_presets: bool = False  # whether presets among the conventions describe the function


class Search:
    """Search for what explains the answers of a function."""

    def __init__(self, examination: Examination) -> None:
        self.examination, self.function, self.measures = examination, examination.function, examination.measures
        self.answers, self.tolerance, numbers = examination.values, examination.tolerance, examination.numbers
        self.cases = [examination.pool.cases[i] for i in numbers]
        self.pool = Pool(self.cases, examination.pool.groups, examination.pool.values[:, numbers])
        self.changed_cases: dict[int, dict[str, Case]] = {}  # by mistake, for each case that was changed
        self.unexplained: dict[Convention, list[Case]] = {}  # the further cases with another answer
        self.near = agree(self.pool.values, self.answers, self.tolerance)  # shape (n_groups, n_cases)
        traits = [case.traits(examination.cutoff) for case in self.cases]
        self.with_trait = {trait: np.array([trait in has for has in traits], bool) for trait in kinds.TRAITS}
        self.single = np.array([len(case.sizes) == 1 for case in self.cases], bool)
        self.decided = np.array([is_untied(has) for has in traits], bool)  # by the formula, without ties or `empty`
        usual = [i for i, case in enumerate(self.cases) if case.purpose in {kinds.PLAIN, kinds.TIED, kinds.ANY}]
        self.filters = np.array(sorted(usual, key=lambda i: -len(self.cases[i].sizes))[:N_FILTERS], int)
        plain_first = sorted(np.flatnonzero(self.decided), key=lambda i: self.cases[i].purpose != kinds.PLAIN)
        self.untied = np.array(plain_first[: 2 * N_UNTIED], int)
        self.wrong = np.flatnonzero(~self.near.any(axis=0))  # the cases whose answers no convention gives

    def members(self, rows: list[int]) -> list[Convention]:
        """Return the conventions of groups, at the declared cutoff."""
        k = self.examination.maker.k
        return [c.replace(k=k) if has_cutoff(type(c)) else c for c in self.pool.members(rows)]

    def changed(self, i: int) -> dict[str, Case]:
        """Return a case with each mistake with the data."""
        if i not in self.changed_cases:
            self.changed_cases[i] = mistaken_columns(self.cases[i])
        return self.changed_cases[i]

    def with_mistake(self, text: str, i: int) -> Case:
        """Return a case with a mistake with the data, or as it is if the mistake changes nothing, or there is none."""
        return self.changed(i).get(text, self.cases[i]) if text else self.cases[i]

    def scaled(self, mask: Flags) -> Floats:
        """Return the values of the pool, each convention's multiplied so that its first one is right."""
        first = next(iter(np.flatnonzero(mask & (self.answers != 0))), None)
        if first is None:
            return np.full(self.pool.values.shape, np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.pool.values * (self.answers[first] / self.pool.values[:, [first]]))

    def contradicted(self, row: int, exempt: Callable[[Case], object]) -> bool:
        """Return whether answers to further cases, if they are not exempt, differ from each convention of a group."""
        members = [*{twin_key(c): c for c in self.pool.members([row])}.values()][:MOST_MEMBERS]
        return all(not all(map(exempt, self._unexplained(convention))) for convention in members)

    def _unexplained(self, convention: Convention) -> list[Case]:
        """Return the further cases whose answers a convention does not give."""
        if convention not in self.unexplained:
            known = set(self.examination.pool.cases)
            further = [case for case in self.function.answers if case not in known]
            wrong = np.flatnonzero(self.differ(values_of(convention, further), further))
            self.unexplained[convention] = [further[i] for i in wrong]
        return self.unexplained[convention]

    def ask(self, cases: Iterable[Case]) -> Floats:
        """Return the function's answers to cases, NaN for no number."""
        return np.array([self.function.ask(case).value for case in cases])

    def differ(self, values: Floats, cases: Iterable[Case]) -> Flags:
        """Return which values differ from the answers to cases, where both are numbers."""
        return disagree(values, self.ask(cases), self.tolerance)

    def verified(self, pool: Pool, without: frozenset[str] = frozenset()) -> list[Convention]:
        """Ask the cases that are left, and return the conventions that fit all cases without this set of traits."""
        usable = [i for i, case in enumerate(pool.cases) if not without or not without <= case.traits()]
        answers = self.ask(pool.cases[i] for i in usable)
        fits = (agree(pool.values[:, usable], answers, self.tolerance) | np.isnan(answers)).all(axis=1)
        return pool.members(np.flatnonzero(fits).tolist())

    def fitting(
        self, text: str, values: Floats | None = None, mask: Flags | None = None, margin: float | None = None
    ) -> Iterator[Finding]:
        """Yield the conventions of the pool that `rows` finds."""
        if rows := self.rows(values, mask, margin):
            yield Finding(text, self.members(rows))

    def enough(self, mask: Flags) -> bool:
        """Return whether there are enough different answers to the masked cases that nothing fits them by chance."""
        return bool(mask.sum() >= FEWEST and np.unique(self.answers[mask]).size >= FEWEST_DIFFERENT)

    def rows(self, values: Floats | None = None, mask: Flags | None = None, margin: float | None = None) -> list[int]:
        """Return the indices of conventions whose (changed) values fit all (masked) answers, and most other ones."""
        values = self.pool.values if values is None else values
        exact = margin is None
        near = agree(values, self.answers, self.tolerance) if exact else np.abs(values - self.answers) <= margin
        mask = np.ones(len(self.cases), bool) if mask is None else mask
        fits = near[:, mask].all(axis=1)
        if not (self.enough(mask) and fits.any()):
            return []
        return np.flatnonzero(fits & (near.sum(axis=1) == near[fits].sum(axis=1).max())).tolist()


def mistaken_columns(case: Case) -> dict[str, Case]:
    """Return the case with each mistake with scores, labels and queries, by the mistake in words."""
    changes = changed_columns(case.queries, np.asarray(case.scores))
    return {text: Case.of(q.labels, scores, case.purpose, np.diff(q.indptr)) for text, q, scores in changes}
