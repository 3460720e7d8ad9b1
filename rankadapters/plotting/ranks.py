"""Draw ranks under several conventions, one line per model; lines cross where the order of models changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankadapters.plotting.canvas import LEGEND_LINE, LINE, canvas, name_rows, style


def ranks(rows: Sequence[str], lines: Mapping[str, Sequence[int]], x_name: str) -> Any:
    """Draw a line for each model through its rank in each row, the first row on top; the legend is below."""
    figure, axes = canvas(1.2 + LINE * len(rows) + LEGEND_LINE * len(lines))
    for number, (name, positions) in enumerate(lines.items()):
        axes.plot(positions, range(len(rows)), **style(number, 4), marker="o", label=name)
    name_rows(axes, rows)
    axes.set(xlabel=x_name)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.margins(0.12)
    figure.legend(loc="outside lower left", frameon=False)
    return figure
