"""Plots of plain data: waterfall and curves."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from rankadapters.plotting.plots import curves, waterfall

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


def test_curves_differ_in_color_or_dashes_and_are_in_the_legend():
    figure = curves([1, 2, 3], {"yahoo": [0.1, 0.2, 0.3], "letor4": [0.3, np.nan, 0.1]}, "cutoff", "NDCG")
    [axes] = figure.axes
    assert [line.get_ydata()[0] for line in axes.lines] == [0.1, 0.3]
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 2
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["yahoo", "letor4"]


def test_without_matplotlib_the_error_names_the_extra_to_install():
    code = """
import sys
sys.modules["matplotlib"] = sys.modules["matplotlib.figure"] = None
from rankadapters import MissingToolkitError
from rankadapters.plotting.plots import curves, waterfall
for plot in (lambda: waterfall(("a", 1), {}, ("b", 1)), lambda: curves([1], {"a": [1]}, "x", "y")):
    try:
        plot()
    except MissingToolkitError as error:
        print(error)
"""
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output == 2 * 'matplotlib is not installed.\nHint: pip install "rankadapters[plot]"\n'
