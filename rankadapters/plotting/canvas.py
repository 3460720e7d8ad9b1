"""Helpers for all plots: an empty figure that fits a phone, and colors for light and dark backgrounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankadapters.core.errors import MissingToolkitError

WIDTH, HEIGHT = 4.8, 3.6  # inches: text of 10 points stays legible when a phone shrinks the figure

# Okabe & Ito (2008), Color Universal Design: color-blind readers can distinguish these colors.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-", "--", "-.", ":")
LINE, LEGEND_LINE = 0.42, 0.22  # height of a bar and of a legend entry, in inches
LONGEST = 48  # most letters of a name; longer names are truncated to leave room for the plot
UP, DOWN, TOTAL = "#009E73", "#D55E00", "#7F7F7F"


def empty_figure(width: float, height: float) -> Any:
    """Return an empty figure that notebooks display; raise MissingToolkitError if matplotlib is not installed."""
    try:
        from rankadapters.plotting.figures import ShownFigure
    except ImportError:
        raise MissingToolkitError.of("matplotlib", "plot") from None
    return ShownFigure(figsize=(width, height), layout="constrained")


def canvas(height: float = HEIGHT) -> tuple[Any, Any]:
    """Return an empty figure and its axes."""
    figure = empty_figure(WIDTH, height)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def style(number: int, markersize: float) -> dict[str, Any]:
    """Return the style of the line with this number; lines differ by color and by dashes."""
    color, dashes = COLORS[number % len(COLORS)], LINES[number % len(LINES)]
    return {"color": color, "linestyle": dashes, "markersize": markersize}


def name_rows(axes: Any, names: Sequence[str]) -> None:
    """Write the names of a plot's rows on the left, the first on top; truncate long names."""
    axes.set_yticks(range(len(names)), [n if len(n) <= LONGEST else f"{n[: LONGEST - 1]}…" for n in names])
    axes.invert_yaxis()
