"""Check an implementation against the vectors of a convention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankadapters.conformance.vectors import Vector, make_vectors, with_fields
from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.arguments import number
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import RankAdaptersError
from rankadapters.evaluation.table import Table
from rankadapters.presets.texts import as_convention
from rankadapters.statistics.cells import spelled
from rankadapters.statistics.document import Document
from rankadapters.statistics.grid import replaced
from rankadapters.statistics.probing.answers import OF_QUERIES, OF_RANKINGS, Function, Reply
from rankadapters.statistics.probing.cases import Case, value_of
from rankadapters.statistics.probing.elimination import BINARY, agree, as_cutoff, as_grades, confirm, examine, maker_for
from rankadapters.statistics.probing.explaining import actual_cutoff, explain

SAME = 1e-12  # the order of summation changes a value by less than this


class ConformanceError(RankAdaptersError, AssertionError):
    """An implementation does not compute the convention that it should."""


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A case for which an implementation returns the wrong answer.

    Attributes
    ----------
    id : int
        The number of the case among the vectors, from 1.
    vector : Vector
        The case.
    answer : float or None
        The number that the implementation returned; None if it returned no number.
    problem : str
        What it did instead of returning a number; empty if it returned one.
    """

    id: int
    vector: Vector
    answer: float | None
    problem: str


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True)
class Conformance(Document):
    """Whether an implementation computes a convention, and why not.

    Attributes
    ----------
    convention : Convention
        The convention that it should compute.
    n_cases : int
        The number of cases that were tried.
    failures : tuple of Failure
        The cases with a wrong answer.
    fields : dict of str to tuple
        Fields that it computes differently, each with the declared value and the value that fits its answers.
    explanation : str
        A mistake that explains its answers; empty if none is known, or if `fields` explain them.
    faults : tuple of str
        Further faults: it is not deterministic, or changes its input.
    """

    convention: Convention
    n_cases: int
    failures: tuple[Failure, ...] = ()
    fields: dict[str, tuple[Any, Any]]
    explanation: str = ""
    faults: tuple[str, ...] = ()

    @property
    def conforms(self) -> bool:
        """Whether every answer is right."""
        return not self.failures and not self.faults

    def raise_if_failed(self) -> None:
        """Raise an error if the implementation does not conform.

        Raises
        ------
        ConformanceError
            The implementation does not conform; the message is the report.
        """
        __tracebackhide__ = True
        if not self.conforms:
            raise ConformanceError(str(self))

    def blocks(self) -> list[str | Table]:
        """Return the paragraphs and tables in reading order."""
        if self.conforms:
            return [f"The function conforms: all {self.n_cases} cases of {self.convention} have their value."]
        failed = f"{len(self.failures)} of {self.n_cases} cases fail"
        reason = failed if self.failures else f"{self.faults[0]}; all {self.n_cases} cases have their value"
        blocks: list[str | Table] = [f"The function does not conform: {reason}.\n{self.convention}"]
        if self.fields:
            lines = [(name, spelled(declared), spelled(computed)) for name, (declared, computed) in self.fields.items()]
            blocks.append(Table.of("fields that explain all answers", ("field", "declared", "computed"), lines))
        if self.explanation:
            blocks.append(f"Most likely {self.explanation}.")
        if self.failures:
            first = {(f.vector.purpose, bool(f.problem)): f for f in reversed(self.failures)}
            cases = [
                (str(f.id), f.vector.purpose, _number(f.vector.value), f.problem or _number(f.answer))
                for f in sorted(first.values(), key=lambda failure: failure.id)
            ]
            caption = "cases that fail: the first of each purpose"
            blocks.append(Table.of(caption, ("id", "purpose", "expected", "the function"), cases))
        return [*blocks, *(f"Note: {fault}." for fault in self.faults)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types, with the convention as its signature."""
        return {
            "convention": str(self.convention),
            "conforms": self.conforms,
            "n_cases": self.n_cases,
            "failures": [
                {"id": f.id, "purpose": f.vector.purpose, "queries": f.vector.case.as_queries(),
                 "expected": f.vector.value, "value": f.answer, "problem": f.problem}
                for f in self.failures
            ],
            "fields": {name: [spelled(value) for value in pair] for name, pair in self.fields.items()},
            "explanation": self.explanation,
            "faults": list(self.faults),
        }  # fmt: skip


def check(
    function: Callable[..., Any],
    convention: Convention | str,
    *,
    takes: str,
    labels: Sequence[float] | None = None,
    tolerance: float = 1e-9,
) -> Conformance:
    """Run an implementation on the vectors of a convention, and report the fields that it computes differently.

    Parameters
    ----------
    function : callable
        The implementation; it receives numpy arrays and returns a number. If the convention has no value, it must
        raise an error or return None or NaN.
    convention : Convention or str
        The convention that it should compute.
    takes : {"query", "queries", "groups", "ranked", "items"}
        How it is called, as in `audit.probe`. If it has a parameter `k`, it receives the cutoff of the convention.
    labels : sequence of float, optional
        The grades that it accepts, as in `vectors`.
    tolerance : float, default 1e-9
        The largest difference that counts as equal, relative for values above 1. Use 1e-6 for float32 arithmetic.

    Returns
    -------
    Conformance
        The cases that fail, and the fields or the mistake that explain the failures.

    Raises
    ------
    InputError
        An argument is wrong.
    ConventionError
        The convention cannot be computed from labels and scores alone.

    Examples
    --------
    >>> import numpy as np
    >>> import rankadapters as ra
    >>> def hits(labels, scores):
    ...     return np.mean(labels[np.argsort(-scores, kind="stable")[:3]] > 0)
    >>> ra.conformance.check(hits, "letor4.p@3", takes="query").fields
    {'divisor': ('k', 'retrieved')}
    """
    declared, tolerance = as_convention(convention), number("tolerance", tolerance, least=0)
    k = as_cutoff(declared.get("k"))
    tested = Function.of(function, takes, k)
    grades = BINARY if tested.takes == "items" else as_grades(labels)
    vectors = make_vectors(declared, grades, distinct=tested.takes in OF_RANKINGS)
    usable = [vector for vector in vectors if len(vector.group_sizes) == 1 or tested.takes in OF_QUERIES]
    answers = [tested.ask(vector.case) for vector in usable]
    for vector in reversed(usable):
        tested.repeat(vector.case)
    wrong = [i for i, pair in enumerate(zip(usable, answers, strict=True)) if _is_wrong(*pair, tolerance)]
    with_answers = zip(with_fields(declared, [usable[i] for i in wrong]), [answers[i] for i in wrong], strict=True)
    failures = [
        Failure(id=i + 1, vector=vector, answer=None if answer.problem else answer.value, problem=answer.problem)
        for i, (vector, answer) in zip(wrong, with_answers, strict=True)
    ]
    explicable = any(f.answer is not None for f in failures) and not tested.faults
    fields, explanation = _explain(tested, declared, labels, tolerance) if explicable else ({}, "")
    return Conformance(
        convention=declared, n_cases=len(usable), failures=tuple(failures), fields=fields,
        explanation=explanation, faults=tuple(tested.faults),
    )  # fmt: skip


def _is_wrong(vector: Vector, answer: Reply, tolerance: float) -> bool:
    if vector.value is None or answer.problem:
        return not answer.problem or (vector.value is not None and not vector.optional)
    return not agree(answer.value, vector.value, tolerance)


def _explain(
    function: Function, convention: Convention, labels: Sequence[float] | None, tolerance: float
) -> tuple[dict[str, tuple[Any, Any]], str]:
    """Probe a function that fails: return the fields that it computes differently, or the mistake that it makes."""
    maker = replace(maker_for(function, labels), k=convention.get("k"))
    examination = examine(function, (type(convention),), maker, tolerance)
    fitting = examination
    if not examination.remaining and (cutoff := actual_cutoff(examination)) != maker.k:
        fitting = examination.at_cutoff(cutoff)
    members, asked = list[Convention](), examination
    if examination.enough and fitting.remaining:
        members, asked = confirm(fitting, fitting.members)
    if not members:  # it differs from all conventions, perhaps only on rare data
        finding = explain(asked)
        return {}, "" if finding is None else finding.text
    computed = min(members, key=lambda c: len(convention.diff(c)))
    cases = [case for case, answer in function.answers.items() if not answer.problem]
    return {name: v for name, v in convention.diff(computed).items() if _matters(computed, name, v[0], cases)}, ""


def _matters(computed: Convention, name: str, declared: object, cases: Sequence[Case]) -> bool:
    """Return whether values change if one field of the computed convention gets its declared value."""
    variant = replaced(computed, {name: declared})
    if variant is None:
        return True
    values, variant_values = ([value_of(c, case) for case in cases] for c in (computed, variant))
    return not np.allclose(values, variant_values, rtol=0, atol=SAME, equal_nan=True)


def _number(value: float | None) -> str:
    return "no number" if value is None else repr(value)
