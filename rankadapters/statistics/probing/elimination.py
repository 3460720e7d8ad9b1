"""Call a function on cases, and rule out the conventions with a different value."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, product

import numpy as np

from rankadapters.core.arrays import Flags, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.arguments import members, number, refusal, whole_or_none
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.statistics.grid import Block, values_to_search, with_refusals
from rankadapters.statistics.plan_keys import classes
from rankadapters.statistics.probing.answers import OF_QUERIES, OF_RANKINGS, Function, Reply
from rankadapters.statistics.probing.case_maker import CaseMaker, cases_of
from rankadapters.statistics.probing.cases import CLOSE, EMPTY, SHORT, TIED, Case, value_of
from rankadapters.statistics.probing.measuring import Measurement
from rankadapters.statistics.probing.rare_cases import rare_cases
from rankadapters.statistics.search import Data, Search

GRADES = ((0.0, 1.0, 2.0, 3.0, 4.0), (0.0, 1.0, 2.0), (0.0, 1.0))  # tried in this order until the function accepts one
BINARY = GRADES[-1]
MOST_CUTOFF = 1000  # larger cutoffs would need cases with too many rows
MOST_RANKS = 256  # a function with a larger cutoff is treated as one without a cutoff
EQUAL_DECIMALS = 12  # values that agree to so many are equal
FLOAT32 = 1e-6  # the relative error of a sum of float32 numbers
OF_TIES = {"ties", "precision"}  # fields about tied scores
OF_RETRIEVAL = {"missing", "unjudged"}  # fields about rows that were not retrieved or not judged
N_FORMULAS = 12  # cases without tied rows on which formulas are tried
FEWEST = 7  # with fewer answers, a convention may fit by chance

Measures = tuple[type[Convention], ...]
Grid = tuple[type[Convention], Block]  # the values of each field of a measure
Group = tuple[type[Convention], list[Block]]  # the measure and the fields of conventions that cases cannot distinguish


def agree(values: Floats | float, answers: Floats | float, tolerance: float) -> Flags:
    """Return which values agree with the answers, up to a tolerance that is relative for answers above 1.

    NaN, for no value or no number, neither agrees nor disagrees with anything.
    """
    return np.asarray(np.abs(values - answers) <= tolerance * np.maximum(1.0, np.abs(answers)))


def disagree(values: Floats | float, answers: Floats | float, tolerance: float) -> Flags:
    """Return which values differ from the answers by more than the tolerance; False where one is NaN."""
    return np.asarray(np.abs(values - answers) > tolerance * np.maximum(1.0, np.abs(answers)))


def grids_of(measures: Measures, queries: Queries, *, further: bool = False, ranked: bool = False) -> list[Grid]:
    """Return the grids of measures, perhaps with rare values (`further`).

    With `ranked`, the fields about scores have only their first value, since a function of a ranking has no scores.
    """
    grids = []
    for measure in measures:
        grid = with_refusals(measure, values_to_search(measure, queries, further=further))
        fixed = {name for name, field in measure.declared().items() if ranked and field.group == "ranking"}
        grids.append((measure, {name: values[:1] if name in fixed else values for name, values in grid.items()}))
    return grids


def without_ties(grids: Sequence[Grid]) -> list[Grid]:
    """Return the grids with only the first value of each field that decides nothing where no rows are tied."""
    return [(measure, {n: v[:1] if n in OF_TIES else v for n, v in grid.items()}) for measure, grid in grids]


def is_untied(traits: Collection[str]) -> bool:
    """Return whether data with these traits have neither tied rows, for any precision, nor queries without a value."""
    return {TIED, CLOSE, EMPTY}.isdisjoint(traits)


def narrowed_grids(grids: Sequence[Grid], groups: Sequence[Group], *, formula_only: bool = False) -> list[Grid]:
    """Return the grids with only those values of fields, or of a measure's formula, that some of the groups have."""
    narrowed = []
    for measure, grid in grids:
        blocks = [block for of_measure, blocks in groups if of_measure is measure for block in blocks]
        kept = {n for n, field in measure.declared().items() if formula_only and field.group != "value"}
        chosen = {n: values if n in kept else {v for block in blocks for v in block[n]} for n, values in grid.items()}
        if blocks:
            narrowed.append((measure, {n: tuple(v for v in grid[n] if v in chosen[n]) for n in grid}))
    return narrowed


@dataclass(slots=True)
class Pool:
    """Cases, and the value of every convention on each of them."""

    cases: list[Case]
    groups: list[Group]
    values: Floats  # shape (n_groups, n_cases); NaN for no value

    @classmethod
    def over(cls, cases: Sequence[Case], grids: Sequence[Grid], cutoff: int | None) -> Pool:
        """Evaluate all conventions in the grids of measures, at one cutoff."""
        labels, scores, sizes = (np.concatenate([getattr(case, name) for case in cases])
                                 for name in ("labels", "scores", "sizes"))  # fmt: skip
        parts = [len(case.sizes) for case in cases]
        data = [Data(Queries(labels, group_sizes=sizes), scores, (cutoff,), parts)]
        groups: list[Group] = []
        values: list[Floats] = [np.empty((0, len(cases)))]
        for measure, grid in grids:
            for batch in Search(measure, grid, data).groups():
                choices = product(range(len(batch.blocks)), range(len(batch.policies.blocks)))
                groups += [(measure, batch.conventions(*choice)) for choice in choices]
                values.append(batch.means.reshape(-1, len(cases)))
        return cls(list(cases), groups, np.concatenate(values))

    def members(self, rows: Iterable[int]) -> list[Convention]:
        """Return every valid convention of the groups with these indexes."""
        return members_of(map(self.groups.__getitem__, rows))

    def groups_with(self, answers: Floats, tolerance: float) -> list[Group]:
        """Return the groups whose values agree with the answers to all cases."""
        return [self.groups[row] for row in np.flatnonzero(agree(self.values, answers, tolerance).all(axis=1))]


def members_of(groups: Iterable[Group]) -> list[Convention]:
    """Return every valid convention of some groups."""
    conventions: list[Convention] = []
    for measure, blocks in groups:
        chosen = (dict(zip(block, values, strict=True)) for block in blocks for values in product(*block.values()))
        distinct: dict[Convention, None] = {}
        for fields in chosen:
            with suppress(ConventionError):
                distinct[measure(**fields)] = None
        conventions += distinct
    return conventions


@lru_cache(maxsize=64)
def cached_pool(
    cases: tuple[Case, ...], measures: Measures, cutoff: int | None, *, further: bool = False, ranked: bool = False,
    untied: bool = False,
) -> Pool:  # fmt: skip
    """Evaluate all conventions in the grids of measures, as `grids_of` makes them; with `untied`, any order of ties."""
    grids = grids_of(measures, cases[0].queries, further=further, ranked=ranked)
    return Pool.over(cases, without_ties(grids) if untied else grids, cutoff)


def _kind_of_labels(case: Case) -> tuple[bool, bool, bool]:
    """Return whether labels are negative, or whole, and whether every query has relevant and irrelevant rows."""
    mixed = all(min(query.labels) <= 0 < max(query.labels) for query in case.split())
    return min(case.labels) < 0, all(float(label).is_integer() for label in case.labels), mixed


def values_of(convention: Convention, cases: Sequence[Case]) -> Floats:
    """Return the value of a convention on each case, NaN if it has none; much faster than `value_of` in turn.

    Cases with unusual or equal labels, which a convention may refuse, are evaluated apart from the others.
    """
    grid = {name: (getattr(convention, name),) for name in convention.fields() if name != "k"}
    values = np.full(len(cases), math.nan)
    for rows in map(list, classes({i: _kind_of_labels(case) for i, case in enumerate(cases)})):
        chosen = [cases[i] for i in rows]
        with suppress(InputError):
            pool = Pool.over(chosen, [(type(convention), grid)], convention.get("k"))
            if len(pool.groups) == 1:
                values[rows] = pool.values[0]
                continue
        values[rows] = [value_of(convention, case) for case in chosen]
    return values


@dataclass(slots=True)
class Examination:
    """The answers of a function to cases, and the conventions that agree with them."""

    function: Function
    maker: CaseMaker  # it has made the cases
    measures: Measures  # that the function may compute
    pool: Pool  # the cases, and the values of conventions on them
    cutoff: int | None  # of these conventions
    tolerance: float  # the largest difference that counts as equal, relative for values above 1
    measured: Measurement  # the gains and discounts that the answers show

    @property
    def replies(self) -> dict[int, Reply]:
        """The answers to the cases that the function has been asked, by the index of the case."""
        answers = self.function.answers
        return {i: answers[case] for i, case in enumerate(self.pool.cases) if case in answers}

    @property
    def numbers(self) -> list[int]:
        """The indices of the cases to which the function has returned a number."""
        return [i for i, reply in self.replies.items() if not reply.problem]

    @property
    def refused(self) -> list[Case]:
        """The cases to which the function has returned no number."""
        return [self.pool.cases[i] for i, reply in self.replies.items() if reply.problem]

    @property
    def values(self) -> Floats:
        """The answers that are numbers, in the order of `numbers`."""
        return np.array([reply.value for reply in self.replies.values() if not reply.problem], float)

    @property
    def remaining(self) -> list[int]:
        """The indices of the groups whose values agree with all answers.

        If a function returns no number where nothing is relevant, the conventions without a value for such data fit;
        if there are none, and for any other data, shorter than the cutoff included, such an answer fits every one.
        """
        fits = agree(self.pool.values[:, self.numbers], self.values, self.tolerance).all(axis=1)
        for i, reply in self.replies.items():
            traits = self.pool.cases[i].traits(self.cutoff) if reply.problem else frozenset()
            if EMPTY in traits and SHORT not in traits:
                without_value = fits & np.isnan(self.pool.values[:, i])
                fits = without_value if without_value.any() else fits
        return np.flatnonzero(fits).tolist()

    @property
    def members(self) -> list[Convention]:
        """All conventions that agree with all answers."""
        return self.pool.members(self.remaining)

    @property
    def enough(self) -> bool:
        """Whether there are enough answers that no convention fits them by chance."""
        return len(self.numbers) >= FEWEST

    @property
    def nearest(self) -> int | None:
        """The index of the group that agrees with the most answers; among equals, the closest group."""
        if not self.numbers or not self.pool.groups:
            return None
        values = self.pool.values[:, self.numbers]
        misses = (~agree(values, self.values, self.tolerance)).sum(axis=1)
        differences = np.where(np.isnan(values), math.inf, np.abs(values - self.values)).sum(axis=1)
        return int(np.lexsort((differences, misses))[0])

    def ask(self, cases: Iterable[Case]) -> None:
        """Ask the function these cases, as long as a convention remains."""
        for case in cases:
            if not (self.remaining or self._relax_to_float32()):
                break
            self.function.ask(case)

    def _relax_to_float32(self) -> bool:
        """Raise the tolerance to float32 precision if all answers are float32 numbers and a convention then fits."""
        original, are_float32 = self.tolerance, np.array_equal(self.values, self.values.astype(np.float32))
        self.tolerance = FLOAT32 if original < FLOAT32 and are_float32 else original
        if not self.remaining:
            self.tolerance = original
        return bool(self.remaining)

    def with_likely_formulas(self, grids: Sequence[Grid]) -> list[Grid]:
        """Return the grids with only the formulas that give the answers to the first cases, which have no tied rows."""
        chosen = [i for i in self.numbers if is_untied(self.pool.cases[i].traits())][:N_FORMULAS]
        if not chosen:
            return [*grids]
        answers = np.array([self.replies[i].value for i in chosen])
        pool = Pool.over([self.pool.cases[i] for i in chosen], without_ties(grids), self.maker.k)
        groups = pool.groups_with(answers, max(self.tolerance, FLOAT32))
        return narrowed_grids(grids, groups, formula_only=True)

    def at_cutoff(self, cutoff: int | None) -> Examination:
        """Return the same answers, with the conventions at a different cutoff."""
        pool = cached_pool(tuple(self.pool.cases), self.measures, cutoff, ranked=self.maker.distinct)
        return replace(self, pool=pool, cutoff=cutoff)


def as_grades(labels: Sequence[float] | None) -> tuple[float, ...] | None:
    """Return `labels` as checked grades in ascending order; None if `labels` is None."""
    if labels is None:
        return None
    grades = tuple(sorted({number("labels", label) for label in members(labels) or ()}))
    if len(grades) < 2 or grades[-1] <= 0 or grades[0] > 0:  # noqa: PLR2004 - relevant and irrelevant
        raise refusal("labels", labels, "two grades or more, one of them above 0 and one not", "labels=(0, 1)")
    return grades


def as_cutoff(k: object) -> int | None:
    """Return `k` as a checked cutoff, small enough to make cases for it; None for all ranks."""
    cutoff = whole_or_none("k", k, "all ranks")
    if cutoff is not None and cutoff > MOST_CUTOFF:
        raise refusal("k", k, f"whole numbers from 1 to {MOST_CUTOFF}, as queries need more rows, and None", "k=None")
    return cutoff


def maker_for(function: Function, labels: Sequence[float] | None) -> CaseMaker:
    """Return the maker of cases with grades that the function accepts: `labels`, or the first of `GRADES`; cutoff 3."""
    grades = as_grades(labels)
    distinct = function.takes in OF_RANKINGS
    choices = (BINARY,) if function.takes == "items" else GRADES if grades is None else (grades,)
    makers = [CaseMaker(grades, 3, distinct=distinct) for grades in choices]
    cases = {maker.every_grade(): maker for maker in makers}
    if grades is None or grades == BINARY:
        alone = CaseMaker(BINARY, 3, one_relevant=True, distinct=distinct)
        cases.setdefault(alone.at_rank(1), alone)
    case = function.find_accepted(list(cases))
    return makers[0] if case is None else cases[case]


def examine(function: Function, measures: Measures, maker: CaseMaker, tolerance: float) -> Examination:
    """Ask a function the cases that measure, then all other cases as long as a convention agrees with the answers.

    The grid of conventions is extended if none of it fits: by rare values of fields, then by measured ones.
    """
    first, rest = cases_of(maker, several=function.takes in OF_QUERIES)
    for case in first:
        function.ask(case)
    function.repeat(first[0])
    if all(reply.problem for reply in function.answers.values()):
        rest = ()
    measured = Measurement.of(function, maker)
    pool = cached_pool((*first, *rest), measures, maker.k, ranked=maker.distinct)
    examinations = [Examination(function, maker, measures, pool, maker.k, tolerance, measured)]
    examinations[0].ask(rest)
    wider = grids_of(measures, first[0].queries, further=True, ranked=maker.distinct)
    extra = []
    for measure, grid in wider:
        further = {name: values for name, values in measured.values(measure).items() if name in grid}
        extra.append((measure, grid | {n: tuple(dict.fromkeys((*grid[n], *v))) for n, v in further.items()}))
    for grids in (wider, *([extra] if extra != wider else [])):
        if not examinations[-1].remaining and (likely := examinations[0].with_likely_formulas(grids)):
            pool = Pool.over((*first, *rest), likely, maker.k)
            examinations.append(replace(examinations[0], pool=pool, tolerance=tolerance))
            examinations[-1].ask(rest)
    return examinations[-1] if examinations[-1].remaining else examinations[0]


def twin_key(convention: Convention) -> object:
    """Return a key of what decides where all rows are ranked and judged, and no query has a weight."""
    fields = [pair for pair in convention.to_dict().items() if pair[0] not in {*OF_RETRIEVAL, "average"}]
    return type(convention), *fields


def confirm(examination: Examination, members: Sequence[Convention]) -> tuple[list[Convention], Examination]:
    """Ask the rare cases too; return the conventions that agree with all answers, and the examination by all cases.

    Conventions that are equal on such data are evaluated once.
    """
    function, known = examination.function, examination.pool.cases
    rare = rare_cases(examination.maker, several=function.takes in OF_QUERIES)
    cases = [*known, *(case for case in rare if case not in set(known))]
    for case in cases[len(known) :]:
        function.ask(case)
    values = {twins: values_of(twins[0], cases) for twins in classes({c: twin_key(c) for c in members})}
    equal = classes({twins: np.round(numbers, EQUAL_DECIMALS).tobytes() for twins, numbers in values.items()})
    alike = [list(chain.from_iterable(parts)) for parts in equal]  # conventions with equal values are one group
    groups: list[Group] = [
        (type(conventions[0]), [{name: (getattr(c, name),) for name in c.fields()} for c in conventions])
        for conventions in alike
    ]
    by_all = replace(examination, pool=Pool(cases, groups, np.array([values[parts[0]] for parts in equal])))
    fitting = {convention for i in by_all.remaining for convention in alike[i]}
    return [convention for convention in members if convention in fitting], by_all


def find_cutoff(function: Function, maker: CaseMaker) -> int | None:
    """Return the last rank at which a single relevant row changes the value; None if it does at every or no rank.

    Beyond the cutoff, the function returns the same value for every rank of the relevant row.
    """
    uncounted_value = function.ask(maker.at_rank(MOST_RANKS, MOST_RANKS)).value

    def counts(rank: int) -> bool:
        answer = function.ask(maker.at_rank(rank, MOST_RANKS))
        return not answer.problem and answer.value != uncounted_value

    if counts(MOST_RANKS - 1) or not counts(1):
        return None
    first, last = 1, MOST_RANKS - 1  # bisect: a relevant row matters at rank `first`, but not at `last`
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if counts(middle) else (first, middle)
    return first
