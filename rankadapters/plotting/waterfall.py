"""A gap and its parts, from one value to the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankadapters.plotting.canvas import DOWN, LINE, TOTAL, UP, canvas, shortened


def waterfall(start: tuple[str, float], parts: Mapping[str, float], end: tuple[str, float]) -> Any:
    """Draw each part where the one before it ends.

    Parameters
    ----------
    start, end : (str, float)
        Name and value at both ends; a long name is cut.
    parts : mapping of str to float
        What leads from one to the other, in the order of drawing.

    Returns
    -------
    matplotlib.figure.Figure
        Horizontal bars, the first at the top.

    Raises
    ------
    MissingToolkitError
        matplotlib is not installed.
    """
    names = [shortened(name) for name in (start[0], *parts, end[0])]
    figure, axes = canvas(1.0 + LINE * len(names))
    bars = [(0.0, start[1], TOTAL)]
    left = start[1]
    for part in parts.values():
        bars.append((left, part, UP if part >= 0 else DOWN))
        left += part
    bars.append((0.0, end[1], TOTAL))
    for place, (begin, width, colour) in enumerate(bars):
        axes.barh(place, width, left=begin, color=colour, height=0.7)
        text = f"{width:.4f}" if colour == TOTAL else f"{width:+.4f}"
        axes.annotate(text, (max(begin, begin + width), place), (3, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.margins(x=0.2)
    return figure
