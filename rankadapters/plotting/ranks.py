"""Ranks under several conventions, a line per model: lines cross where models change places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankadapters.plotting.canvas import COLOURS, LEGEND_LINE, LINE, LINES, canvas, name_rows


def ranks(rows: Sequence[str], lines: Mapping[str, Sequence[int]], x_name: str) -> Any:
    """Draw the rank of each model in each row, the first row on top.

    Parameters
    ----------
    rows : sequence of str
        What the ranks are under.
    lines : mapping of str to sequence of int
        Ranks from 1 on, by model; of models with one value the same rank.
    x_name : str
        What the ranks are.

    Returns
    -------
    matplotlib.figure.Figure
        With its legend below the axes.

    Raises
    ------
    MissingToolkitError
        matplotlib is not installed.
    """
    figure, axes = canvas(1.2 + LINE * len(rows) + LEGEND_LINE * len(lines))
    for number, (name, places) in enumerate(lines.items()):
        colour, dashes = COLOURS[number % len(COLOURS)], LINES[number % len(LINES)]
        axes.plot(places, range(len(rows)), color=colour, linestyle=dashes, marker="o", markersize=4, label=name)
    name_rows(axes, rows)
    axes.set(xlabel=x_name)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.margins(0.12)
    figure.legend(loc="outside lower left", frameon=False)
    return figure
