"""Named numbers as horizontal bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankadapters.plotting.canvas import COLOURS, DOWN, LINE, UP, canvas, name_rows


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
