"""A gap and its parts, from one value to the other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from rankadapters.plotting.canvas import DOWN, LINE, TOTAL, UP, canvas, name_rows


def waterfall(start: tuple[str, float], parts: Mapping[str, float], end: tuple[str, float]) -> Any:
    """Draw the value at the start, each part where the one before it ends, and the value at the end; from the top."""
    names = (start[0], *parts, end[0])
    figure, axes = canvas(1.0 + LINE * len(names))
    lefts = accumulate(parts.values(), initial=start[1])
    steps = [(left, part, UP if part >= 0 else DOWN) for left, part in zip(lefts, parts.values(), strict=False)]
    bars = [(0.0, start[1], TOTAL), *steps, (0.0, end[1], TOTAL)]
    for place, (begin, width, colour) in enumerate(bars):
        axes.barh(place, width, left=begin, color=colour, height=0.7)
        text = f"{width:.4f}" if colour == TOTAL else f"{width:+.4f}"
        axes.annotate(text, (max(begin, begin + width), place), (3, 0), textcoords="offset points", va="center")
    name_rows(axes, names)
    axes.margins(x=0.2)
    return figure
