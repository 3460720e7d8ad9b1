"""Differences with their intervals, beside the line of no difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rankadapters.plotting.canvas import COLOURS, LINE, TOTAL, canvas, name_rows


class Interval(NamedTuple):
    """One line of the plot."""

    name: str
    value: float
    low: float
    high: float
    significant: bool


def intervals(several: Sequence[Interval], x_name: str) -> Any:
    """Draw a point and its interval for each of one or more lines, the first on top; grey is not significant."""
    figure, axes = canvas(1.0 + LINE * len(several))
    axes.axvline(0, color="black", linewidth=0.8, linestyle=":")
    for place, each in enumerate(several):
        colour = COLOURS[0] if each.significant else TOTAL
        axes.plot([each.low, each.high], [place, place], color=colour, linewidth=1.4)
        axes.plot([each.value], [place], color=colour, marker="o", markersize=4)
    name_rows(axes, [each.name for each in several])
    axes.set(xlabel=x_name)
    axes.margins(y=0.5 / len(several))
    return figure
