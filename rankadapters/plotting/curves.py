"""A value against the cutoff, one line per convention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankadapters.plotting.canvas import HEIGHT, LEGEND_LINE, canvas, style


def curves(x: Sequence[int], lines: Mapping[str, Sequence[float]], x_name: str, y_name: str) -> Any:
    """Draw a line for each name over whole numbers `x`, such as cutoffs; NaN leaves a hole. The legend is below."""
    figure, axes = canvas(HEIGHT + LEGEND_LINE * len(lines))
    for number, (name, y) in enumerate(lines.items()):
        axes.plot(x, y, **style(number, 4), marker=".", linewidth=1.4, label=name)
    axes.set(xlabel=x_name, ylabel=y_name)
    axes.xaxis.get_major_locator().set_params(integer=True)
    figure.legend(loc="outside lower left", frameon=False)
    return figure
