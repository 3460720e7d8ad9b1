"""One point per query: its value here against its value there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankadapters.plotting.canvas import WIDTH, canvas

GRID = 100  # points closer than 1/100 are one, so that a page stays small however many queries there are
COLOUR = "#2E86C1"  # reads through itself on light and dark ground
AREA = 9.0  # points squared, of a single query


def scatter(x: ArrayLike, y: ArrayLike, x_name: str, y_name: str) -> Any:
    """Draw pairs of values beside the line on which they are equal; the area of a point tells how many there are.

    A pair with a NaN is left out.
    """
    figure, axes = canvas(WIDTH)
    pairs = np.column_stack([np.asarray(x, float), np.asarray(y, float)])
    pairs = pairs[~np.isnan(pairs).any(axis=1)]
    points, counts = np.unique(np.round(pairs * GRID) / GRID, axis=0, return_counts=True)
    low, high = (float(pick) for pick in (min(points.min(initial=0), 0), max(points.max(initial=1), 1)))
    axes.plot([low, high], [low, high], color="black", linewidth=0.8, linestyle=":")
    axes.scatter(*points.T, s=AREA * counts**0.5, color=COLOUR, alpha=0.75, linewidths=0)
    axes.set(xlabel=x_name, ylabel=y_name, aspect="equal")
    return figure
