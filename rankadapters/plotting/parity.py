"""Draw each query's contribution to the difference of two numbers as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankadapters.core.errors import InputError
from rankadapters.plotting.bars import draw_bars
from rankadapters.plotting.canvas import LINE, canvas


def contributions(bars: Sequence[tuple[str, float]], *, title: str, ax: Any = None) -> Any:
    """Draw a bar for each query's contribution to a difference, the first on top, and return the figure.

    The bars are drawn into `ax`, or into a new figure.
    """
    if not bars:
        msg = "no query contributes to the difference, so there is nothing to draw.\nHint: report.ok says so too."
        raise InputError(msg)
    if ax is None:
        _, ax = canvas(1.5 + LINE * len(bars))
    draw_bars(ax, bars)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set(xlabel="contribution to the difference of the means", ylabel="query", title=title)
    return ax.figure
