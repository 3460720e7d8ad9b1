"""Vectors: cases that distinguish one convention from all others and from known mistakes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from rankadapters.conformance.rivals import differ, rival_pool, values_with_mistakes
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.core.evaluation.table import Table
from rankadapters.presets.texts import as_convention
from rankadapters.statistics.document import Document
from rankadapters.statistics.grid import grid
from rankadapters.statistics.probing.answers import Function
from rankadapters.statistics.probing.case_maker import CaseMaker, unusual_label_cases
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

N_QUERIES = 3  # number of queries in a case that tests the mean over queries
OF_QUERIES = (UNTIED, EMPTY, ANY)
ORDER = (UNTIED, PLAIN, NEARLY_TIED, EMPTY, SHORT, NEGATIVE, LONG, ANY, ONE_DOCUMENT)  # from easy to hard to understand
WORDS = {
    PLAIN: "ties", UNTIED: "distinct scores", NEARLY_TIED: "nearly tied", ONE_DOCUMENT: "one document",
    EMPTY: "empty", SHORT: "short", NEGATIVE: "negative scores", ANY: "any length", LONG: "many ties",
    FRACTIONAL: "fractional labels", BELOW_ZERO: "negative labels",
}  # fmt: skip


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
        Whether an implementation may refuse the case because of its labels.
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
        k = getattr(self.convention, "k", None)
        cases = [
            {"id": i, "k": k, "queries": v.case.as_queries(), "value": v.value, "purpose": v.purpose,
             "shows": list(v.shows), "optional": v.optional}
            for i, v in enumerate(self.vectors, 1)
        ]  # fmt: skip
        return {"convention": str(self.convention), "cases": cases}


def vectors(convention: Convention | str, *, labels: Sequence[float] | None = None) -> Vectors:
    """Return the cases that test an implementation of a convention; every call returns the same cases.

    Every different convention in the measure's grid fails at least one case if it differs on such data at all. So does
    every known mistake, such as percentages, shifted discounts or an unstable sort. No case is superfluous.

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
            msg = f"{name}={getattr(convention, name)} needs a column that the cases do not have."
            hint = "use convention.replace(ties='input') and an implementation that receives the rows in docid order"
            raise ConventionError(msg, hint=hint)
    oracle = Function(lambda a, b: value_of(convention, Case(tuple(a), tuple(b), (len(a),))), "query")
    grades, cutoff = grades_of(oracle, labels), getattr(convention, "k", None)
    of_queries = [case for case in CaseMaker(grades, cutoff, N_QUERIES).make_all() if case.purpose in OF_QUERIES]
    cases = [*CaseMaker(grades, cutoff, 1).make_all(), *of_queries]
    pool = rival_pool(convention, cases)
    expected = np.array([value_of(convention, case) for case in cases])
    fails = differ(np.concatenate([pool.values, values_with_mistakes(convention, cases, expected)]), expected)
    chosen: list[int] = []
    for n_queries in (1, N_QUERIES):
        detected = fails[:, chosen].any(axis=1, keepdims=True)
        chosen += choose_cases(fails & ~detected, _parts(cases, n_queries))
    chosen_cases = [cases[i] for i in chosen]
    if labels is None:
        equal = pool.members([group for group in range(len(pool.groups)) if not fails[group].any()])
        chosen_cases += [case for case in unusual_label_cases(cutoff, 1) if _distinguishes(case, convention, equal)]
    return Vectors(convention, tuple(_vector(convention, case) for case in chosen_cases))


def choose_cases(fails: np.ndarray, parts: list[list[int]]) -> list[int]:
    """Choose cases so that every rival that fails any case fails a chosen case; no chosen case is superfluous.

    Parameters
    ----------
    fails : bool array, shape (n_rivals, n_cases)
        Whether a rival fails a case.
    parts : list of list of int
        The indices of the cases in parts, the easiest to understand first.

    Returns
    -------
    list of int
        The indices of the chosen cases, in the order of the parts.

    Examples
    --------
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


def _parts(cases: list[Case], n_queries: int) -> list[list[int]]:
    """Return the indices of the cases with this number of queries: one list per purpose, in the order of `ORDER`."""
    numbered = [(i, case.purpose) for i, case in enumerate(cases) if len(case.sizes) == n_queries]
    return [part for purpose in ORDER if (part := [i for i, case_purpose in numbered if case_purpose == purpose])]


def _distinguishes(case: Case, convention: Convention, rivals: list[Convention]) -> bool:
    """Return whether a convention has a value on a case, and at least one rival has a different value."""
    value = np.array([value_of(convention, case)])
    values = np.array([value_of(rival, case) for rival in rivals])
    return not math.isnan(value[0]) and bool((differ(values, value) & ~np.isnan(values)).any())


def _vector(convention: Convention, case: Case) -> Vector:
    """Return the case as a vector, with the convention's value and the fields whose change changes that value."""
    value = value_of(convention, case)
    choices = {name: values for name, values in grid(type(convention), case.queries).items() if len(values) > 1}
    shows = []
    for name, values in choices.items():
        varied_values = np.array([value_of(varied, case) for varied in _varied(convention, name, values)])
        refused = np.isnan(varied_values) & (convention.declared()[name].group == "value")
        if (differ(varied_values, np.full(varied_values.size, value)) & ~refused).any():
            shows.append(name)
    return Vector(
        labels=case.labels, scores=case.scores, group_sizes=case.sizes, value=None if math.isnan(value) else value,
        purpose=WORDS[case.purpose], shows=tuple(shows), optional=case.purpose in {FRACTIONAL, BELOW_ZERO},
    )  # fmt: skip


def _varied(convention: Convention, name: str, values: Sequence[Any]) -> Iterator[Convention]:
    """Yield the convention with each of the values of a field, skipping invalid combinations."""
    for value in values:
        with suppress(ConventionError):
            yield convention.replace(**{name: value})
