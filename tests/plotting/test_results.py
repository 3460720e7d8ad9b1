"""Plots of results share one style, and results are shown as tables in notebooks."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

import rankadapters as ra
from rankadapters.compare import Results, winning_numbers
from rankadapters.plotting.plots import (
    COLORS,
    Interval,
    bars,
    contributions,
    curves,
    intervals,
    ranks,
    waterfall,
)

to_rgba = pytest.importorskip("matplotlib.colors").to_rgba

LINEAR, EXP2 = ra.parse("sklearn@2"), ra.parse("yahoo@2")
VALUES = {("a", "D1", "MAP"): 0.5, ("b", "D1", "MAP"): 0.4, ("c", "D1", "MAP"): 0.3, ("d", "D2", "MAP"): 0.1}


def winning_report(values=None):
    return winning_numbers(Results(values or VALUES, higher_is_better=True))


def order_report(**more):
    """Compare two models whose order under linear gains is reversed under exponential gains, and more models."""
    models = {"a": [4, 5, 1, 2, 0, 3], "b": [3, 0, 4, 1, 2, 5], **more}
    return ra.audit.order([2, 1, 0, 1, 2, 0], models, [LINEAR, EXP2], group_sizes=[3, 3])


def row_labels(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def test_the_plot_of_two_models_has_the_difference_with_its_interval_per_convention():
    report = order_report()
    figure = report.plot()
    [axes] = figure.axes
    assert row_labels(axes) == [LINEAR.name, EXP2.name]
    assert [tuple(line.get_xdata()) for line in axes.lines[1::2]] == [(c.low, c.high) for c in report.comparisons]
    assert axes.get_xlabel() == "a minus b, 95 % interval"
    assert " ".join(figure.get_suptitle().split()) == report.verdict()


def test_a_model_has_one_color_in_all_segments():
    rows = [Interval(f"{segment}, {model}", 0.5, 0.4, 0.6, model) for segment in "xy" for model in "abc"]
    [axes] = intervals(rows, "x", "title").axes
    points = [line.get_color() for line in axes.lines[2::2]]
    assert points == [*COLORS[:3]] * 2
    segments = ra.evaluate(
        [1, 0, 1, 0], {"a": [1, 2, 1, 2], "b": [2, 1, 2, 1]}, EXP2, qid=[1, 1, 2, 2], by=["x", "x", "y", "y"]
    )
    assert [line.get_color() for line in segments.plot().axes[0].lines[1::2]] == [*COLORS[:2]] * 2
    bars_of_models = segments.all.plot().axes[0].patches
    assert [bar.get_facecolor() for bar in bars_of_models] == [*map(to_rgba, COLORS[:2])]


def test_a_histogram_counts_the_values_of_the_queries_and_leaves_out_skipped_ones():
    labels, qid = [1, 0, 1, 0, 0, 0], [1, 1, 2, 2, 3, 3]
    measured = ra.Evaluator(labels, ["textbook@1", "textbook@1+empty=skip"], qid=qid).measure([2, 1, 1, 2, 1, 2])
    figure = measured.plot()
    [axes] = figure.axes
    heights = {outline.get_label(): max(outline.get_xy()[:, 1]) for outline in axes.patches}
    assert (axes.get_ylabel(), figure.get_suptitle()) == ("queries", "Values of the queries")
    assert sorted(heights.values()) == [1, 2]
    with pytest.raises(ra.UnsupportedConventionError, match="pool='rows' takes all rows as one query"):
        ra.Evaluator(labels, "sklearn.roc_auc_score", qid=qid).measure(labels).plot()


def test_the_plot_of_an_order_has_the_rank_of_each_model_per_convention():
    [axes] = (figure := order_report(last=[1, 2, 3, 2, 1, 3]).plot()).axes
    assert row_labels(axes) == [LINEAR.name, EXP2.name]
    lines = {line.get_label(): list(line.get_xdata()) for line in axes.lines}
    assert lines == {"a": [1, 2], "b": [2, 1], "last": [3, 3]}
    assert axes.yaxis_inverted()
    figure.draw_without_rendering()  # warns where the axes collapse, which fails a test


def test_the_plot_of_a_profile_has_the_largest_change_of_each_field():
    profile = ra.audit.profile([1, 0, 4, 0, 0], k=2, scores=[1, 2, 2, 2, 4], group_sizes=[3, 2])
    [axes] = (figure := profile.plot()).axes
    assert row_labels(axes) == [effect.field for effect in profile.effects]
    assert [bar.get_width() for bar in axes.patches] == [effect.change for effect in profile.effects]
    assert axes.get_xlabel() == "largest change of NDCG"
    figure.draw_without_rendering()
    with pytest.raises(ra.InputError, match="no field of a convention makes a difference"):
        replace(profile, effects=()).plot()


def test_winning_numbers_are_drawn_best_first_without_undefined_ones():
    [axes] = winning_report().plot().axes
    assert row_labels(axes) == ["a", "b", "c"]
    assert [bar.get_width() for bar in axes.patches] == [1, 0.5, 0]
    assert [text.get_text() for text in axes.texts] == ["1.0000", "0.5000", "0.0000"]
    assert row_labels(winning_report().plot(n=1).axes[0]) == ["a"]
    with pytest.raises(ra.InputError, match="no method has an opponent"):
        winning_report({("a", "D1", "MAP"): 0.5}).plot()


@pytest.mark.parametrize(
    "draw",
    [
        lambda: curves([1, 2], {"a": (0.0, 1.0)}, "x", "y"),
        lambda: ranks(["a", "b"], {"a": (1, 2), "b": (2, 1)}, "x"),
    ],
)
def test_axes_of_cutoffs_and_ranks_have_whole_ticks_only(draw):
    [axes] = draw().axes
    low, high = axes.get_xlim()
    assert [float(tick) for tick in axes.get_xticks() if low <= tick <= high] == [1, 2]


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


def test_the_error_without_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "rankadapters.plotting.figures", raising=False)  # import afresh
    for plot in (winning_report().plot, lambda: curves([1], {"a": [1]}, "x", "y"), order_report().plot):
        with pytest.raises(ra.MissingToolkitError, match=r"matplotlib is not installed.\nHint: .*rankadapters\[plot\]"):
            plot()


# Sizes


def names(n):
    return [f"n{number}" for number in range(n)]


def axes_inches(axes):
    axes.figure.draw_without_rendering()
    extent = axes.get_window_extent()
    return extent.height / axes.figure.dpi, extent.width / axes.figure.dpi


@pytest.mark.parametrize(
    "draw",
    [
        lambda n: bars([(name, 1.0) for name in names(n)], "x").axes[0],
        lambda n: contributions([(name, 1.0) for name in names(n)], title="theirs less ours").axes[0],
        lambda n: intervals([Interval(name, 0.0, -1.0, 1.0) for name in names(n)], "x").axes[0],
        lambda n: ranks(names(n), {"a": [1] * n, "b": [2] * n}, "x").axes[0],
        lambda n: waterfall(("a", 0.1), dict.fromkeys(names(n), 0.1), ("b", 1.0)).axes[0],
    ],
    ids=["bars", "contributions", "intervals", "ranks", "waterfall"],
)
def test_every_row_of_a_plot_adds_about_half_an_inch_of_height(draw):
    heights = [axes_inches(draw(n))[0] for n in (1, 2, 7)]
    assert heights[0] > 0.6
    assert 0.3 < heights[1] - heights[0] < 0.6
    assert 1.5 < heights[2] - heights[1] < 3


@pytest.mark.parametrize(
    "draw",
    [
        lambda n: curves([1, 2], dict.fromkeys(names(n), (0.0, 1.0)), "x", "y"),
        lambda n: ranks(names(10), dict.fromkeys(names(n), (1,) * 10), "x"),
    ],
    ids=["curves", "ranks"],
)
def test_a_longer_legend_does_not_shrink_the_axes(draw):
    height, width = axes_inches(draw(2).axes[0])
    for n in (3, 7):
        assert axes_inches(draw(n).axes[0]) == pytest.approx((height, width), rel=0.1)


# Notebooks


@pytest.mark.parametrize("make_plot", [lambda: bars([("a", 1.0)], "x"), lambda: winning_report().plot()])
def test_a_plot_is_shown_as_svg_in_notebooks_without_pyplot(monkeypatch, make_plot):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # importing it fails
    svg = make_plot()._repr_svg_()
    assert svg.lstrip().startswith("<?xml")
    assert svg.rstrip().endswith("</svg>")
    assert svg == make_plot()._repr_svg_()
