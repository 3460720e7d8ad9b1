"""Charts of the web page, each with a description for screen readers."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.evaluation import evaluate_usable
from rankadapters.audit.explanation import Explanation
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.score import Score
from rankadapters.plotting.curves import curves
from rankadapters.plotting.scatter import scatter
from rankadapters.plotting.svg import inline_svg
from rankadapters.statistics.cells import signed
from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.page import Chart

Floats = NDArray[np.float64]

CUTOFFS = range(1, 21)
SPOKEN = (1, 5, 10, 20)  # cutoffs that the descriptions name


def waterfall_chart(explanation: Explanation, model: str, name: str) -> Chart:
    """Return a chart of the parts of a gap."""
    a, b = explanation.a, explanation.b
    title = f"{model}: from {a.convention.name} to {b.convention.name}"
    parts = ", ".join(f"{field} {signed(part)}" for field, part in explanation.contributions.items())
    description = f"Bars from {a.value:.4f} to {b.value:.4f}: {parts}."
    return Chart(inline_svg(explanation.plot(), name=name, title=title, description=description), title)


def query_scatter(x: Floats, y: Floats, names: tuple[str, str], model: str, name: str) -> Chart:
    """Return a chart of each query's value under two conventions."""
    both = ~np.isnan(x) & ~np.isnan(y)
    lower, higher = int(np.sum(y[both] < x[both])), int(np.sum(y[both] > x[both]))
    title = f"{model}: each query under {names[0]} and {names[1]}"
    description = (
        f"Of {x.size} queries {int(both.sum())} have a value under both: {lower} a lower one under {names[1]}, "
        f"{higher} a higher one, {int(both.sum()) - lower - higher} the same."
    )
    figure = scatter(x, y, *names)
    svg = inline_svg(figure, name=name, title=title, description=description)
    return Chart(svg, f"{title}. {description}")


def cutoff_curves(
    queries: Queries, scores: object, known_scores: Mapping[Convention, Score], model: str, name: str
) -> Chart:
    """Return a chart of a model's value against the cutoff, with one line per convention that has a cutoff."""
    conventions = [convention for convention in known_scores if has_cutoff(type(convention))]
    values = evaluate_usable(queries, scores, (c.at(k) for c in conventions for k in CUTOFFS), known_scores)
    # Conventions that differ only in their cutoff share a line, which is named after the first of them.
    different = {c.at(CUTOFFS[0]): c for c in reversed(conventions)}
    lines = {}
    for convention in reversed(different.values()):
        points = (values.get(convention.at(k)) for k in CUTOFFS)
        lines[convention.name.partition("/")[2]] = [math.nan if score is None else score.value for score in points]
    title = f"{model}: value against the cutoff"
    texts = (f"{label} {', '.join(f'{_text(line[k - 1])} at {k}' for k in SPOKEN)}" for label, line in lines.items())
    measures = dict.fromkeys(convention.measure.upper() for convention in conventions)
    figure = curves(list(CUTOFFS), lines, "cutoff k", ", ".join(f"{measure}@k" for measure in measures))
    svg = inline_svg(figure, name=name, title=title, description=f"One line per convention. {'; '.join(texts)}.")
    return Chart(svg, title)


def _text(value: float) -> str:
    return "no value" if math.isnan(value) else f"{value:.4f}"
