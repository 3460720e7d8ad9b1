"""What every plot shares: an empty figure that fits a phone, and colours that read on light and dark ground."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankadapters.core.errors import MissingToolkitError

WIDTH, HEIGHT = 4.8, 3.6  # inches: at 10 points the text is still legible where a phone shrinks it

# Okabe & Ito (2008), Color Universal Design: told apart by colour-blind readers; black is left to text and axes.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-", "--", "-.", ":")
LINE, LEGEND_LINE = 0.42, 0.22  # inches of a bar, and of an entry of the legend
LONGEST = 48  # letters of a name; longer ones would leave no room for what is drawn
UP, DOWN, TOTAL = "#009E73", "#D55E00", "#7F7F7F"


def empty_figure(width: float, height: float) -> Any:
    """Make a figure that notebooks show, or raise a MissingToolkitError where matplotlib is not installed."""
    try:
        from rankadapters.plotting.figures import ShownFigure
    except ImportError:
        raise MissingToolkitError.of("matplotlib", "plot") from None
    return ShownFigure(figsize=(width, height), layout="constrained")


def canvas(height: float = HEIGHT) -> tuple[Any, Any]:
    """Make a figure and its axes."""
    figure = empty_figure(WIDTH, height)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def style(number: int, markersize: float) -> dict[str, Any]:
    """Return how the line of this number looks: told apart by colour and by dashes."""
    colour, dashes = COLOURS[number % len(COLOURS)], LINES[number % len(LINES)]
    return {"color": colour, "linestyle": dashes, "markersize": markersize}


def name_rows(axes: Any, names: Sequence[str]) -> None:
    """Name the rows of a plot at its left, the first on top; a long name is cut."""
    axes.set_yticks(range(len(names)), [n if len(n) <= LONGEST else f"{n[: LONGEST - 1]}…" for n in names])
    axes.invert_yaxis()
