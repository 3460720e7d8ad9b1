"""Named numbers as horizontal bars, and differences with their intervals beside the line of no difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rankadapters.plotting.canvas import COLOURS, DOWN, LINE, TOTAL, UP, canvas, name_rows


def bars(named: Sequence[tuple[str, float]], x_name: str) -> Any:
    """Draw a bar for each of one or more numbers from 0 on, the first on top, with the number beside it."""
    figure, axes = canvas(1.0 + LINE * len(named))
    draw_bars(axes, named, [COLOURS[0]] * len(named))
    for place, (_, value) in enumerate(named):
        axes.annotate(f"{value:.4f}", (value, place), (3, 0), textcoords="offset points", va="center")
    axes.set(xlabel=x_name)
    axes.margins(x=0.2)
    return figure


def draw_bars(axes: Any, named: Sequence[tuple[str, float]], colours: Sequence[str] | None = None) -> None:
    """Draw into axes; without colours by sign, as the parts of a gap are."""
    names, numbers = zip(*named, strict=True)
    by_sign = [UP if number > 0 else DOWN for number in numbers]
    axes.barh(range(len(named)), numbers, color=by_sign if colours is None else colours, height=0.7)
    name_rows(axes, names)


class Interval(NamedTuple):
    """One line of the plot."""

    name: str
    value: float
    low: float
    high: float
    significant: bool = True


def intervals(several: Sequence[Interval], x_name: str, *, line: float | None = 0.0) -> Any:
    """Draw a point and its interval for each of one or more lines, the first on top; grey is not significant.

    `line` is the value at which a vertical line is drawn.
    """
    figure, axes = canvas(1.0 + LINE * len(several))
    if line is not None:
        axes.axvline(line, color="black", linewidth=0.8, linestyle=":")
    for place, each in enumerate(several):
        colour = COLOURS[0] if each.significant else TOTAL
        axes.plot([each.low, each.high], [place, place], color=colour, linewidth=1.4)
        axes.plot([each.value], [place], color=colour, marker="o", markersize=4)
    name_rows(axes, [each.name for each in several])
    axes.set(xlabel=x_name)
    axes.margins(y=0.5 / len(several))
    return figure
