"""Draw methods as points; name the methods on the Pareto fronts, and connect them by lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankadapters.core.errors import MissingToolkitError
from rankadapters.plotting.canvas import COLORS, TOTAL, WIDTH, canvas

AREA = 18.0  # of a marker, in square points
ARROW = {"arrowstyle": "-", "color": TOTAL, "linewidth": 0.6}


def fronts(points: Mapping[str, tuple[float, float]], ranks: Sequence[Sequence[str]], x_name: str, y_name: str) -> Any:
    """Draw each method as a point; name and connect the methods of each rank, and move overlapping names apart."""
    try:
        from adjustText import adjust_text
    except ImportError:
        raise MissingToolkitError.of("adjustText", "compare") from None
    figure, axes = canvas(WIDTH)
    named = {name for names in ranks for name in names}
    unnamed = [point for name, point in points.items() if name not in named]
    if unnamed:
        axes.scatter(*zip(*unnamed, strict=True), s=AREA, color=TOTAL, linewidths=0)
    texts = []
    for number, names in enumerate(ranks):
        if not names:
            continue
        color = COLORS[number % len(COLORS)]
        corners = sorted(points[name] for name in names)
        axes.plot(
            *zip(*corners, strict=True), color=color, marker="o", markersize=4, linewidth=1, label=f"rank {number + 1}"
        )
        texts += [axes.text(*points[name], name, color=color, fontsize=8) for name in names]
    axes.set(xlabel=x_name, ylabel=y_name)
    axes.margins(0.12)
    if texts:
        figure.legend(loc="outside lower left", ncols=len(ranks), frameon=False)
    if len(texts) > 1:
        figure.canvas.draw()
        figure.set_layout_engine("none")  # a layout engine would move the names again
        adjust_text(texts, ax=axes, arrowprops=ARROW, ensure_inside_axes=True, iter_lim=2000, force_text=(0.3, 0.6))
    return figure
