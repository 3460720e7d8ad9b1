"""The report of `order`: models under conventions, with the tests of their differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from rankadapters.audit.models import CommonScores, ModelScores, listed
from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.convention import Convention
from rankadapters.evaluation.score import Score, Scores, value_cell
from rankadapters.evaluation.segment_sums import naming
from rankadapters.evaluation.table import Cell, Table, fixed
from rankadapters.progress import advance
from rankadapters.statistics.cells import signed
from rankadapters.statistics.document import Document, fields_as_dict
from rankadapters.statistics.significance import PairedTest, holm, paired_tests, tau_b

Progress = Callable[[int, int], object]
Pairs = list[tuple[str, str]]  # of models
CellKey = tuple[str, str, Convention]  # the two models, and the convention under which they are compared

UNTESTED = {"low": None, "high": None, "p_value": None, "p_corrected": None, "significant": False}


@frozen_class
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
        """Return the fields as plain JSON types, with the convention as `signature`."""
        fields = fields_as_dict(self)
        signature = fields.pop("convention")
        return {**fields, "signature": signature}


def head_of(confidence: float) -> tuple[str, ...]:
    """Return the heads of the columns of `cells_of`."""
    return "ahead", "difference", f"{100 * confidence:g} % interval", "p", "p (Holm)", "significant"


def cells_of(comparison: Comparison) -> tuple[str, ...]:
    """Return a comparison as cells of a table."""
    c = comparison
    interval = "-" if c.low is None or c.high is None else signed(c.low, c.high)
    p_values = ("-" if p is None else Cell("{:.4f}", p) for p in (c.p_value, c.p_corrected))
    return c.ahead or "-", signed(c.difference), interval, *p_values, "yes" if c.significant else "no"


def verdict(c: Comparison, where: str = "") -> str:
    """Return a sentence: which model is better, by how much, and where."""
    if c.ahead is None:
        return f"{c.first} and {c.second} have the same value."
    other, size, interval = c.second if c.ahead == c.first else c.first, abs(c.difference), ""
    decimals = min(8, max(3, 1 - math.floor(math.log10(size))))  # at least two digits of the difference
    if c.low is not None and c.high is not None:
        low, high = (c.low, c.high) if c.difference > 0 else (-c.high, -c.low)
        interval = f" ({fixed(low, decimals)} to {fixed(high, decimals)})"
    by = f"{other} by {fixed(size, decimals)}{interval}{where}"
    if c.significant:
        return f"{c.ahead} is better than {by}."
    reason = "was not tested" if c.p_corrected is None else f"is not significant (corrected p {c.p_corrected:.2g})"
    return f"{c.ahead} is ahead of {by}, but the difference {reason}."


def plot_differences(rows: Sequence[tuple[str, Comparison]], confidence: float, title: str) -> Any:
    """Return a figure of the difference and interval of each comparison in a segment, with a line at 0."""
    from rankadapters.plotting.plots import Interval, intervals

    pairs = list(dict.fromkeys(f"{c.first} minus {c.second}" for _, c in rows))
    several = len({c.convention for _, c in rows}) > 1
    lines = []
    for segment, c in rows:
        pair = f"{c.first} minus {c.second}"
        names = [segment, pair if len(pairs) > 1 else "", c.convention.name if several else ""]
        low, high = (c.difference if end is None else end for end in (c.low, c.high))
        lines.append(Interval(", ".join(filter(None, names)) or c.convention.name, c.difference, low, high, pair))
    differences = pairs[0] if len(pairs) == 1 else "difference"
    return intervals(lines, f"{differences}, {100 * confidence:g} % interval", title)


class Resampling(TypedDict):
    """The keywords of `compare_models`."""

    n_resamples: int
    confidence: float
    seed: int
    progress: Progress | None


class Change(NamedTuple):
    """Two models whose order differs between conventions.

    Attributes
    ----------
    models : tuple of str
        The names of the two models.
    significant : bool
        Whether each model is significantly ahead under at least one convention.
    """

    models: tuple[str, str]
    significant: bool


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True)
class OrderReport(Document):
    """Comparison of models under one or more conventions; made by `order`.

    Attributes
    ----------
    scores : dict of str to dict of Convention to Score
        Scores of each model, by convention, over the queries that every model scored.
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
        Remarks on models without results, on models that scored different queries, and on what was not tested or cannot
        be significant.
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
        correlations = [self.correlation_table()] if len(self.conventions) > 1 else []
        remarks = "\n".join([*(f"{c.name}: {c}" for c in self.conventions), *(f"Note: {note}" for note in self.notes)])
        return [self.values_table(), *correlations, self.outcome(), self.pair_table(), remarks]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain JSON types, with the values of the scores as `values`."""
        fields = fields_as_dict(self)
        values = {
            name: {signature: score["value"] for signature, score in scores.items()}
            for name, scores in fields.pop("scores").items()
        }
        return {"conventions": fields.pop("conventions"), "values": values, **fields}

    def _frame_rows(self) -> list[dict[str, Any]]:
        """Return a row for each comparison."""
        return [{"name": c.convention.name, **c.to_dict()} for c in self.comparisons]

    def plot(self) -> Any:
        """Return a matplotlib Figure of the differences with their intervals.

        For more than two models under several conventions it shows the models' ranks; lines cross if the order changes.

        Raises
        ------
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.plots import ranks

        if len(self.scores) == 2 or len(self.conventions) == 1:  # noqa: PLR2004 - ranks of two models say little
            return plot_differences([("", c) for c in self.comparisons], self.confidence, self.verdict())
        lines = {name: [self._ranks(convention)[name] for convention in self.conventions] for name in self.scores}
        return ranks([c.name for c in self.conventions], lines, "rank among the models", self.outcome())

    def verdict(self) -> str:
        """Return a sentence for the first model and each other one under the first convention: which is better."""
        first, convention = next(iter(self.scores)), self.conventions[0]
        return "\n".join(verdict(c) for c in self.comparisons if c.first == first and c.convention == convention)

    def values_table(self) -> Table:
        """Return the values and ranks of the models under each convention."""
        ranks = {c: self._ranks(c) for c in self.conventions}
        lines = [
            (name, *(value_cell(scores[c], "{:.6f} ({})", ranks[c][name], contest=c) for c in self.conventions))
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
        changing = {change.models for change in self.changes}
        lines = [
            (f"{c.first}, {c.second}", c.convention.name, *cells_of(c))
            for c in self.comparisons
            if not changing or (c.first, c.second) in changing
        ]
        caption = "Pairs that change places" if changing else "Pairs of models"
        return Table.of(caption, ("models", "convention", *head_of(self.confidence)), lines)

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


def compare_models(model_scores: ModelScores, **tests: Unpack[Resampling]) -> OrderReport:
    """Compare all pairs of models as `order` does, from scores that have already been computed."""
    return compare_parts({None: lambda: model_scores}, _all_pairs, **tests)[None]


def _all_pairs(models: Iterable[str]) -> Pairs:
    return list(combinations(models, 2))


class _Tested(NamedTuple):
    """The scores of models over some queries, and the tests of their differences."""

    model_scores: ModelScores
    common: dict[Convention, CommonScores]
    cells: list[CellKey]
    results: dict[CellKey, PairedTest]


def compare_parts(
    parts: Mapping[Any, Callable[[], ModelScores]], pairs: Callable[[Iterable[str]], Pairs], *,
    n_resamples: int, confidence: float, seed: int, progress: Progress | None,
) -> dict[Any, OrderReport]:  # fmt: skip
    """Compare pairs of models in each part of the queries; the p-values are corrected over all parts."""
    tested: dict[Any, _Tested] = {}
    options = {"n_resamples": n_resamples, "confidence": confidence, "seed": seed}
    for number, (name, part) in enumerate(parts.items()):

        def advance_part(step: int, n_steps: int, n_before: int = number) -> object:
            return (progress or advance)(n_before * n_steps + step, len(parts) * n_steps)

        with naming(name):
            model_scores = part()
            common = {c: model_scores.common(c) for c in model_scores.conventions}
        cells = [(*pair, c) for pair, c in product(pairs(model_scores.scores), common)]
        tested[name] = _Tested(model_scores, common, cells, _test(cells, common, advance_part, options))
    p_corrected = iter(holm([test.p_value for part in tested.values() for test in part.results.values()]).tolist())
    n_tests = sum(len(part.results) for part in tested.values())
    return {
        name: _report(part, dict(zip(part.results, p_corrected, strict=False)), n_tests, n_resamples, confidence)
        for name, part in tested.items()
    }


def _report(
    part: _Tested, p_corrected: Mapping[CellKey, float], n_tests: int, n_resamples: int, confidence: float
) -> OrderReport:
    model_scores, common, conventions = part.model_scores, part.common, part.model_scores.conventions
    scores: dict[str, Mapping[Convention, Score]] = {
        name: Scores([(c, common[c].scores[name]) for c in conventions]) for name in model_scores.scores
    }
    tests: dict[CellKey, dict[str, Any]] = {
        cell: {**part.results[cell]._asdict(), "p_corrected": p, "significant": p <= 1 - confidence}
        for cell, p in p_corrected.items()
    }
    comparisons: dict[tuple[str, str], list[Comparison]] = {}
    for first, second, c in part.cells:
        names: dict[str, Any] = {"first": first, "second": second, "convention": c}
        difference, test = scores[first][c].value - scores[second][c].value, tests.get((first, second, c), UNTESTED)
        comparisons.setdefault((first, second), []).append(Comparison(**names, difference=difference, **test))
    changes = (
        Change(pair, {c.ahead for c in compared if c.significant} >= set(pair))
        for pair, compared in comparisons.items()
        if {c.ahead for c in compared} >= set(pair)
    )
    notes = _notes_of_queries(model_scores, common) + _notes_of_tests(common, n_tests, n_resamples, 1 - confidence)
    worth = [[c.worth(by_convention[c].value) for by_convention in scores.values()] for c in conventions]
    return OrderReport(
        scores=scores, conventions=conventions, correlations=tuple(tuple(tau_b(a, b) for b in worth) for a in worth),
        comparisons=tuple(comparison for compared in comparisons.values() for comparison in compared),
        changes=tuple(changes), confidence=confidence, notes=tuple(notes),
    )  # fmt: skip


def _test(
    cells: list[CellKey], common: Mapping[Convention, CommonScores], progress: Progress, options: dict[str, Any]
) -> dict[CellKey, PairedTest]:
    """Test the differences that can be tested; those over equally many queries are tested together."""
    tested: dict[int, list[CellKey]] = {}
    for cell in cells:
        if common[cell[2]].shares and (n_queries := common[cell[2]].n_queries) > 1:
            tested.setdefault(n_queries, []).append(cell)
    results: dict[CellKey, PairedTest] = {}
    for number, group in enumerate(tested.values()):

        def advance_group(step: int, n_steps: int, n_before: int = number) -> object:
            return progress(n_before * n_steps + step, len(tested) * n_steps)

        differences = np.array([common[c].shares[first] - common[c].shares[second] for first, second, c in group])
        results |= zip(group, paired_tests(differences, progress=advance_group, **options), strict=True)
    return {cell: results[cell] for cell in cells if cell in results}


def _notes_of_queries(model_scores: ModelScores, common: Mapping[Convention, CommonScores]) -> list[str]:
    """Name models without results, and say how many queries each model scored where these are different queries."""
    notes = [f"{name} has no results for any query" for name in model_scores.without_results]
    for convention, (_, _, n_queries, n_scored) in common.items():
        if n_scored:
            queries = f"{n_queries} quer{'ies' if n_queries > 1 else 'y'}"
            notes.append(
                f"under {convention.name}, {listed(n_scored)}: the comparison is over the {queries} of all models"
            )
    return notes


def _notes_of_tests(
    common: Mapping[Convention, CommonScores], n_tests: int, n_resamples: int, level: float
) -> list[str]:
    """Say what was not tested, and whether the smallest possible p-value is too large for significance."""
    n_queries = max(scores.n_queries for scores in common.values())
    if n_queries == 1:
        return ["a single query says nothing of significance: there is nothing to resample"]
    not_sums = "its value is not a sum over the queries, which could be resampled"
    reasons = {c: "a single query is common" if c.is_sum else not_sums for c in common}
    notes = [
        f"nothing is tested under {c.name}: {reasons[c]}"
        for c, scores in common.items()
        if not c.is_sum or scores.n_queries == 1
    ]
    least = 2 / min(n_resamples + 1, 2**n_queries) * n_tests
    if least > level:
        notes.append(
            f"no difference can be significant: the smallest p-value of {n_resamples} resamples of {n_queries} "
            f"queries, corrected for {n_tests} comparisons, is {min(1.0, least):.2g}"
        )
    return notes
