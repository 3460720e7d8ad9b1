"""Report of a conformance check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankadapters.conformance.vectors import Vector
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import RankAdaptersError
from rankadapters.core.evaluation.table import Table
from rankadapters.statistics.document import Document


class ConformanceError(RankAdaptersError, AssertionError):
    """An implementation does not compute the convention that it should."""


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
        blocks: list[str | Table] = [
            f"The function does not conform: {len(self.failures)} of {self.n_cases} cases fail.\n{self.convention}"
        ]
        if self.fields:
            lines = [(name, _text(declared), _text(computed)) for name, (declared, computed) in self.fields.items()]
            blocks.append(Table.of("fields that explain all answers", ("field", "declared", "computed"), lines))
        if self.explanation:
            blocks.append(f"Most likely {self.explanation}.")
        if self.failures:
            cases = [
                (str(f.id), f.vector.purpose, _number(f.vector.value), f.problem or _number(f.answer))
                for f in self.failures
            ]
            blocks.append(Table.of("cases that fail", ("id", "purpose", "expected", "the function"), cases))
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
            "fields": {name: [_text(value) for value in pair] for name, pair in self.fields.items()},
            "explanation": self.explanation,
            "faults": list(self.faults),
        }  # fmt: skip


def _number(value: float | None) -> str:
    return "no number" if value is None else repr(value)


def _text(value: object) -> str:
    return "all" if value is None else str(value)
