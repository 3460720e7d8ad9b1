"""Bagplots: the median and the spread of points in the plane, one panel per method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rankadapters.plotting.canvas import COLORS, DOWN, TOTAL, WIDTH, empty_figure

COLUMNS = 3
PANEL = 2.0  # inches
Spot = tuple[float, float]


class Spread(NamedTuple):
    """The content of one panel; see `statistics.halfspace_depth.Bagplot`."""

    points: Sequence[Spot]
    median: Spot
    bag: Sequence[Spot]
    loop: Sequence[Spot]
    outliers: Sequence[int]


def bagplots(panels: Mapping[str, Spread], x_name: str, y_name: str) -> Any:
    """Draw the loop, bag, points and median of each panel, with shared axes and three panels per row."""
    n_rows = -(-len(panels) // COLUMNS)
    figure = empty_figure(WIDTH + 1.6, 0.6 + PANEL * n_rows)
    grid = figure.subplots(n_rows, COLUMNS, sharex=True, sharey=True).ravel()
    for axes, (name, spread) in zip(grid, panels.items(), strict=False):
        _draw(axes, spread)
        axes.set_title(name, fontsize=9)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    figure.supxlabel(x_name, fontsize=9)
    figure.supylabel(y_name, fontsize=9)
    return figure


def _draw(axes: Any, spread: Spread) -> None:
    for corners, alpha in ((spread.loop, 0.2), (spread.bag, 0.45)):
        if corners:
            axes.fill(*zip(*corners, strict=True), color=COLORS[0], alpha=alpha, linewidth=0)
    for index, point in enumerate(spread.points):
        is_outlier = index in spread.outliers
        axes.plot(*point, marker="x" if is_outlier else ".", color=DOWN if is_outlier else TOTAL, markersize=4)
    axes.plot(*spread.median, marker="P", color=COLORS[1], markersize=6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=7)
