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
    intervals,
    ranks,
    style,
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
