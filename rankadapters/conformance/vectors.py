"""Vectors: the cases by which one convention is told from all others and from known mistakes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from rankadapters.conformance.rivals import mistaken, pool_beside, told_apart
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.core.evaluation.table import Table
from rankadapters.core.presets.texts import as_convention
from rankadapters.statistics.document import Document
from rankadapters.statistics.grid import grid
from rankadapters.statistics.probing.answers import Function
from rankadapters.statistics.probing.case_maker import Maker, other_labels
from rankadapters.statistics.probing.cases import (
    ANY,
    BELOW_ZERO,
    EMPTY,
    FRACTIONAL,
    LONG,
    NEARLY_TIED,
    NEGATIVE,
    ONE_DOCUMENT,
    PLAIN,
    SHORT,
    UNTIED,
    Case,
    value_of,
)  # fmt: skip
from rankadapters.statistics.probing.examination import as_cutoff, as_grades, grades_of

SEVERAL = 3  # queries of a case that shows what the mean does
OF_SEVERAL = (UNTIED, EMPTY, ANY)
ORDER = (UNTIED, PLAIN, NEARLY_TIED, EMPTY, SHORT, NEGATIVE, LONG, ANY, ONE_DOCUMENT)  # the easiest to understand first
WORDS = {
    PLAIN: "ties", UNTIED: "distinct scores", NEARLY_TIED: "nearly tied", ONE_DOCUMENT: "one document",
    EMPTY: "empty", SHORT: "short", NEGATIVE: "negative scores", ANY: "any length", LONG: "many ties",
    FRACTIONAL: "fractional labels", BELOW_ZERO: "negative labels",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Vector:
    """A case, and what a convention gives for it.

    Attributes
    ----------
    labels, scores : tuple of float
        One entry per row.
    group_sizes : tuple of int
        Rows of each query.
    value : float or None
        What the convention gives; None where it has no value, so that an implementation has to refuse.
    purpose : str
        What the data are like: `ties`, `empty`, `short`, ...
    shows : tuple of str
        Fields of the convention, another value of which changes the value.
    optional : bool
        Whether an implementation may refuse such labels.
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
        """The data to ask a function about."""
        return Case(self.labels, self.scores, self.group_sizes, self.purpose)


@dataclass(frozen=True, slots=True)
class Vectors(Document):
    """Cases that every other convention of the measure, and every known mistake, fails at least once.

    Attributes
    ----------
    convention : Convention
        What the cases are a test of.
    vectors : tuple of Vector
        The cases; those of a single query come first.
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
        """Return plain JSON types; a case has the fields of a question to a program, and what it tests."""
        k = getattr(self.convention, "k", None)
        cases = [
            {"id": i, "k": k, "queries": v.case.as_queries(), "value": v.value, "purpose": v.purpose,
             "shows": list(v.shows), "optional": v.optional}
            for i, v in enumerate(self.vectors, 1)
        ]  # fmt: skip
        return {"convention": str(self.convention), "cases": cases}


def vectors(convention: Convention | str, *, labels: Sequence[float] | None = None) -> Vectors:
    """Make the cases by which an implementation of a convention is tested, always the same ones.

    Every other convention of the measure's grid that differs on such data fails at least one of them, and so does
    every known mistake, such as percentages, shifted discounts or an unstable sort. None of the cases can be left out.

    Parameters
    ----------
    convention : Convention or str
        What the implementation shall compute. It may not need docids or weights.
    labels : sequence of float, optional
        The grades that the implementation accepts; 0 to 4 by default, or fewer where the convention refuses these.

    Returns
    -------
    Vectors
        The cases, each with its value.

    Raises
    ------
    ConventionError
        It cannot be computed from labels and scores alone.
    InputError
        No labels can be made of the grades.

    Examples
    --------
    >>> import rankadapters as ra
    >>> cases = ra.conformance.vectors("sklearn@3").vectors
    >>> [case.purpose for case in cases]
    ['distinct scores', 'ties', 'empty', 'short', 'any length', 'negative labels']
    """
    declared = as_convention(convention)
    as_cutoff(getattr(declared, "k", None))
    return _vectors(declared, as_grades(labels))


@lru_cache(maxsize=16)
def _vectors(convention: Convention, labels: tuple[float, ...] | None) -> Vectors:
    for name, kind in convention.declared().items():
        if not kind.fits(getattr(convention, name), ()):
            msg = f"{name}={getattr(convention, name)} needs a column that cases do not have."
            hint = "convention.replace(ties='input') for an implementation that is given rows in order of docid"
            raise ConventionError(msg, hint=hint)
    oracle = Function(lambda a, b: value_of(convention, Case(tuple(a), tuple(b), (len(a),))), "query")
    grades, cutoff = grades_of(oracle, labels), getattr(convention, "k", None)
    several = [case for case in Maker(grades, cutoff, SEVERAL).pool() if case.purpose in OF_SEVERAL]
    cases = [*Maker(grades, cutoff, 1).pool(), *several]
    pool = pool_beside(convention, cases)
    expected = np.array([value_of(convention, case) for case in cases])
    fails = told_apart(np.concatenate([pool.values, mistaken(convention, cases, expected)]), expected)
    chosen: list[int] = []
    for n_queries in (1, SEVERAL):
        told = fails[:, chosen].any(axis=1, keepdims=True)
        chosen += fewest(fails & ~told, _parts(cases, n_queries))
    chosen_cases = [cases[i] for i in chosen]
    if labels is None:
        equal = pool.members([group for group in range(len(pool.groups)) if not fails[group].any()])
        chosen_cases += [case for case in other_labels(cutoff, 1) if _tells_apart(case, convention, equal)]
    return Vectors(convention, tuple(_vector(convention, case) for case in chosen_cases))


def fewest(fails: np.ndarray, parts: list[list[int]]) -> list[int]:
    """Choose cases such that every rival that fails any case fails one of them, and none can be left out.

    Parameters
    ----------
    fails : bool array, shape (n_rivals, n_cases)
        Which rival fails which case.
    parts : list of list of int
        The cases, those that are the easiest to understand first.

    Returns
    -------
    list of int
        The chosen cases, in the order of the parts.

    Examples
    --------
    >>> fewest(np.array([[True, False, True], [False, True, True], [False, False, False]]), [[0], [1], [2]])
    [0, 1]
    """
    chosen: list[int] = []
    waiting = np.asarray(fails.any(axis=1))
    for part in parts:
        while (gains := fails[waiting][:, part].sum(axis=0)).any():
            chosen.append(part[int(gains.argmax())])
            waiting &= ~fails[:, chosen[-1]]
    for case in reversed(chosen.copy()):
        rest = [other for other in chosen if other != case]
        if (fails[:, rest].any(axis=1) >= fails[:, case]).all():
            chosen = rest
    return chosen


def _parts(cases: list[Case], n_queries: int) -> list[list[int]]:
    """Put the cases of as many queries and of one purpose together."""
    numbered = [(i, case.purpose) for i, case in enumerate(cases) if len(case.sizes) == n_queries]
    return [part for purpose in ORDER if (part := [i for i, own in numbered if own == purpose])]


def _tells_apart(case: Case, convention: Convention, others: list[Convention]) -> bool:
    """Tell whether a convention has a value for a case, and one of some others has another value."""
    value = np.array([value_of(convention, case)])
    values = np.array([value_of(other, case) for other in others])
    return not math.isnan(value[0]) and bool((told_apart(values, value) & ~np.isnan(values)).any())


def _vector(convention: Convention, case: Case) -> Vector:
    """Evaluate a convention on a case, and note the fields whose other values show there."""
    value = value_of(convention, case)
    tried = {name: values for name, values in grid(type(convention), case.queries).items() if len(values) > 1}
    shows = []
    for name, values in tried.items():
        others = np.array([value_of(other, case) for other in _varied(convention, name, values)])
        refused = np.isnan(others) & (convention.declared()[name].group == "value")
        if (told_apart(others, np.full(others.size, value)) & ~refused).any():
            shows.append(name)
    return Vector(
        labels=case.labels, scores=case.scores, group_sizes=case.sizes, value=None if math.isnan(value) else value,
        purpose=WORDS[case.purpose], shows=tuple(shows), optional=case.purpose in {FRACTIONAL, BELOW_ZERO},
    )  # fmt: skip


def _varied(convention: Convention, name: str, values: Sequence[Any]) -> Iterator[Convention]:
    """Yield a convention with each other value of a field that goes with its other fields."""
    for value in values:
        with suppress(ConventionError):
            yield convention.replace(**{name: value})
