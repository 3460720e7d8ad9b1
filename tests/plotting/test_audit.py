"""Plots of plain data: waterfall, scatter, curves and panels, and their SVG for a page."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from rankadapters.plotting.curves import curves, panels
from rankadapters.plotting.scatter import GRID, scatter
from rankadapters.plotting.svg import inline_svg
from rankadapters.plotting.waterfall import waterfall
from tests.helpers.tables import for_each

LONG_NAME = "auc/catboost.query_auc+ties=worst+pool=pairs+average=query"


def test_each_part_of_a_waterfall_starts_where_the_last_ended_in_the_color_of_its_sign():
    figure = waterfall((LONG_NAME, 0.75), {"short": -0.5, "empty": 0.125}, ("b", 0.375))
    figure.draw_without_rendering()  # warns where the axes collapse, which fails a test
    [axes] = figure.axes
    bars = [(bar.get_x(), bar.get_width()) for bar in axes.patches]
    assert bars == [(0, 0.75), (0.75, -0.5), (0.25, 0.125), (0, 0.375)]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [f"{LONG_NAME[:47]}…", "short", "empty", "b"]  # a long name is cut to leave room for the bars
    assert [text.get_text() for text in axes.texts] == ["0.7500", "-0.5000", "+0.1250", "0.3750"]
    colors = [bar.get_facecolor() for bar in axes.patches]
    assert len(set(colors)) == 3
    assert colors[0] == colors[3]


def test_a_scatter_merges_equal_points_into_a_larger_one_and_omits_nan():
    [axes] = scatter([0.5, 0.5, 0.5 + 0.1 / GRID, 0, np.nan], [1, 1, 1, 0, 1], "a", "b").axes
    [points] = axes.collections
    assert points.get_offsets().tolist() == [[0, 0], [0.5, 1]]
    assert points.get_sizes()[1] / points.get_sizes()[0] == pytest.approx(3**0.5)
    assert not any(points.get_linewidths())  # an edge would make a point larger
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("a", "b")


@for_each(
    ("x", "y", "ends"),
    [([0.25, 0.5], [0.5, 0.75], [0, 1]), ([-0.5, 0], [0.5, 0], [-0.5, 1]), ([0, 3], [0.5, 2], [0, 3])],
)
def test_the_diagonal_of_a_scatter_spans_zero_to_one_and_all_points(x, y, ends):
    [axes] = scatter(x, y, "a", "b").axes
    [line] = axes.lines
    assert line.get_xydata().tolist() == [[end, end] for end in ends]


def test_a_scatter_of_nan_only_has_empty_axes():
    [axes] = scatter([np.nan], [0.5], "a", "b").axes
    assert len(axes.collections[0].get_offsets()) == 0


def test_curves_differ_in_color_or_dashes_and_are_in_the_legend():
    figure = curves([1, 2, 3], {"yahoo": [0.1, 0.2, 0.3], "letor4": [0.3, np.nan, 0.1]}, "cutoff", "NDCG")
    [axes] = figure.axes
    assert [line.get_ydata()[0] for line in axes.lines] == [0.1, 0.3]
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 2
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["yahoo", "letor4"]


PANELS = {
    "AdaRank": {"LETOR": {"yahoo": [0.3, 0.1], "letor": [0.2, 0.1]}, "Yahoo!": {"letor": [0.6, 0.7]}},
    "RankSVM": {"LETOR": {"letor": [0.4, 0.2]}, "Yahoo!": {"yahoo": [0.7, 0.8]}},
}


def test_panels_share_a_scale_per_column_and_one_look_and_legend_entry_per_curve():
    figure = panels([1, 2], PANELS, "k", "NDCG")
    axes = figure.axes
    assert [panel.get_title() for panel in axes] == ["LETOR", "Yahoo!", "", ""]
    assert [panel.get_ylabel() for panel in axes] == ["AdaRank", "", "RankSVM", ""]
    assert axes[0].get_ylim() == axes[2].get_ylim() != axes[1].get_ylim()
    assert axes[0].get_shared_x_axes().joined(axes[0], axes[3])
    looks = {(line.get_label(), line.get_color(), line.get_linestyle()) for panel in axes for line in panel.get_lines()}
    assert {label for label, *_ in looks} == {"yahoo", "letor"}
    assert len(looks) == 2
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["yahoo", "letor"]
    assert [line.get_ydata().tolist() for line in axes[0].get_lines()] == [[0.3, 0.1], [0.2, 0.1]]
    [axes] = panels([1, 2], {"": {"LETOR": {"a": [0.1, 0.2]}}}, "k", "NDCG").axes  # one row needs no name
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("k", "")


def waterfall_svg(name):
    figure = waterfall(("a <b>", 0.75), {"short": -0.375}, ("b", 0.375))
    return inline_svg(figure, name=name, title="A <title>", description='says "so"')


def test_an_svg_has_a_description_uses_the_page_colors_and_leaks_no_style():
    text = waterfall_svg("gap")
    assert text == waterfall_svg("gap")
    assert text.startswith("<svg ")
    assert 'role="img" aria-labelledby="gap-title gap-description"' in text
    assert '<title id="gap-title">A &lt;title&gt;</title>' in text
    assert '<desc id="gap-description">says &quot;so&quot;</desc>' in text
    assert ">short</text>" in text
    assert "currentColor" in text
    assert "#000000" not in text
    assert "<style" not in text
    assert re.search(r"fill: *#fff", text) is None


def test_two_svgs_share_no_id_and_every_reference_has_its_id():
    ids = [set(re.findall(r'\bid="([^"]+)"', waterfall_svg(name))) for name in ("first", "second")]
    assert ids[0]
    assert not ids[0] & ids[1]
    references = set(re.findall(r'(?:href="#|url\(#)([^")]+)', waterfall_svg("first")))
    assert references
    assert references <= ids[0]


def test_without_matplotlib_the_error_names_the_extra_to_install():
    code = """
import sys
sys.modules["matplotlib"] = sys.modules["matplotlib.figure"] = None
from rankadapters import MissingToolkitError
from rankadapters.plotting.curves import curves, panels
from rankadapters.plotting.scatter import scatter
from rankadapters.plotting.waterfall import waterfall
for plot in (
    lambda: waterfall(("a", 1), {}, ("b", 1)), lambda: scatter([1], [1], "a", "b"),
    lambda: curves([1], {"a": [1]}, "x", "y"), lambda: panels([1], {"": {"a": {"b": [1]}}}, "x", "y"),
):
    try:
        plot()
    except MissingToolkitError as error:
        print(error)
"""
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output == 4 * 'matplotlib is not installed.\nHint: pip install "rankadapters[plot]"\n'
