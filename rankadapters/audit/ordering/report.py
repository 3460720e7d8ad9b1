"""Report on models under several conventions: values, rank correlations, and pairs whose order changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.score import Score
from rankadapters.core.evaluation.table import Table
from rankadapters.statistics.cells import signed
from rankadapters.statistics.document import Document


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """The comparison of two models under one convention.

    Attributes
    ----------
    first, second : str
        The models.
    convention : Convention
        The convention under which they are compared.
    difference : float
        Value of the first minus that of the second.
    low, high : float or None
        Ends of the bootstrap interval of the difference; None without a test.
    p_value : float or None
        Two-sided p-value of the paired randomization test; None without a test.
    p_corrected : float or None
        The p-value corrected by Holm's method over all comparisons of the report.
    significant : bool
        Whether the corrected p-value is at most 1 - confidence.
    """

    first: str
    second: str
    convention: Convention
    difference: float
    low: float | None
    high: float | None
    p_value: float | None
    p_corrected: float | None
    significant: bool

    @property
    def ahead(self) -> str | None:
        """The model with the better value (the lower one for losses); None if the values are equal."""
        lead = self.convention.worth(self.difference)
        return None if lead == 0 else self.first if lead > 0 else self.second

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        names = ("first", "second", "difference", "low", "high", "p_value", "p_corrected", "significant")
        return {**{name: getattr(self, name) for name in names}, "signature": str(self.convention)}


@dataclass(frozen=True, slots=True)
class Change:
    """Two models whose order differs between conventions.

    Attributes
    ----------
    comparisons : tuple of Comparison
        Comparisons of the two models under every convention.
    """

    comparisons: tuple[Comparison, ...]

    @property
    def models(self) -> tuple[str, str]:
        """The names of the two models."""
        return self.comparisons[0].first, self.comparisons[0].second

    @property
    def significant(self) -> bool:
        """Whether each model is significantly ahead under at least one convention."""
        return {c.ahead for c in self.comparisons if c.significant} >= set(self.models)


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderReport(Document):
    """Comparison of models under several conventions; made by `order`.

    Attributes
    ----------
    scores : dict of str to dict of Convention to Score
        Scores of each model, by convention.
    conventions : tuple of Convention
        The conventions, in the order of the call.
    correlations : tuple of tuple of (float or None)
        Kendall's tau-b between the orders of the models under two conventions; None if all values of one are equal.
    comparisons : tuple of Comparison
        Every pair of models under every convention.
    changes : tuple of Change
        Every pair of models that changes places.
    confidence : float
        The confidence of the intervals; the level of the tests is 1 - confidence.
    notes : tuple of str
        Remarks on what was not tested or cannot be significant.
    """

    scores: dict[str, Mapping[Convention, Score]]
    conventions: tuple[Convention, ...]
    correlations: tuple[tuple[float | None, ...], ...]
    comparisons: tuple[Comparison, ...] = field(repr=False)
    changes: tuple[Change, ...] = field(repr=False)
    confidence: float
    notes: tuple[str, ...] = ()

    def blocks(self) -> list[str | Table]:
        """Return the values with their ranks, the correlations, and the tests of the pairs of models."""
        blocks: list[str | Table] = [self.values_table()]
        if len(self.conventions) > 1:
            blocks.append(self.correlation_table())
        blocks += [self.outcome(), self.pair_table()]
        notes = [f"Note: {note}" for note in self.notes]
        return [*blocks, "\n".join([*(f"{c.name}: {c}" for c in self.conventions), *notes])]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "conventions": [str(convention) for convention in self.conventions],
            "values": {
                name: {str(c): scores[c].value for c in self.conventions} for name, scores in self.scores.items()
            },
            "correlations": [list(row) for row in self.correlations],
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
            "changes": [{"models": list(c.models), "significant": c.significant} for c in self.changes],
            "confidence": self.confidence,
            "notes": list(self.notes),
        }

    def plot(self) -> Any:
        """Return a matplotlib Figure of the models' ranks under each convention; lines cross if the order changes.

        Raises
        ------
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.plots import ranks

        by_convention = [self._ranks(c) for c in self.conventions]
        lines = {name: [ranks_by_name[name] for ranks_by_name in by_convention] for name in self.scores}
        return ranks([c.name for c in self.conventions], lines, "rank among the models")

    def values_table(self) -> Table:
        """Return the values and ranks of the models under each convention."""
        ranks = {c: self._ranks(c) for c in self.conventions}
        lines = [
            (name, *(f"{scores[c].value:.6f} ({ranks[c][name]})" for c in self.conventions))
            for name, scores in self.scores.items()
        ]
        return Table.of("Values, and ranks among the models", ("model", *(c.name for c in self.conventions)), lines)

    def correlation_table(self) -> Table:
        """Return Kendall's tau-b between the orders of the models under every two conventions."""
        names = [c.name for c in self.conventions]
        lines = [
            (name, *("-" if tau is None else f"{tau:.3f}" for tau in row))
            for name, row in zip(names, self.correlations, strict=True)
        ]
        return Table.of("Kendall's tau-b between the orders of the models", ("convention", *names), lines)

    def pair_table(self) -> Table:
        """Return the pairs of models whose order changes, or all pairs if none does, with a row for each convention."""
        percent = f"{100 * self.confidence:g} %"
        head = ("models", "convention", "ahead", "difference", f"{percent} interval", "p", "p (Holm)", "significant")
        changing = [comparison for change in self.changes for comparison in change.comparisons]
        caption = "Pairs that change places" if changing else "Pairs of models"
        return Table.of(caption, head, [_line(comparison) for comparison in changing or self.comparisons])

    def outcome(self) -> str:
        """Return a sentence: how many pairs of models change their order, and how many differences are significant."""
        tested = [c for c in self.comparisons if c.p_value is not None]
        significant = f"{sum(c.significant for c in tested)} of {len(tested)} differences are significant"
        if len(self.conventions) == 1:
            return f"{significant}."
        if not self.changes:
            return f"No pair of models changes places. {significant}."
        both = sum(change.significant for change in self.changes)
        return (
            f"{len(self.changes)} of {len(self.comparisons) // len(self.conventions)} pairs of models change places, "
            f"{both} of them with a significant difference on both sides. {significant}."
        )

    def _ranks(self, convention: Convention) -> dict[str, int]:
        values = {name: convention.worth(scores[convention].value) for name, scores in self.scores.items()}
        return {name: 1 + sum(rival > value for rival in values.values()) for name, value in values.items()}


def _line(c: Comparison) -> tuple[str, ...]:
    interval = "-" if c.low is None or c.high is None else f"{signed(c.low)} to {signed(c.high)}"
    p_values = ("-" if p is None else f"{p:.4f}" for p in (c.p_value, c.p_corrected))
    names = (f"{c.first}, {c.second}", c.convention.name, c.ahead or "-")
    return (*names, signed(c.difference), interval, *p_values, "yes" if c.significant else "no")
