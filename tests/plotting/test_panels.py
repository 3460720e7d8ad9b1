"""A grid of panels of curves."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib")

from rankadapters.plotting.curves import panels

GRID = {
    "AdaRank": {"LETOR": {"yahoo": [0.3, 0.1], "letor": [0.2, 0.1]}, "Yahoo!": {"letor": [0.6, 0.7]}},
    "RankSVM": {"LETOR": {"letor": [0.4, 0.2]}, "Yahoo!": {"yahoo": [0.7, 0.8]}},
}


def test_rows_and_columns_are_named_and_columns_share_a_scale():
    axes = panels([1, 2], GRID, "k", "NDCG").axes
    assert [each.get_title() for each in axes] == ["LETOR", "Yahoo!", "", ""]
    assert [each.get_ylabel() for each in axes] == ["AdaRank", "", "RankSVM", ""]
    assert axes[0].get_ylim() == axes[2].get_ylim() != axes[1].get_ylim()


def test_a_curve_looks_alike_in_every_panel_and_stands_once_in_the_legend():
    figure = panels([1, 2], GRID, "k", "NDCG")
    looks = {
        (line.get_label(), line.get_color(), line.get_linestyle()) for axes in figure.axes for line in axes.get_lines()
    }
    assert {label for label, *_ in looks} == {"yahoo", "letor"}
    assert len(looks) == 2
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["yahoo", "letor"]
    assert [line.get_ydata().tolist() for line in figure.axes[0].get_lines()] == [[0.3, 0.1], [0.2, 0.1]]


def test_one_row_needs_no_name():
    [axes] = panels([1, 2], {"": {"LETOR": {"a": [0.1, 0.2]}}}, "k", "NDCG").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("k", "")
