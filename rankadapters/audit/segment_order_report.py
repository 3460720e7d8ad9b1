"""Whether one model is better than another in each segment of queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Unpack

from rankadapters.audit.models import ModelScores
from rankadapters.audit.order_report import (
    Comparison,
    OrderReport,
    Pairs,
    Resampling,
    cells_of,
    compare_parts,
    head_of,
    plot_differences,
    verdict,
)  # fmt: skip
from rankadapters.core.classes import frozen_class
from rankadapters.evaluation.assignment import assign
from rankadapters.evaluation.score import signatures
from rankadapters.evaluation.segment_sums import refuse_pooled
from rankadapters.evaluation.segments import exact_segment, name_of_all, segment_column
from rankadapters.evaluation.table import Table
from rankadapters.statistics.cells import signed
from rankadapters.statistics.document import Document, plain

NAMED = 5  # most segments that a note names


class _Row(NamedTuple):
    """A comparison in a segment."""

    segment: Any  # None for all queries
    name: str
    n_queries: int
    comparison: Comparison


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentOrderReport(Document):
    """Comparison of the first model with each other model in segments of queries; made by `order(..., by=)`.

    The numbers of a segment are those of `order` for its queries alone, but the p-values are corrected over all
    segments.

    Attributes
    ----------
    all : OrderReport
        The comparison over all queries.
    segments : dict of segment to OrderReport
        The comparison in each segment, sorted as in `ra.evaluate(..., by=)`.
    """

    all: OrderReport
    segments: dict[Any, OrderReport] = field(repr=False)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The comparisons of each segment, then those over all queries."""
        return tuple(row.comparison for row in self._rows())

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the segments and of all queries, each with the names of its segments."""
        segments: dict[str, list[str]] = {}
        for name, report in self._reports():
            for note in report.notes:
                segments.setdefault(note, []).append(name)
        return tuple(f"{_listed(names)}: {note}" for note, names in segments.items())

    def _reports(self) -> Iterator[tuple[str, OrderReport]]:
        for segment, report in self.segments.items():
            yield str(exact_segment(segment)), report
        yield name_of_all(map(exact_segment, self.segments)), self.all

    def _rows(self) -> Iterator[_Row]:
        for segment, (name, report) in zip([*self.segments, None], self._reports(), strict=True):
            for c in report.comparisons:
                yield _Row(exact_segment(segment), name, report.scores[c.first][c.convention].n_scored, c)

    def blocks(self) -> list[str | Table]:
        """Return the difference over all queries in a sentence, a table of the comparisons, signatures and notes."""
        remarks = [signatures(self.all.conventions), *(f"Note: {note}" for note in self.notes)]
        return [self.outcome(), self.pair_table(), "\n".join(remarks)]

    def outcome(self) -> str:
        """Return a sentence for each comparison over all queries, with the number of segments that each model leads."""
        reports, sentences = self.segments.values(), []
        for number, c in enumerate(self.all.comparisons):
            ahead = [report.comparisons[number].ahead for report in reports]
            significant = [report.comparisons[number].significant for report in reports]
            interval = "" if c.low is None or c.high is None else f" ({signed(c.low, c.high)})"
            under = f"Under {c.convention.name}, " if len(self.all.conventions) > 1 else ""
            sentences.append(
                f"{under}{c.first} minus {c.second} is {signed(c.difference)}{interval}. {c.first} is ahead in "
                f"{ahead.count(c.first)} of {len(reports)} segments and {c.second} in {ahead.count(c.second)}; "
                f"{sum(significant)} of these differences {'is' if sum(significant) == 1 else 'are'} significant."
            )
        return "\n".join(sentences)

    def verdict(self) -> str:
        """Return a sentence for each other model under the first convention: which is better, and where."""
        sentences, n_segments = [], len(self.segments)
        for number, c in enumerate(self.all.comparisons):
            if c.convention == self.all.conventions[0]:
                ahead = [report.comparisons[number].ahead for report in self.segments.values()]
                sentences.append(verdict(c, f", in {ahead.count(c.ahead)} of {n_segments} segments"))
        return "\n".join(sentences)

    def pair_table(self) -> Table:
        """Return a row for each segment, pair of models and convention; the rows of all queries come last."""
        lines = [
            (row.name, str(row.n_queries), f"{c.first} - {c.second}", c.convention.name, *cells_of(c))
            for row in self._rows()
            for c in [row.comparison]
        ]
        head = "segment", "scored", "models", "convention", *head_of(self.all.confidence)
        return Table.of("Differences in segments", head, lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types: the report of each segment, that of all queries, and the notes."""
        *segments, _ = ((name, report.to_dict()) for name, report in self._reports())
        return {"segments": dict(segments), "all": self.all.to_dict(), "notes": plain(self.notes)}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each comparison; `segment` is missing for all queries.

        Raises
        ------
        MissingToolkitError
            pandas is not installed.
        """
        return segment_column(Document.to_frame(self), [row["segment"] for row in self._frame_rows()])

    def _frame_rows(self) -> list[dict[str, Any]]:
        return [
            {
                "segment": row.segment, "n_scored": row.n_queries,
                "name": row.comparison.convention.name, **row.comparison.to_dict(),
            }
            for row in self._rows()
        ]  # fmt: skip

    def plot(self) -> Any:
        """Return a matplotlib Figure of each segment's difference and interval, with a line at 0.

        Raises
        ------
        MissingToolkitError
            matplotlib is not installed.
        """
        rows = [(row.name, row.comparison) for row in self._rows()]
        return plot_differences(rows, self.all.confidence, self.verdict())


def compare_segments(model_scores: ModelScores, by: object, **tests: Unpack[Resampling]) -> SegmentOrderReport:
    """Compare the first model with each other model in each segment, from scores that have already been computed."""
    refuse_pooled(model_scores.conventions)
    segments = assign(by, next(iter(model_scores.measured.values())).queries)
    parts = {name: partial(model_scores.of_queries, numbers) for name, numbers in segments.items()}
    reports = compare_parts({**parts, None: lambda: model_scores}, _with_first, **tests)
    return SegmentOrderReport(all=reports.pop(None), segments=reports)


def _with_first(models: Iterable[str]) -> Pairs:
    first, *others = models
    return [(first, other) for other in others]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
