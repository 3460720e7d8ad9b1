"""Plots of plain data, and their SVG inside a page."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from rankadapters.plotting.curves import curves
from rankadapters.plotting.scatter import GRID, scatter
from rankadapters.plotting.svg import inline_svg
from rankadapters.plotting.waterfall import waterfall


def test_a_part_begins_where_the_one_before_it_ends():
    [axes] = waterfall(("a", 0.75), {"short": -0.5, "empty": 0.125}, ("b", 0.375)).axes
    bars = [(bar.get_x(), bar.get_width()) for bar in axes.patches]
    assert bars == [(0, 0.75), (0.75, -0.5), (0.25, 0.125), (0, 0.375)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "short", "empty", "b"]
    assert [text.get_text() for text in axes.texts] == ["0.7500", "-0.5000", "+0.1250", "0.3750"]


def test_a_long_name_is_cut_so_that_the_bars_have_room():
    name = "auc/catboost.query_auc+ties=worst+pool=pairs+average=query"
    figure = waterfall((name, 0.75), {"ties": -0.5}, ("b", 0.25))
    figure.draw_without_rendering()  # warns where the axes collapse, which fails a test
    [axes] = figure.axes
    assert axes.get_yticklabels()[0].get_text() == "auc/catboost.query_auc+ties=worst+pool=pairs+av…"


def test_parts_up_and_down_differ_in_color():
    [axes] = waterfall(("a", 0.5), {"up": 0.25, "down": -0.25}, ("b", 0.5)).axes
    colors = [bar.get_facecolor() for bar in axes.patches]
    assert len(set(colors)) == 3
    assert colors[0] == colors[3]


def test_points_that_coincide_are_one_of_larger_area_and_nan_is_left_out():
    [axes] = scatter([0.5, 0.5, 0.5 + 0.1 / GRID, 0, np.nan], [1, 1, 1, 0, 1], "a", "b").axes
    [points] = axes.collections
    assert points.get_offsets().tolist() == [[0, 0], [0.5, 1]]
    assert points.get_sizes()[1] / points.get_sizes()[0] == pytest.approx(3**0.5)
    assert not any(points.get_linewidths())  # edges would make them larger
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("a", "b")


@pytest.mark.parametrize(
    ("x", "y", "ends"),
    [([0.25, 0.5], [0.5, 0.75], [0, 1]), ([-0.5, 0], [0.5, 0], [-0.5, 1]), ([0, 3], [0.5, 2], [0, 3])],
)
def test_the_line_of_equal_values_spans_the_unit_and_all_points(x, y, ends):
    [axes] = scatter(x, y, "a", "b").axes
    [line] = axes.lines
    assert line.get_xydata().tolist() == [[end, end] for end in ends]


def test_a_scatter_of_nothing_is_empty_axes():
    [axes] = scatter([np.nan], [0.5], "a", "b").axes
    assert len(axes.collections[0].get_offsets()) == 0


def test_lines_differ_in_color_and_dashes_and_are_named():
    figure = curves([1, 2, 3], {"yahoo": [0.1, 0.2, 0.3], "letor4": [0.3, np.nan, 0.1]}, "cutoff", "NDCG")
    [axes] = figure.axes
    assert [line.get_ydata()[0] for line in axes.lines] == [0.1, 0.3]
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 2
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["yahoo", "letor4"]


def svg(name):
    figure = waterfall(("a <b>", 0.75), {"short": -0.375}, ("b", 0.375))
    return inline_svg(figure, name=name, title="A <title>", description='says "so"')


def test_an_svg_says_what_it_shows():
    text = svg("gap")
    assert text.startswith("<svg ")
    assert 'role="img" aria-labelledby="gap-title gap-description"' in text
    assert '<title id="gap-title">A &lt;title&gt;</title>' in text
    assert '<desc id="gap-description">says &quot;so&quot;</desc>' in text
    assert ">short</text>" in text


def test_an_svg_follows_the_pages_colors_and_leaks_no_style():
    text = svg("gap")
    assert "currentColor" in text
    assert "#000000" not in text
    assert "<style" not in text
    assert re.search(r"fill: *#fff", text) is None


def test_ids_of_two_svgs_never_meet_and_every_reference_is_met():
    ids = [set(re.findall(r'\bid="([^"]+)"', svg(name))) for name in ("first", "second")]
    assert ids[0]
    assert not ids[0] & ids[1]
    references = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg("first")))
    assert references
    assert references <= ids[0]


def test_the_same_figure_gives_the_same_svg():
    assert svg("gap") == svg("gap")


@pytest.mark.parametrize("plot", ["waterfall", "scatter", "curves", "panels"])
def test_without_matplotlib_the_extra_is_named(plot):
    arguments = {
        "waterfall": "('a', 1), {}, ('b', 1)", "scatter": "[1], [1], 'a', 'b'", "curves": "[1], {'a': [1]}, 'x', 'y'",
        "panels": "[1], {'': {'a': {'b': [1]}}}, 'x', 'y'",
    }  # fmt: skip
    code = f"""
import sys
sys.modules["matplotlib"] = sys.modules["matplotlib.figure"] = None
from rankadapters import MissingToolkitError
from rankadapters.plotting.{"curves" if plot == "panels" else plot} import {plot}
try:
    {plot}({arguments[plot]})
except MissingToolkitError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found == 'matplotlib is not installed.\nHint: pip install "rankadapters[plot]"\n'
