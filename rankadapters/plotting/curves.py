"""Draw values by cutoff, one line per convention: in one plot, or in a grid of small panels with one legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankadapters.plotting.canvas import HEIGHT, LEGEND_LINE, WIDTH, canvas, empty_figure, style

PANEL = 1.5  # height in inches
Curves = Mapping[str, Sequence[float]]


def curves(x: Sequence[int], lines: Mapping[str, Sequence[float]], x_name: str, y_name: str) -> Any:
    """Draw a line for each name over whole numbers `x`, such as cutoffs; NaN leaves a gap. The legend is below."""
    figure, axes = canvas(HEIGHT + LEGEND_LINE * len(lines))
    for number, (name, y) in enumerate(lines.items()):
        axes.plot(x, y, **style(number, 4), marker=".", linewidth=1.4, label=name)
    axes.set(xlabel=x_name, ylabel=y_name)
    axes.xaxis.get_major_locator().set_params(integer=True)
    figure.legend(loc="outside lower left", frameon=False)
    return figure


def panels(x: Sequence[int], grid: Mapping[str, Mapping[str, Curves]], x_name: str, y_name: str) -> Any:
    """Draw a panel for each row and column of a grid; the panels of a column have the same scale.

    The grid maps row names to column names to curves over whole numbers `x`, such as cutoffs. Every row has the same
    columns, and its name may be empty. Curves of the same name have the same style. The legend is below the panels.
    """
    columns = list(next(iter(grid.values())))
    names = list(dict.fromkeys(name for row in grid.values() for curves in row.values() for name in curves))
    height = PANEL * len(grid) + 1.0 + 0.2 * -(-len(names) // len(columns))
    figure = empty_figure(WIDTH + 1.6, height)
    axes = figure.subplots(len(grid), len(columns), sharex=True, sharey="col", squeeze=False)
    for panel_row, (row, curves_by_column) in zip(axes, grid.items(), strict=True):
        for panel, column in zip(panel_row, columns, strict=True):
            _draw(panel, x, curves_by_column[column], names)
        panel_row[0].set_ylabel(row, fontsize=9)
    for panel, column in zip(axes[0], columns, strict=True):
        panel.set_title(column, fontsize=9)
    axes[-1][len(columns) // 2].set_xlabel(x_name, fontsize=9)  # a supxlabel would overlap the legend
    figure.supylabel(y_name, fontsize=9)
    handles = {line.get_label(): line for panel in axes.ravel() for line in panel.get_lines()}
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=len(columns), frameon=False, fontsize=9)
    return figure


def _draw(axes: Any, x: Sequence[int], curves: Curves, names: list[str]) -> None:
    for name, y in curves.items():
        axes.plot(x, y, **style(names.index(name), 3), marker=".", linewidth=1.1, label=name)
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.tick_params(labelsize=7)
