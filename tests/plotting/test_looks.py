"""The look of every plot in numbers: sizes in inches, margins, fonts, legends, lines, bars, points and colors."""

from __future__ import annotations

import pytest

from rankadapters.plotting.plots import (
    COLORS,
    LINES,
    Interval,
    bagplots,
    bars,
    contributions,
    curves,
    fronts,
    histograms,
    intervals,
    ranks,
    style,
    text,
    waterfall,
)
from rankadapters.statistics.halfspace_depth import Bagplot

to_hex = pytest.importorskip("matplotlib.colors").to_hex

UNIT_CURVE, TRIANGLE = (0.0, 1.0), ((0, 0), (0, 1), (1, 1))
SPREAD = Bagplot(median=(0, 0), bag=TRIANGLE, loop=TRIANGLE, outliers=(1,), depths=(1, 1))
PLOTS = {
    "bars": lambda: bars([("a", 1.0), ("b", 0.5)], "x"),
    "intervals": lambda: intervals([Interval("a", 0.0, -1.0, 1.0)] * 2, "x"),
    "waterfall": lambda: waterfall(("a", 1), {"p": 0.0}, ("b", 1)),
    "contributions": lambda: contributions([("a", 1.0), ("b", 0.0)], title="t").figure,
    "ranks": lambda: ranks(["r", "s"], {"a": (1, 2), "b": (2, 1)}, "x"),
    "histograms": lambda: histograms({"a": [0.0, 1.0, 0.5], "b": [0.25, float("nan"), 0.75]}, "x"),
    "text": lambda: text("abc\nde"),
    "curves": lambda: curves([0, 1], {"a": UNIT_CURVE, "b": UNIT_CURVE}, "x", "y"),
    "bagplots": lambda: bagplots({"a": ([(0, 0), (1, 1)], SPREAD)}, "x", "y"),
    "fronts": lambda: fronts({"a": (0, 0), "b": (1, 1), "c": (0.5, 0)}, [["b"], ["a"]], "x", "y"),
}


LOOKS = {
    "bars": (
        "4.8 x 1.84; lb 1 auto (0.2, 0.05) [12, 10, 10] ; #0072b2ff 0.7 1; 1.0000 (3, 0) center; 0.5000 (3, 0) center"
    ),
    "intervals": (
        "4.8 x 1.84; lb 1 auto (0.05, 0.25) [12, 10, 10] ; #000000 0.8:None6; #0072b2 1.4-None6; #0072b2 1.5-o4"
    ),
    "waterfall": (
        "4.8 x 2.26; lb 1 auto (0.2, 0.05) [12, 10, 10] ; #7f7f7fff 0.7 1; #009e73ff 0.7 1; 1.0000 (3, 0) center;"
        " +0.0000 (3, 0) center"
    ),
    "contributions": (
        "4.8 x 2.34; lb 1 auto (0.05, 0.05) [12, 10, 10] ; #000000 0.8-None6; #009e73ff 0.7 1; #d55e00ff 0.7 1"
    ),
    "ranks": ("4.8 x 2.48; legend 10 10; lb 1 auto (0.12, 0.12) [12, 10, 10] ; #0072b2 1.5-o4; #d55e00 1.5--o4"),
    "histograms": ("4.8 x 4.04; legend 10 10; lb 1 auto (0.05, 0.05) [12, 10, 10] ; #d55e0000 0 1.4; #0072b200 0 1.4"),
    "text": "0.64 x 0.72; abc\nde 9",
    "curves": ("4.8 x 4.04; legend 10 10; lb 1 auto (0.05, 0.05) [12, 10, 10] ; #0072b2 1.4-.4; #d55e00 1.4--.4"),
    "bagplots": (
        "6.4 x 2.6; x 9; y 9; lb 1 auto (0.05, 0.05) [9, 10, 10] 7; #7f7f7f 1.5-.4; #d55e00 1.5-x4; #d55e00 "
        "1.5-P6; #0072b233 0 0; #0072b273 0 0; lrbt 0 auto (0.05, 0.05) [12, 10, 10] "
    ),
    "fronts": (
        "4.8 x 4.8; legend 20 10; lb 1 auto (0.12, 0.12) [12, 10, 10] ; #0072b2 1.0-o4; #d55e00 1.0-o4; [18.] None [0];"
        " b 8.0 center; a 8.0 center"
    ),
}


def describe_look(figure):
    """Return all numbers of a figure as one text, without repetitions."""
    facts = [f"{figure.get_figwidth():g} x {figure.get_figheight():g}"]
    facts += [f"{text.get_text()} {text.get_fontsize():g}" for text in figure.texts]
    facts += [
        f"legend {legend._ncols:d}{legend.get_frame_on():d} {legend.get_texts()[0].get_fontsize():g}"
        for legend in figure.legends
    ]
    for axes in figure.axes:
        spines = "".join(side[0] for side, spine in axes.spines.items() if spine.get_visible())
        letters = [f"{text.get_fontsize():g}" for text in (axes.title, axes.xaxis.label, axes.yaxis.label)]
        size = axes.xaxis.get_tick_params().get("labelsize", "")
        facts.append(f"{spines} {axes.get_visible():d} {axes.get_aspect()} {axes.margins()} {letters} {size}")
        facts += [
            f"{to_hex(line.get_color())} {line.get_linewidth()}{line.get_linestyle()}{line.get_marker()}"
            f"{line.get_markersize():g}"
            for line in axes.lines
        ]
        for patch in axes.patches:
            color, height = to_hex(patch.get_facecolor(), keep_alpha=True), getattr(patch, "get_height", lambda: 0.0)()
            facts.append(f"{color} {height:.3g} {patch.get_linewidth():g}")
        facts += [f"{points.get_sizes()} {points.get_alpha()} {points.get_linewidths()}" for points in axes.collections]
        facts += [f"{text.get_text()} {getattr(text, 'xyann', text.get_size())} {text.get_va()}" for text in axes.texts]
    return "; ".join(dict.fromkeys(facts)).replace("'", "")


@pytest.mark.parametrize("plot", PLOTS)
def test_the_look_of_every_plot_is_unchanged(plot):
    pytest.importorskip("adjustText" if plot == "fronts" else "matplotlib")
    assert describe_look(PLOTS[plot]()) == LOOKS[plot]


def test_colors_and_dashes_of_lines_repeat_in_turn():
    looks = [(style(number, 4)["color"], style(number, 4)["linestyle"]) for number in range(13)]
    assert looks == [(COLORS[number % 6], LINES[number % 4]) for number in range(13)]


def test_a_histogram_has_20_bins():
    corners = [outline.get_xy().shape[0] for outline in PLOTS["histograms"]().axes[0].patches]
    assert corners == [2 * 20 + 2] * 2


def test_lines_of_text_begin_a_fifth_of_an_inch_from_the_left_in_letters_of_equal_width():
    figure = text("abc\nde")
    [lines] = figure.texts
    assert lines.get_position() == pytest.approx((0.2 / figure.get_figwidth(), 0.5))
    assert (lines.get_family(), lines.get_va()) == (["monospace"], "center")


@pytest.mark.parametrize(
    ("length", "width", "shown"), [(24, 4.8, 24), (25, 4.88, 25), (48, 6.72, 48), (49, 6.72, 48), (60, 6.72, 48)]
)
def test_long_names_widen_a_plot_and_end_after_48_letters(length, width, shown):
    figure = bars([("n" * length, 1.0), ("b", 0.5)], "x")
    name = figure.axes[0].get_yticklabels()[0].get_text()
    assert figure.get_figwidth() == pytest.approx(width)
    assert name == "n" * length if shown == length else name == f"{'n' * 47}…"


def test_each_line_of_a_long_title_adds_height():
    figure, titled = bars([("a", 1.0)], "x"), bars([("a", 1.0)], "x", "t " * 45)
    [title] = titled.texts
    assert title.get_text().split("\n") == [" ".join("t" * 30), " ".join("t" * 15)]
    assert (title.get_position()[0], title.get_ha(), title.get_fontsize()) == (0.01, "left", 10)
    assert titled.get_figheight() - figure.get_figheight() == pytest.approx(2 * 0.22)


def test_numbers_are_written_at_the_right_end_of_a_bar():
    axes = bars([("a", 1.0), ("b", -0.5), ("c", 0.25)], "x", models=True).axes[0]
    assert [(text.xy[0], text.xy[1]) for text in axes.texts] == [(1, 0), (0, 1), (0.25, 2)]
    assert [to_hex(bar.get_facecolor()) for bar in axes.patches] == [color.lower() for color in COLORS[:3]]
    axes = waterfall(("a", 1.0), {"p": -0.5, "q": 0.25}, ("b", 0.75)).axes[0]
    assert [text.xy[0] for text in axes.texts] == [1, 1, 0.75, 0.75]


@pytest.mark.parametrize(("n_panels", "n_rows"), [(1, 1), (3, 1), (4, 2), (7, 3)])
def test_bagplots_have_three_panels_in_a_row_and_no_others(n_panels, n_rows):
    figure = bagplots({f"p{number}": ([(0, 0), (1, 1)], SPREAD) for number in range(n_panels)}, "x", "y")
    assert figure.get_figheight() == pytest.approx(0.6 + 2 * n_rows)
    assert [axes.get_visible() for axes in figure.axes] == [number < n_panels for number in range(3 * n_rows)]
