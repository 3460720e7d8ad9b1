"""Draw named numbers as horizontal bars, and differences with their intervals around a line at zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rankadapters.plotting.canvas import COLORS, DOWN, LINE, TOTAL, UP, canvas, name_rows


def bars(named: Sequence[tuple[str, float]], x_name: str) -> Any:
    """Draw a bar for each nonnegative number, the first on top, and write the number next to it."""
    figure, axes = canvas(1.0 + LINE * len(named))
    draw_bars(axes, named, [COLORS[0]] * len(named))
    for row, (_, value) in enumerate(named):
        axes.annotate(f"{value:.4f}", (value, row), (3, 0), textcoords="offset points", va="center")
    axes.set(xlabel=x_name)
    axes.margins(x=0.2)
    return figure


def draw_bars(axes: Any, named: Sequence[tuple[str, float]], colors: Sequence[str] | None = None) -> None:
    """Draw bars into axes; without `colors`, the color shows the sign."""
    names, numbers = zip(*named, strict=True)
    by_sign = [UP if number > 0 else DOWN for number in numbers]
    axes.barh(range(len(named)), numbers, color=by_sign if colors is None else colors, height=0.7)
    name_rows(axes, names)


class Interval(NamedTuple):
    """One row of the plot: a value and its interval."""

    name: str
    value: float
    low: float
    high: float
    significant: bool = True


def intervals(lines: Sequence[Interval], x_name: str, *, reference: float | None = 0.0) -> Any:
    """Draw a point and its interval for each row, the first on top; insignificant rows are gray.

    A dotted vertical line marks `reference`.
    """
    figure, axes = canvas(1.0 + LINE * len(lines))
    if reference is not None:
        axes.axvline(reference, color="black", linewidth=0.8, linestyle=":")
    for row, line in enumerate(lines):
        color = COLORS[0] if line.significant else TOTAL
        axes.plot([line.low, line.high], [row, row], color=color, linewidth=1.4)
        axes.plot([line.value], [row], color=color, marker="o", markersize=4)
    name_rows(axes, [line.name for line in lines])
    axes.set(xlabel=x_name)
    axes.margins(y=0.5 / len(lines))
    return figure
