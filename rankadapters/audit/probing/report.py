"""Report of a probe: which convention a function computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.table import Table
from rankadapters.statistics.document import Document


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """The smallest data that the probe has found on which a function and a convention differ.

    Attributes
    ----------
    labels, scores : tuple of float
        One entry per row.
    group_sizes : tuple of int
        Rows of each query.
    value : float or None
        The value that the function returned; None if it returned no number.
    expected : float or None
        The value of the convention; None if it has no value.
    """

    labels: tuple[float, ...]
    scores: tuple[float, ...]
    group_sizes: tuple[int, ...]
    value: float | None
    expected: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        columns = {name: list(getattr(self, name)) for name in ("labels", "scores", "group_sizes")}
        return {**columns, "value": self.value, "expected": self.expected}


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """Data for which a function returned no number.

    Attributes
    ----------
    what : str
        The trait of the data.
    problem : str
        What the function did instead, in words.
    meaning : str
        The consequence for its convention or for its callers.
    """

    what: str
    problem: str
    meaning: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe(Document):
    """Result of a probe: the convention that a function computes.

    Attributes
    ----------
    convention : Convention or None
        The simplest convention that fits every answer; None if no convention does.
    conventions : tuple of Convention
        All conventions that fit; no data that the function accepts can distinguish them.
    presets : tuple of str
        Presets that compute the same, with their cutoff. If the function differs only by an unstable sort of long
        queries: the presets that compute the same for up to 16 rows.
    undecided : dict of str to tuple
        Fields that calls of the function cannot determine, with the values that fit.
    refused : tuple of Refused
        Kinds of data for which the function returned no number.
    calls : int
        Number of calls of the function.
    tolerance : float
        The largest difference that counted as equal, relative for values above 1.
    nearest : Convention or None
        If no convention fits: the convention that agrees with the most answers.
    example : Example or None
        If no convention fits: the smallest data on which the function and `nearest` differ.
    explanation : str
        If no convention fits: the mistake that explains the answers; empty if none is known.
    faults : tuple of str
        Further faults: the function is not deterministic, or changes its input.
    """

    convention: Convention | None
    conventions: tuple[Convention, ...]
    presets: tuple[str, ...]
    undecided: dict[str, tuple[Any, ...]]
    refused: tuple[Refused, ...]
    calls: int
    tolerance: float
    nearest: Convention | None = None
    example: Example | None = None
    explanation: str = ""
    faults: tuple[str, ...] = ()

    def blocks(self) -> list[str | Table]:
        """Return the paragraphs and tables in reading order."""
        blocks: list[str | Table] = [self._summary()]
        if self.convention is not None:
            lines = [
                (name, _text(getattr(self.convention, name)), self._note(name)) for name in self.convention.fields()
            ]
            blocks.append(Table.of("fields", ("field", "value", "note"), lines))
        if self.example is not None:
            rows = zip(self.example.labels, self.example.scores, strict=True)
            nearest = "" if self.nearest is None else self.nearest.name
            caption = (
                f"smallest example: the function returns {self.example.value}, {nearest} is {self.example.expected}"
            )
            blocks.append(Table.of(caption, ("label", "score"), [(f"{label:g}", repr(score)) for label, score in rows]))
        if self.refused:
            lines = [(refused.what, refused.problem, refused.meaning) for refused in self.refused]
            blocks.append(Table.of("data without an answer", ("data", "the function", "which means"), lines))
        return [*blocks, *(f"Note: {fault}." for fault in self.faults)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types, conventions as their signatures."""
        return {
            "convention": None if self.convention is None else str(self.convention),
            "conventions": [str(convention) for convention in self.conventions],
            "presets": list(self.presets),
            "undecided": {name: list(values) for name, values in self.undecided.items()},
            "refused": [{"what": r.what, "problem": r.problem, "meaning": r.meaning} for r in self.refused],
            "calls": self.calls,
            "tolerance": self.tolerance,
            "nearest": None if self.nearest is None else str(self.nearest),
            "example": None if self.example is None else self.example.to_dict(),
            "explanation": self.explanation,
            "faults": list(self.faults),
        }

    def _summary(self) -> str:
        n_calls = f"{self.calls} calls"
        if self.convention is not None:
            tools = f", as {', '.join(self.presets)}" if self.presets else ""
            return f"The function computes {self.convention.name}{tools} ({n_calls}).\n{self.convention}"
        if self.nearest is None:
            return f"The function computes no known convention: it gave no number ({n_calls})."
        because = f" Most likely {self.explanation}." if self.explanation else ""
        nearest = f"The nearest is {self.nearest.name}.{because}\n{self.nearest}"
        return f"The function computes no known convention ({n_calls}). {nearest}"

    def _note(self, name: str) -> str:
        if name not in self.undecided:
            return ""
        return f"not shown: {', '.join(map(_text, self.undecided[name]))} fit"


def _text(value: object) -> str:
    return "all" if value is None else str(value)
