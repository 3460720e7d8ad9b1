"""All plots: plain data in, a matplotlib figure out. Figures fit a phone, and notebooks display them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from textwrap import wrap
from typing import Any, NamedTuple

from rankadapters.core.errors import InputError, MissingToolkitError

WIDTH, HEIGHT = 4.8, 3.6  # inches: text of 10 points stays legible when a phone shrinks the figure
LINE, LEGEND_LINE = 0.42, 0.22  # height of a bar and of a legend entry, in inches
PANEL, PANELS_PER_ROW = 2.0, 3  # height of a bagplot in inches
LETTER, SHORT = 0.08, 24  # width of a letter in inches, and letters of a name that leaves room for bars
TITLE = 60  # most letters in a line of a title
BINS = 20  # of a histogram
LONGEST = 48  # most letters of a name; longer names are truncated to leave room for the plot

# Okabe & Ito (2008), Color Universal Design: color-blind readers can distinguish these colors.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-", "--", "-.", ":")
UP, DOWN, TOTAL = "#009E73", "#D55E00", "#7F7F7F"

Named = Sequence[tuple[str, float]]
Spot = tuple[float, float]


class Interval(NamedTuple):
    """One row of `intervals`: a value, its interval, and the model or models that share a color."""

    name: str
    value: float
    low: float
    high: float
    model: str = ""


def empty_figure(width: float, height: float) -> Any:
    """Return an empty figure that notebooks display; raise MissingToolkitError if matplotlib is not installed."""
    try:
        from rankadapters.plotting.figures import ShownFigure
    except ImportError:
        raise MissingToolkitError.of("matplotlib", "plot") from None
    return ShownFigure(figsize=(width, height), layout="constrained")


def canvas(height: float = HEIGHT, title: str = "") -> tuple[Any, Any]:
    """Return an empty figure and its axes."""
    lines = wrap(title, TITLE)
    figure = empty_figure(WIDTH, height + LEGEND_LINE * len(lines))
    axes = figure.add_subplot()
    if lines:
        figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=10, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def style(number: int, markersize: float) -> dict[str, Any]:
    """Return the style of the line with this number; lines differ by color and by dashes."""
    color, dashes = COLORS[number % len(COLORS)], LINES[number % len(LINES)]
    return {"color": color, "linestyle": dashes, "markersize": markersize}


def bars(named: Named, x_name: str, title: str = "", *, models: bool = False) -> Any:
    """Draw a bar for each number, the first on top, with the number next to it; each of `models` has its color."""
    figure, axes = canvas(1.0 + LINE * len(named), title)
    longest = min(LONGEST, max(len(name) for name, _ in named))
    figure.set_figwidth(WIDTH + LETTER * max(0, longest - SHORT))
    _draw_bars(axes, named, [COLORS[row % len(COLORS) if models else 0] for row in range(len(named))])
    for row, (_, value) in enumerate(named):
        _write_value(axes, f"{value:.4f}", max(0.0, value), row)
    axes.set(xlabel=x_name)
    axes.margins(x=0.2)
    return figure


def contributions(named: Named, *, title: str, ax: Any = None) -> Any:
    """Draw a bar for each query's contribution to a difference, the first on top, and return the figure.

    The bars are drawn into `ax`, or into a new figure; their colors show the signs.
    """
    if not named:
        problem = "no query contributes to the difference, so there is nothing to draw."
        raise InputError(problem, hint="report.ok says so too")
    axes = canvas(1.5 + LINE * len(named))[1] if ax is None else ax
    _draw_bars(axes, named, [UP if value > 0 else DOWN for _, value in named])
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set(xlabel="contribution to the difference of the means", ylabel="query", title=title)
    return axes.figure


def waterfall(start: tuple[str, float], parts: Mapping[str, float], end: tuple[str, float], title: str = "") -> Any:
    """Draw from the top: the first value, each part starting at the end of the previous one, and the last value."""
    names = (start[0], *parts, end[0])
    figure, axes = canvas(1.0 + LINE * len(names), title)
    lefts = accumulate(parts.values(), initial=start[1])
    steps = [(left, part, UP if part >= 0 else DOWN) for left, part in zip(lefts, parts.values(), strict=False)]
    for row, (left, width, color) in enumerate([(0.0, start[1], TOTAL), *steps, (0.0, end[1], TOTAL)]):
        axes.barh(row, width, left=left, color=color, height=0.7)
        _write_value(axes, f"{width:.4f}" if color == TOTAL else f"{width:+.4f}", max(left, left + width), row)
    _name_rows(axes, names)
    axes.margins(x=0.2)
    return figure


def intervals(rows: Sequence[Interval], x_name: str, title: str = "", *, reference: float | None = 0.0) -> Any:
    """Draw a point and its interval for each row, the first on top, and a dotted vertical line at `reference`."""
    figure, axes = canvas(1.0 + LINE * len(rows), title)
    models = list(dict.fromkeys(row.model for row in rows))
    if reference is not None:
        axes.axvline(reference, color="black", linewidth=0.8, linestyle=":")
    for number, row in enumerate(rows):
        color = COLORS[models.index(row.model) % len(COLORS)]
        axes.plot([row.low, row.high], [number, number], color=color, linewidth=1.4)
        axes.plot([row.value], [number], color=color, marker="o", markersize=4)
    _name_rows(axes, [row.name for row in rows])
    axes.set(xlabel=x_name)
    axes.margins(y=0.5 / len(rows))
    return figure


def histograms(values: Mapping[str, Iterable[float]], x_name: str, title: str = "") -> Any:
    """Draw how many queries have which values, with an outline for each name; NaN is left out."""
    figure, axes = canvas(HEIGHT + LEGEND_LINE * len(values), title)
    columns = [[value for value in column if value == value] for column in values.values()]  # noqa: PLR0124 - NaN
    colors = [COLORS[number % len(COLORS)] for number in range(len(values))]
    axes.hist(columns, bins=BINS, histtype="step", linewidth=1.4, color=colors, label=list(values))
    axes.set(xlabel=x_name, ylabel="queries")
    figure.legend(loc="outside lower left", frameon=False)
    return figure


def curves(x: Sequence[int], lines: Mapping[str, Sequence[float]], x_name: str, y_name: str, title: str = "") -> Any:
    """Draw a line for each name over whole numbers `x`, such as cutoffs; NaN leaves a gap. The legend is below."""
    figure, axes = canvas(HEIGHT + LEGEND_LINE * len(lines), title)
    for number, (name, y) in enumerate(lines.items()):
        axes.plot(x, y, **style(number, 4), marker=".", linewidth=1.4, label=name)
    axes.set(xlabel=x_name, ylabel=y_name)
    axes.xaxis.get_major_locator().set_params(integer=True)
    figure.legend(loc="outside lower left", frameon=False)
    return figure


def ranks(rows: Sequence[str], lines: Mapping[str, Sequence[int]], x_name: str, title: str = "") -> Any:
    """Draw a line for each model through its rank in each row, as `lines_by_row` does."""
    figure = lines_by_row(rows, list(lines.items()), x_name, title)
    figure.axes[0].xaxis.get_major_locator().set_params(integer=True)
    return figure


def lines_by_row(
    rows: Sequence[str], lines: Sequence[tuple[str, Sequence[float]]], x_name: str, title: str = ""
) -> Any:
    """Draw a line for each name through its value in each row, the first row on top; the legend is below."""
    figure, axes = canvas(1.2 + LINE * len(rows) + LEGEND_LINE * len(lines), title)
    for number, (name, values) in enumerate(lines):
        axes.plot(values, range(len(rows)), **style(number, 4), marker="o", label=name)
    _name_rows(axes, rows)
    axes.set(xlabel=x_name)
    axes.margins(0.12)
    figure.legend(loc="outside lower left", frameon=False)
    return figure


def text(lines: str) -> Any:
    """Draw lines of text, in letters of equal width."""
    height, width = len(lines.splitlines()), max(map(len, lines.splitlines()))
    figure = empty_figure(0.4 + 0.08 * width, 0.4 + 0.16 * height)  # inches for letters of 9 points
    figure.text(0.2 / figure.get_figwidth(), 0.5, lines, family="monospace", fontsize=9, va="center", parse_math=False)
    return figure


def fronts(points: Mapping[str, Spot], front_ranks: Sequence[Sequence[str]], x_name: str, y_name: str) -> Any:
    """Draw each method as a point; name and connect the methods of each rank, and move overlapping names apart."""
    try:
        from adjustText import adjust_text
    except ImportError:
        raise MissingToolkitError.of("adjustText", "compare") from None
    figure, axes = canvas(WIDTH)
    named = {name for names in front_ranks for name in names}
    unnamed = [point for name, point in points.items() if name not in named]
    if unnamed:
        axes.scatter(*zip(*unnamed, strict=True), s=18.0, color=TOTAL, linewidths=0)
    texts = []
    for number, names in enumerate(front_ranks):
        if not names:
            continue
        color, corners = COLORS[number % len(COLORS)], zip(*sorted(points[name] for name in names), strict=True)
        axes.plot(*corners, color=color, marker="o", markersize=4, linewidth=1, label=f"rank {number + 1}")
        texts += [axes.text(*points[name], name, color=color, fontsize=8) for name in names]
    axes.set(xlabel=x_name, ylabel=y_name)
    axes.margins(0.12)
    if texts:
        figure.legend(loc="outside lower left", ncols=len(front_ranks), frameon=False)
    if len(texts) > 1:
        figure.canvas.draw()
        figure.set_layout_engine("none")  # a layout engine would move the names again
        arrow = {"arrowstyle": "-", "color": TOTAL, "linewidth": 0.6}
        adjust_text(texts, ax=axes, arrowprops=arrow, ensure_inside_axes=True, iter_lim=2000, force_text=(0.3, 0.6))
    return figure


def bagplots(panels: Mapping[str, tuple[Sequence[Spot], Any]], x_name: str, y_name: str) -> Any:
    """Draw the points of each panel and their `Bagplot`, with shared axes and three panels per row."""
    n_rows = -(-len(panels) // PANELS_PER_ROW)
    figure = empty_figure(WIDTH + 1.6, 0.6 + PANEL * n_rows)
    grid = figure.subplots(n_rows, PANELS_PER_ROW, sharex=True, sharey=True).ravel()
    for axes, (name, (points, bagplot)) in zip(grid, panels.items(), strict=False):
        _draw_bagplot(axes, points, bagplot)
        axes.set_title(name, fontsize=9)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    figure.supxlabel(x_name, fontsize=9)
    figure.supylabel(y_name, fontsize=9)
    return figure


def _draw_bagplot(axes: Any, points: Sequence[Spot], bagplot: Any) -> None:
    for corners, alpha in ((bagplot.loop, 0.2), (bagplot.bag, 0.45)):
        if corners:
            axes.fill(*zip(*corners, strict=True), color=COLORS[0], alpha=alpha, linewidth=0)
    for index, point in enumerate(points):
        is_outlier = index in bagplot.outliers
        axes.plot(*point, marker="x" if is_outlier else ".", color=DOWN if is_outlier else TOTAL, markersize=4)
    axes.plot(*bagplot.median, marker="P", color=COLORS[1], markersize=6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=7)


def _draw_bars(axes: Any, named: Named, colors: Sequence[str]) -> None:
    names, values = zip(*named, strict=True)
    axes.barh(range(len(named)), values, color=colors, height=0.7)
    _name_rows(axes, names)


def _write_value(axes: Any, text: str, x: float, row: int) -> None:
    """Write a value to the right of the end of its bar."""
    axes.annotate(text, (x, row), (3, 0), textcoords="offset points", va="center")


def _name_rows(axes: Any, names: Sequence[str]) -> None:
    """Write the names of a plot's rows on the left, the first on top; truncate long names."""
    axes.set_yticks(range(len(names)), [n if len(n) <= LONGEST else f"{n[: LONGEST - 1]}…" for n in names])
    axes.invert_yaxis()
