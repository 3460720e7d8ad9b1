"""Evaluate columns in memory for each segment of queries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.evaluation.assignment import Assignment, assign
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.evaluation.measured import Measured
from rankadapters.evaluation.score import Shape
from rankadapters.evaluation.segment_sums import Outcome, naming, outcomes, sums_by_segment
from rankadapters.evaluation.segments import Segments


def evaluate_segments(evaluator: Evaluator, models: Mapping[Any, object], by: object, shape: Shape) -> Segments[Any]:
    """Return the result of `ra.evaluate(..., by=by)`."""
    segments = assign(by, evaluator.queries)
    by_model = {
        name: outcomes_of(evaluator, column, evaluator.measure(column), segments) for name, column in models.items()
    }
    return Segments(shape, by_model)


def outcomes_of(
    evaluator: Evaluator, scores: object, measured: Measured, segments: Assignment | None
) -> dict[Any, dict[Convention, Outcome]]:
    """Return the outcomes by segment; None means all queries.

    For measures over all rows, each segment's rows are ranked separately.
    """
    if segments is None:
        return {None: _without_errors(measured)}
    over_rows = [convention for convention in evaluator.conventions if convention.over == "rows"]
    over_queries = [convention for convention in evaluator.conventions if convention.over != "rows"]
    by_segment: dict[Any, dict[Convention, Outcome]] = {name: {} for name in (*segments, None)}
    if over_queries:
        by_segment = outcomes(sums_by_segment(measured.under(over_queries), segments), over_queries)
    if over_rows:
        array = evaluator.queries.check_scores(scores)
        for name, numbers in segments.items():
            queries, rows = evaluator.queries.select(numbers)
            with naming(name):
                part = Evaluator.of(queries, over_rows, evaluator.n_threads).measure(array[rows])
                by_segment[name] |= _without_errors(part)
        by_segment[None] |= _without_errors(measured.under(over_rows))
    return by_segment


def _without_errors(measured: Measured) -> dict[Convention, Outcome]:
    return {convention: Outcome(score, math.nan) for convention, score in measured.scores.items()}
