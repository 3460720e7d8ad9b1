"""A value against the cutoff, one line per convention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankadapters.plotting.canvas import COLOURS, HEIGHT, LEGEND_LINE, LINES, canvas


def curves(x: Sequence[int], lines: Mapping[str, Sequence[float]], x_name: str, y_name: str) -> Any:
    """Draw a line for each name, told apart by colour and by dashes.

    Parameters
    ----------
    x : sequence of int
        Whole numbers, such as cutoffs.
    lines : mapping of str to sequence of float
        Values at `x`; NaN leaves a hole.
    x_name, y_name : str
        What the axes show.

    Returns
    -------
    matplotlib.figure.Figure
        With its legend below the axes.

    Raises
    ------
    MissingToolkitError
        matplotlib is not installed.
    """
    figure, axes = canvas(HEIGHT + LEGEND_LINE * len(lines))
    for number, (name, y) in enumerate(lines.items()):
        colour, dashes = COLOURS[number % len(COLOURS)], LINES[number % len(LINES)]
        axes.plot(x, y, color=colour, linestyle=dashes, marker=".", markersize=4, linewidth=1.4, label=name)
    axes.set(xlabel=x_name, ylabel=y_name)
    axes.xaxis.get_major_locator().set_params(integer=True)
    figure.legend(loc="outside lower left", frameon=False)
    return figure
