"""Vectors: cases that distinguish one convention from all others and from known mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, pairwise
from typing import Any

import numpy as np

from rankadapters.core.arrays import Floats
from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.evaluation.table import Table
from rankadapters.presets.texts import as_convention
from rankadapters.statistics.document import Document
from rankadapters.statistics.grid import grid, replaced
from rankadapters.statistics.mistakes import CHANGED_NUMBERS
from rankadapters.statistics.probing import cases as kinds
from rankadapters.statistics.probing.answers import Function
from rankadapters.statistics.probing.case_maker import CaseMaker, cases_of
from rankadapters.statistics.probing.cases import ONE_DOCUMENT, Case, value_of
from rankadapters.statistics.probing.elimination import Pool, as_cutoff, as_grades, maker_for, values_of
from rankadapters.statistics.probing.explaining import mistaken_columns, mistaken_means, mistaken_values

MARGIN = 1e-6  # smaller differences may come from computing in float32
LIKELY_CUTOFF = 20  # a cutoff that a program may apply by mistake if the convention has none
SEEDS = (1, 2)  # of further random cases, which show mistakes that are rare
SHUFFLES = 20  # number of random row orders that imitate an unstable sort
ROUNDED = (3, 4, 5)  # decimals to which a program may round
WORDS = {  # the purposes of the cases in files, from easy to hard to understand
    kinds.RANK: "one relevant row",
    kinds.PAIR: "two relevant rows",
    kinds.PLAIN: "distinct scores",
    kinds.IDEAL: "beyond the cutoff",
    kinds.TIED: "ties",
    kinds.BOUNDARY: "ties at the cutoff",
    kinds.CLOSE: "nearly tied",
    kinds.EMPTY: "empty",
    kinds.SHORT: "short",
    kinds.EXACT: "cutoff",
    kinds.NEGATIVE: "negative scores",
    kinds.LONG: "many ties",
    kinds.ANY: "any length",
    ONE_DOCUMENT: "one document",
    kinds.FRACTIONAL: "fractional labels",
    kinds.BELOW_ZERO: "negative labels",
}
# Queries that a program may treat by its own rule, given the cutoff or 0.
SPECIAL: dict[str, Callable[[Case, int], bool]] = {
    **{trait: kinds.TRAITS[trait] for trait in (kinds.EMPTY, ONE_DOCUMENT, kinds.SHORT, kinds.EXACT, kinds.ONE_MORE,
                                                kinds.NEGATIVE, kinds.TIED, kinds.LONG)},
    "equal labels": lambda query, _: len(set(query.labels)) == 1 < len(query.labels),
    "equal scores": lambda query, _: len(set(query.scores)) == 1 < len(query.scores),
}  # fmt: skip


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True)
class Vector:
    """A case, with the value of a convention on it.

    Attributes
    ----------
    labels, scores : tuple of float
        One entry per row.
    group_sizes : tuple of int
        Rows of each query.
    value : float or None
        The value of the convention; None if it has no value, so that an implementation must refuse the case.
    purpose : str
        The trait of the data: `ties`, `empty`, `short`, ...
    shows : tuple of str
        Fields of the convention whose change would change the value.
    optional : bool
        Whether an implementation may refuse the case, because of its labels or a query of one document.
    """

    labels: tuple[float, ...]
    scores: tuple[float, ...]
    group_sizes: tuple[int, ...]
    value: float | None
    purpose: str
    shows: tuple[str, ...]
    optional: bool = False

    @property
    def case(self) -> Case:
        """The data of this vector, on which a function can be called."""
        return Case(self.labels, self.scores, self.group_sizes, self.purpose)


@frozen_class
@dataclass(frozen=True, slots=True)
class Vectors(Document):
    """Cases that distinguish a convention from every other convention of its measure and every known mistake.

    Attributes
    ----------
    convention : Convention
        The convention that the cases test.
    vectors : tuple of Vector
        The cases; cases with a single query come first.
    """

    convention: Convention
    vectors: tuple[Vector, ...]

    def blocks(self) -> list[str | Table]:
        """Return the convention and a table of the cases."""
        lines = [
            (str(i), v.purpose, str(len(v.group_sizes)), str(len(v.labels)), ", ".join(v.shows),
             "none" if v.value is None else repr(v.value))
            for i, v in enumerate(self.vectors, 1)
        ]  # fmt: skip
        head = ("id", "purpose", "queries", "rows", "shows", "value")
        return [f"{len(lines)} cases of {self.convention}", Table.of("cases", head, lines)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; each case has the data that a `Program` receives, the value, and what it tests."""
        k = self.convention.get("k")
        cases = [
            {"id": i, "k": k, "queries": v.case.as_queries(), "value": v.value, "purpose": v.purpose,
             "shows": list(v.shows), "optional": v.optional}
            for i, v in enumerate(self.vectors, 1)
        ]  # fmt: skip
        return {"convention": str(self.convention), "cases": cases}


def vectors(convention: Convention | str, *, labels: Sequence[float] | None = None) -> Vectors:
    """Return the cases that test an implementation of a convention; every call returns the same cases.

    Every different convention in the measure's grid fails at least one case if it differs on such data at all. So does
    every program with one wrong gain or discount, and every known mistake, such as percentages, a wrong cutoff, a
    special rule for some queries, or an unstable sort. No case is superfluous.

    Parameters
    ----------
    convention : Convention or str
        The convention that the implementation should compute. It must not need docids or weights.
    labels : sequence of float, optional
        The grades that the implementation accepts; by default 0 to 4, or fewer if the convention refuses these.

    Returns
    -------
    Vectors
        The cases, each with its value.

    Raises
    ------
    ConventionError
        The convention cannot be computed from labels and scores alone.
    InputError
        Labels cannot be made from the grades.

    Examples
    --------
    >>> import rankadapters as ra
    >>> cases = ra.conformance.vectors("sklearn@3").vectors
    >>> [case.purpose for case in cases][:8]
    ['distinct scores', 'distinct scores', 'ties', 'empty', 'short', 'cutoff', 'cutoff', 'negative scores']
    """
    declared = as_convention(convention)
    as_cutoff(declared.get("k"))
    return make_vectors(declared, as_grades(labels))


@lru_cache(maxsize=16)
def make_vectors(convention: Convention, labels: tuple[float, ...] | None, *, distinct: bool = False) -> Vectors:
    """Return the vectors of a convention; with `distinct`, none has tied scores, or more than one query."""
    for name, kind in convention.declared().items():
        if not kind.fits(getattr(convention, name), ()):
            msg = f"{name}={getattr(convention, name)} needs a column that the cases do not have."
            hint = "use convention.replace(ties='input') and an implementation that receives the rows in docid order"
            raise ConventionError(msg, hint=hint)
    oracle = Function(lambda labels, scores: value_of(convention, Case.of(labels, scores)), "query")
    maker = replace(maker_for(oracle, labels), k=convention.get("k"), distinct=distinct, one_relevant=False)
    cases = _usable_cases(maker)
    pool = grid_pool(convention, cases)
    cases += [case for seed in SEEDS for case in _usable_cases(replace(maker, seed=seed))]
    expected = values_of(convention, cases)
    rivals = np.array(list(values_with_mistakes(convention, maker, cases, expected)))
    # Conventions are evaluated on the first cases alone, which suffice for them.
    pool_values = np.full((len(pool.values), len(cases)), expected)
    pool_values[:, : len(pool.cases)] = pool.values
    fails = differ(np.concatenate([pool_values, np.where(np.isnan(rivals), expected, rivals)]), expected)
    chosen: list[int] = []
    stages = [(case.purpose == ONE_DOCUMENT, len(case.sizes) > 1) for case in cases]
    for stage in sorted(set(stages)):  # optional cases last, since a program may refuse them
        parts = [[i for i, case in enumerate(cases) if stages[i] == stage and case.purpose == purpose]
                 for purpose in WORDS]  # fmt: skip
        detected = fails[:, chosen].any(axis=1, keepdims=True)
        chosen += choose_cases(fails & ~detected, parts)
    chosen_cases = [cases[i] for i in sorted(chosen, key=lambda i: len(cases[i].sizes) > 1)]
    if labels is None:
        equal = pool.members([group for group in range(len(pool.groups)) if not fails[group].any()])
        chosen_cases += _unusual_cases(convention, maker, equal)
    return Vectors(convention, tuple(_as_vectors(convention, chosen_cases)))


def _usable_cases(maker: CaseMaker) -> list[Case]:
    """Return the maker's cases, without queries of one document among others."""
    return [case for part in cases_of(maker, several=not maker.distinct) for case in part
            if case.purpose == ONE_DOCUMENT or ONE_DOCUMENT not in case.traits()]  # fmt: skip


def choose_cases(fails: np.ndarray, parts: list[list[int]]) -> list[int]:
    """Choose cases so that every rival that fails any case fails a chosen case; no chosen case is superfluous.

    `fails` has the shape (n_rivals, n_cases); `parts` are the indices of the cases, the easiest to understand first.

    >>> choose_cases(np.array([[True, False, True], [False, True, True], [False, False, False]]), [[0], [1], [2]])
    [0, 1]
    """
    chosen: list[int] = []
    undetected = np.asarray(fails.any(axis=1))
    for part in parts:
        while (n_detected := fails[undetected][:, part].sum(axis=0)).any():
            chosen.append(part[int(n_detected.argmax())])
            undetected &= ~fails[:, chosen[-1]]
    for case in reversed(chosen.copy()):
        rest = [i for i in chosen if i != case]
        if (fails[:, rest].any(axis=1) >= fails[:, case]).all():
            chosen = rest
    return chosen


def differ(values: Floats, expected: Floats) -> np.ndarray:
    """Return which values differ from the expected ones by more than the margin; NaN differs from any number."""
    far = np.abs(values - expected) > MARGIN * np.maximum(1.0, np.abs(expected))
    return np.asarray(far | (np.isnan(values) != np.isnan(expected)))


def grid_pool(convention: Convention, cases: Sequence[Case]) -> Pool:
    """Evaluate all conventions of the measure's grid on cases; the grid includes the convention's own field values."""
    measure = type(convention)
    extra = [(measure, name, (getattr(convention, name),)) for name in convention.fields() if name != "k"]
    return Pool.of(cases, [measure], convention.get("k"), extra=extra)


def values_with_mistakes(
    convention: Convention, maker: CaseMaker, cases: Sequence[Case], expected: Floats
) -> Iterator[Floats]:
    """Yield the values of a program with each known mistake; NaN if it has none, or the mistake changes nothing."""
    yield from (expected * factor + offset for factor, offset in CHANGED_NUMBERS.values())
    yield from (np.round(expected, decimals) for decimals in ROUNDED)
    yield from (expected + [case.purpose == trait for case in cases] for trait in SPECIAL)
    yield from _values_with_special_rules(convention, cases, expected)
    if "k" in convention.fields():
        k: int | None = convention.get("k")
        wrong = (1, LIKELY_CUTOFF) if k is None else (k - 1, k + 1, None)
        yield from (values_of(convention.replace(k=cutoff), cases) for cutoff in wrong if cutoff != 0)
    yield from _values_of_changed_cases(convention, maker, cases)
    tables = [mistaken_values(mistaken_means, convention, case) if len(case.sizes) > 1 else {} for case in cases]
    for text in dict.fromkeys(text for table in tables for text in table):
        yield np.array([table.get(text, math.nan) for table in tables])


def _values_with_special_rules(convention: Convention, cases: Sequence[Case], expected: Floats) -> Iterator[Floats]:
    """Yield the values of programs that treat some queries by their own rule, NaN on cases without such a query."""
    k: int | None = convention.get("k")
    single = np.array([len(case.sizes) == 1 for case in cases])
    with_trait = {name: single & [has(case, k or 0) for case in cases] for name, has in SPECIAL.items()}
    nothing_found = single & (expected == 0) & ~with_trait[kinds.EMPTY]
    for special in (*with_trait.values(), nothing_found):
        yield from (np.where(special, value, math.nan) for value in (0.0, 1.0))
    if k is not None:  # one rank too few or too many if the list is as long as the cutoff, or one row longer
        for trait, cutoff in ((kinds.EXACT, k - 1), (kinds.ONE_MORE, None)):
            if cutoff != 0:
                yield np.where(with_trait[trait], values_of(convention.replace(k=cutoff), cases), math.nan)


def _values_of_changed_cases(convention: Convention, maker: CaseMaker, cases: Sequence[Case]) -> Floats:
    """Return the convention's values on cases that are changed as programs do by mistake, NaN on all other cases."""
    columns = [mistaken_columns(case) for case in cases]
    changed = [[table.get(text) for table in columns] for text in dict.fromkeys(chain.from_iterable(columns))]
    changed += [[change(case) for case in cases] for change in _changes(convention, maker)]
    known = {(i, j): case for i, variants in enumerate(changed) for j, case in enumerate(variants) if case is not None}
    values = np.full((len(changed), len(cases)), math.nan)
    values[tuple(np.transpose(list(known)))] = values_of(convention, list(known.values()))
    return values


def _changes(convention: Convention, maker: CaseMaker) -> Iterator[Callable[[Case], Case | None]]:
    """Yield functions that return a case as a program with a mistake sees it; None if the mistake changes nothing."""
    yield from (partial(_without_rank, rank=rank, label=maker.grades[0]) for rank in maker.ranks)
    yield from (partial(_with_grade, grade=grade, other=other) for other, grade in pairwise(maker.grades))
    yield from (partial(_by_query, change=change) for change in _changes_of_queries(convention, maker.k or 0))
    yield lambda case: Case.join([next(case.split()), *case.split()], case.purpose) if len(case.sizes) > 1 else None
    yield lambda case: max(case.split(), key=partial(value_of, convention))
    yield from (
        partial(_shuffled, seed=seed, least=least) for least in (0, kinds.MOST_SHORT) for seed in range(SHUFFLES)
    )


def _changes_of_queries(convention: Convention, k: int) -> Iterator[Callable[[Case], Case | None]]:
    """Yield functions that return a query as a program with a mistake sees it; None if the mistake leaves it out."""
    for change in (np.abs, np.trunc, partial(np.maximum, 0), partial(np.minimum, 1)):
        yield partial(_with_scores, change=change)
    yield from (partial(_with_rows, kept=kept) for kept in (np.greater, np.greater_equal))
    yield lambda query: query.select(range(len(query.labels) - SPECIAL[kinds.LONG](query, k)))
    yield lambda query: query.select(range(len(query.labels))[:: -1 if len(set(query.scores)) == 1 else 1])
    yield from (partial(_without, trait=trait, k=k) for trait in SPECIAL.values())
    yield lambda query: query if value_of(convention, query) else None


def _with_scores(query: Case, *, change: Callable[[Floats], Floats]) -> Case:
    return query.with_columns(scores=change(np.asarray(query.scores)))


def _with_rows(query: Case, *, kept: Callable[[Floats, float], np.ndarray]) -> Case:
    return query.select(np.flatnonzero(kept(np.asarray(query.scores), 0)).tolist())


def _without(query: Case, *, trait: Callable[[Case, int], bool], k: int) -> Case | None:
    return None if trait(query, k) else query


def _by_query(case: Case, *, change: Callable[[Case], Case | None]) -> Case | None:
    """Return the case with each query changed, without those that have no row left; None if no query is left."""
    queries = [changed for query in case.split() if (changed := change(query)) is not None and changed.labels]
    return Case.join(queries, case.purpose) if queries else None


def _without_rank(case: Case, *, rank: int, label: float) -> Case | None:
    """Return a query with distinct scores without the label of the row at a rank."""
    if len(case.sizes) > 1 or len(case.labels) < rank or kinds.TIED in case.traits():
        return None
    row = case.ranking()[rank - 1]
    return case.with_columns(labels=(*case.labels[:row], label, *case.labels[row + 1 :]))


def _with_grade(case: Case, *, grade: float, other: float) -> Case:
    """Return the case with a grade taken for another one."""
    return case.with_columns(labels=[other if label == grade else label for label in case.labels])


def _shuffled(case: Case, *, seed: int, least: int) -> Case:
    """Return the case with the rows of queries that have more than `least` rows in random order."""
    generator = np.random.default_rng(seed)
    return case.reordered(lambda n_rows: generator.permutation(n_rows).tolist() if n_rows > least else range(n_rows))


def _unusual_cases(convention: Convention, maker: CaseMaker, rivals: Sequence[Convention]) -> list[Case]:
    """Return the cases with unusual labels that tell the convention from rivals, or from programs that round labels."""
    cases = maker.unusual_labels()[::-1]  # those that tell the most first
    expected = values_of(convention, cases)
    rounded = (
        [case.with_columns(labels=change(case.labels)) for case in cases] for change in (np.floor, np.ceil, np.round)
    )
    values = np.array([*(values_of(rival, cases) for rival in rivals), *(values_of(convention, c) for c in rounded)])
    fails = differ(values, expected) & ~np.isnan(values) & ~np.isnan(expected)
    return [cases[i] for i in choose_cases(fails, [[i] for i in range(len(cases))])]


def _as_vectors(convention: Convention, cases: Sequence[Case]) -> Iterator[Vector]:
    """Yield each case as a vector, with the convention's value and the fields whose change changes that value."""
    values, shows = np.array([value_of(convention, case) for case in cases]), [list[str]() for _ in cases]
    choices = {name: values for name, values in grid(type(convention), cases[0].queries).items() if len(values) > 1}
    for name, field_values in choices.items():
        decides = convention.declared()[name].group == "value"
        variants = (replaced(convention, {name: value}) for value in field_values)
        varied = np.array([values_of(variant, cases) for variant in variants if variant is not None])
        changes = (differ(varied, values) & ~(np.isnan(varied) & decides)).any(axis=0)
        for i in np.flatnonzero(changes).tolist():
            shows[i].append(name)
    for case, value, names in zip(cases, values.tolist(), shows, strict=True):
        yield Vector(
            labels=case.labels,
            scores=case.scores,
            group_sizes=case.sizes,
            value=None if math.isnan(value) else value,
            purpose=WORDS[case.purpose],
            shows=tuple(names),
            optional=case.purpose in {kinds.FRACTIONAL, kinds.BELOW_ZERO, ONE_DOCUMENT},
        )
