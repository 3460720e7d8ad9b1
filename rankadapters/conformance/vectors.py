"""Vectors: cases that distinguish one convention from all others and from known mistakes."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from rankadapters.core.arrays import Floats
from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.evaluation.table import Table
from rankadapters.presets.label_rules import UNSTABLE_SORTS
from rankadapters.presets.texts import as_convention
from rankadapters.statistics.document import Document
from rankadapters.statistics.grid import grid, replaced
from rankadapters.statistics.probing import cases as kinds
from rankadapters.statistics.probing import rare_cases as rare
from rankadapters.statistics.probing.answers import Function
from rankadapters.statistics.probing.case_maker import cases_of
from rankadapters.statistics.probing.cases import ONE_DOCUMENT, Case, value_of
from rankadapters.statistics.probing.elimination import as_cutoff, as_grades, disagree, maker_for, values_of

DECIMALS = (3, 4, 6)  # of scores that are not nearly equal
LARGEST = 1000  # score for a measure that depends on more than the order of scores
MARGIN = 1e-6  # smaller differences may come from computing in float32
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
    rare.ALIKE: rare.ALIKE,
    rare.SCORES: rare.SCORES,
    rare.DEEP: rare.DEEP,
    rare.MANY: rare.MANY,
    kinds.FRACTIONAL: "fractional labels",
    kinds.BELOW_ZERO: "negative labels",
}


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

    def to_json(self) -> str:
        """Return `to_dict` as JSON text, with a case in each line."""
        cases = ",\n".join(json.dumps(case, separators=(",", ":")) for case in self.to_dict()["cases"])
        return f'{{"convention": "{self.convention}", "cases": [\n{cases}\n]}}'


def vectors(convention: Convention | str, *, labels: Sequence[float] | None = None) -> Vectors:
    """Return the cases that test an implementation of a convention; every call returns the same cases.

    Every different convention in the measure's grid fails at least one case if it differs on such data at all. So do
    programs with one wrong gain or discount, a wrong cutoff, a special rule for some queries, an unstable sort, scores
    of low precision, or a wrong mean. Where a preset's tool sorts long queries by an unstable sort (ranx and RankEval,
    see `presets.inexpressible`), its name leaves out the cases in which such a query has ties that matter; the
    signature has them.

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
    >>> cases[0].purpose, cases[0].value
    ('one relevant row', 1.0)
    """
    declared = as_convention(convention)
    as_cutoff(declared.get("k"))
    return Vectors(declared, tuple(with_fields(declared, make_vectors(declared, as_grades(labels)))))


def make_vectors(convention: Convention, labels: tuple[float, ...] | None, *, distinct: bool = False) -> list[Vector]:
    """Return the vectors of a convention, without the fields that they show.

    With `distinct`, none has tied scores, or more than one query.
    """
    for name, kind in convention.declared().items():
        if not kind.fits(getattr(convention, name), ()):
            msg = f"{name}={getattr(convention, name)} needs a column that the cases do not have."
            hint = "use convention.replace(ties='input') and an implementation that receives the rows in docid order"
            raise ConventionError(msg, hint=hint)
    least = _rows_without_order(convention)
    return [v for v in _vectors(convention, labels, distinct=distinct) if least is None or not _ties_matter(v, least)]


@lru_cache(maxsize=16)
def _vectors(convention: Convention, labels: tuple[float, ...] | None, *, distinct: bool) -> tuple[Vector, ...]:
    """Return all vectors of a convention: cases of one query first, those that a program may refuse last."""
    oracle = Function(lambda labels, scores: value_of(convention, Case.of(labels, scores)), "query")
    maker = replace(maker_for(oracle, labels), k=convention.get("k"), distinct=distinct, one_relevant=False)
    first, rest = cases_of(maker, several=not distinct)
    cases = [*dict.fromkeys((*first, *rest, *rare.rare_cases(maker, several=not distinct)))]
    if "ties" not in convention.fields():  # it does not rank: sums of such scores lose the digits of small ones
        cases = [case for case in cases if np.abs(case.scores).max() <= LARGEST]
    cases = [_shorter(case) for case in cases]
    n_usual = len(cases)
    cases += maker.unusual_labels() if labels is None else ()
    values = values_of(convention, cases)
    listed = [
        Vector(
            labels=case.labels, scores=case.scores, group_sizes=case.sizes, value=None if math.isnan(value) else value,
            purpose=WORDS[case.purpose], shows=(), optional=i >= n_usual or 1 in case.sizes,
        )
        for i, (case, value) in enumerate(zip(cases, values.tolist(), strict=True))
        if i < n_usual or not math.isnan(value)
    ]  # fmt: skip
    return tuple(sorted(listed, key=lambda vector: (len(vector.group_sizes) > 1, vector.optional)))


def _shorter(case: Case) -> Case:
    """Return the case with the fewest decimals that make no more of its scores equal, so that files are short."""
    rounded = ([round(score, decimals) for score in case.scores] for decimals in DECIMALS)
    n_distinct = len({*case.scores})
    return next((case.with_columns(scores=scores) for scores in rounded if len({*scores}) == n_distinct), case)


def _rows_without_order(convention: Convention) -> int | None:
    """Return from how many rows on the preset's tool has no order of tied rows; None if it has one for all queries."""
    name, preset = convention.preset or ("", convention)
    _, least = UNSTABLE_SORTS.get(name.partition(".")[0], ("", None))
    return least if getattr(convention, "ties", None) == getattr(preset, "ties", None) else None


def _ties_matter(vector: Vector, least: int) -> bool:
    """Return whether a query of at least so many rows has tied rows with different labels."""
    queries = [query for query in vector.case.split() if len(query.labels) >= least]
    return any(len({*zip(q.scores, q.labels, strict=True)}) > len({*q.scores}) for q in queries)


def differ(values: Floats, expected: Floats) -> np.ndarray:
    """Return which values differ from the expected ones by more than the margin; NaN differs from any number."""
    return np.asarray(disagree(values, expected, MARGIN) | (np.isnan(values) != np.isnan(expected)))


def with_fields(convention: Convention, vectors: Sequence[Vector]) -> list[Vector]:
    """Return the vectors with the fields whose change changes their value."""
    if not vectors:
        return []
    cases = [vector.case for vector in vectors]
    values, shows = values_of(convention, cases), [list[str]() for _ in cases]
    choices = {name: values for name, values in grid(type(convention), cases[0].queries).items() if len(values) > 1}
    for name, field_values in choices.items():
        decides = convention.declared()[name].group == "value"
        variants = (replaced(convention, {name: value}) for value in field_values)
        varied = np.array([values_of(variant, cases) for variant in variants if variant is not None])
        changes = (differ(varied, values) & ~(np.isnan(varied) & decides)).any(axis=0)
        for i in np.flatnonzero(changes).tolist():
            shows[i].append(name)
    return [replace(vector, shows=tuple(names)) for vector, names in zip(vectors, shows, strict=True)]
