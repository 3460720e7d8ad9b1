"""Draw one point per query: its value under one convention against its value under another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankadapters.plotting.canvas import WIDTH, canvas

GRID = 100  # points are rounded to 1/100 and merged, so that a page stays small for any number of queries
COLOR = "#2E86C1"  # visible when overlapping, on light and dark backgrounds
AREA = 9.0  # of the marker of a single query, in square points


def scatter(x: ArrayLike, y: ArrayLike, x_name: str, y_name: str) -> Any:
    """Draw pairs of values and the line of equal values; a point's area grows with the number of its pairs.

    A pair with a NaN is left out.
    """
    figure, axes = canvas(WIDTH)
    pairs = np.column_stack([np.asarray(x, float), np.asarray(y, float)])
    pairs = pairs[~np.isnan(pairs).any(axis=1)]
    points, counts = np.unique(np.round(pairs * GRID) / GRID, axis=0, return_counts=True)
    low, high = (float(pick) for pick in (min(points.min(initial=0), 0), max(points.max(initial=1), 1)))
    axes.plot([low, high], [low, high], color="black", linewidth=0.8, linestyle=":")
    axes.scatter(*points.T, s=AREA * counts**0.5, color=COLOR, alpha=0.75, linewidths=0)
    axes.set(xlabel=x_name, ylabel=y_name, aspect="equal")
    return figure
