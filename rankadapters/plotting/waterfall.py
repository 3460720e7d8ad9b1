"""Draw the difference of two values as a waterfall of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from rankadapters.plotting.canvas import DOWN, LINE, TOTAL, UP, canvas, name_rows


def waterfall(start: tuple[str, float], parts: Mapping[str, float], end: tuple[str, float]) -> Any:
    """Draw from the top: the first value, each part starting at the end of the previous one, and the last value."""
    names = (start[0], *parts, end[0])
    figure, axes = canvas(1.0 + LINE * len(names))
    starts = accumulate(parts.values(), initial=start[1])
    steps = [(left, part, UP if part >= 0 else DOWN) for left, part in zip(starts, parts.values(), strict=False)]
    bars = [(0.0, start[1], TOTAL), *steps, (0.0, end[1], TOTAL)]
    for row, (left, width, color) in enumerate(bars):
        axes.barh(row, width, left=left, color=color, height=0.7)
        text = f"{width:.4f}" if color == TOTAL else f"{width:+.4f}"
        axes.annotate(text, (max(left, left + width), row), (3, 0), textcoords="offset points", va="center")
    name_rows(axes, names)
    axes.margins(x=0.2)
    return figure
