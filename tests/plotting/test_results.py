"""Plots of results in one style, and results as tables in notebooks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.compare import Results, stratified_tests, winning_numbers
from rankadapters.parity import ParityReport
from rankadapters.plotting.bagplots import Spread, bagplots
from rankadapters.plotting.bars import Interval, bars, intervals
from rankadapters.plotting.canvas import COLORS, DOWN, TOTAL, UP, WIDTH
from rankadapters.plotting.curves import curves, panels
from rankadapters.plotting.parity import contributions
from rankadapters.plotting.ranks import ranks
from rankadapters.plotting.waterfall import waterfall
from tests.helpers.tables import for_each

pytest.importorskip("matplotlib")

LINEAR, EXP2 = ra.parse("sklearn@2"), ra.parse("yahoo@2")
VALUES = {("a", "D1", "MAP"): 0.5, ("b", "D1", "MAP"): 0.4, ("c", "D1", "MAP"): 0.3, ("d", "D2", "MAP"): 0.1}


def compared(values=None):
    return winning_numbers(Results(values or VALUES, higher_is_better=True))


def ordered():
    """Two models that change places between linear and exponential gains."""
    pytest.importorskip("scipy")
    models = {"a": [4, 5, 1, 2, 0, 3], "b": [3, 0, 4, 1, 2, 5]}
    return ra.audit.order([2, 1, 0, 1, 2, 0], models, [LINEAR, EXP2], group_sizes=[3, 3])


def stratified():
    pytest.importorskip("scipy")
    rng = np.random.default_rng(0)
    datasets = {name: ra.Queries(rng.integers(0, 3, 200), group_sizes=[5] * 40) for name in ("D1", "D2")}
    scores = {
        name: {"good": queries.labels + 0.1 * rng.random(200), "noise": rng.random(200), "other": rng.random(200)}
        for name, queries in datasets.items()
    }
    return stratified_tests(datasets, scores, "textbook@3")


def ticks(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def test_order_draws_the_rank_of_each_model_under_each_convention():
    [axes] = (figure := ordered().plot()).axes
    assert ticks(axes) == [LINEAR.name, EXP2.name]
    assert {line.get_label(): list(line.get_xdata()) for line in axes.lines} == {"a": [1, 2], "b": [2, 1]}
    assert axes.yaxis_inverted()
    figure.draw_without_rendering()  # warns where the axes collapse, which fails a test


def test_profile_draws_the_largest_change_of_each_field():
    profile = ra.audit.profile([1, 0, 4, 0, 0], k=2, scores=[1, 2, 2, 2, 4], group_sizes=[3, 2])
    [axes] = (figure := profile.plot()).axes
    assert ticks(axes) == [effect.field for effect in profile.effects]
    assert [bar.get_width() for bar in axes.patches] == [effect.change for effect in profile.effects]
    assert axes.get_xlabel() == "largest change of NDCG"
    figure.draw_without_rendering()
    with pytest.raises(ra.InputError, match="no field of a convention makes a difference"):
        replace(profile, effects=()).plot()


def test_winning_numbers_are_drawn_best_first_without_those_that_are_undefined():
    [axes] = compared().plot().axes
    assert ticks(axes) == ["a", "b", "c"]
    assert [bar.get_width() for bar in axes.patches] == [1, 0.5, 0]
    assert [text.get_text() for text in axes.texts] == ["1.0000", "0.5000", "0.0000"]
    assert ticks(compared().plot(n=1).axes[0]) == ["a"]
    with pytest.raises(ra.InputError, match="no method has an opponent"):
        compared({("a", "D1", "MAP"): 0.5}).plot()


def test_tests_over_data_sets_draw_intervals_and_grey_is_not_significant():
    report = stratified()
    [axes] = (figure := report.plot()).axes
    assert ticks(axes) == ["good - noise", "good - other", "noise - other"]
    bars_, points = axes.lines[1::2], axes.lines[2::2]
    for comparison, bar, point in zip(report.comparisons, bars_, points, strict=True):
        assert list(bar.get_xdata()) == [comparison.low, comparison.high]
        assert list(point.get_xdata()) == [comparison.difference]
        assert bar.get_color() == (COLORS[0] if comparison.p_corrected <= 0.05 else TOTAL)
    assert {bar.get_color() for bar in bars_} == {COLORS[0], TOTAL}
    words = ["yes" if comparison.p_corrected <= 0.05 else "no" for comparison in report.comparisons]
    assert [line[-1] for line in report.blocks()[0].lines] == words
    figure.draw_without_rendering()


def test_contributions_have_the_colors_of_parts_up_and_down():
    from matplotlib.colors import to_rgba

    ax = contributions([("q1", 0.5), ("q2", -0.25)], title="theirs less ours")
    assert [bar.get_facecolor() for bar in ax.patches] == [to_rgba(UP), to_rgba(DOWN)]
    assert ax.figure.get_figwidth() == WIDTH


def test_bars_have_room_for_long_names_and_their_numbers():
    figure = bars([("auc/catboost.query_auc+ties=worst+pool=pairs+average=query", 0.5), ("b", 0.25)], "change")
    figure.draw_without_rendering()
    assert ticks(figure.axes[0]) == ["auc/catboost.query_auc+ties=worst+pool=pairs+av…", "b"]


@for_each(
    "figure",
    [
        lambda: curves([1, 2], {"a": (0.0, 1.0)}, "x", "y"),
        lambda: panels([1, 2], {"": {"a": {"b": (0.0, 1.0)}}}, "x", "y"),
        lambda: ranks(["a", "b"], {"a": (1, 2), "b": (2, 1)}, "x"),
    ],
)
def test_cutoffs_and_ranks_are_marked_by_whole_numbers(figure):
    [axes] = figure().axes
    low, high = axes.get_xlim()
    assert [float(tick) for tick in axes.get_xticks() if low <= tick <= high] == [1, 2]


# Sizes


def names(n):
    return [f"n{place}" for place in range(n)]


def inches(axes):
    """Height and width of what is drawn into."""
    axes.figure.draw_without_rendering()
    extent = axes.get_window_extent()
    return extent.height / axes.figure.dpi, extent.width / axes.figure.dpi


@for_each(
    "drawn",
    [
        lambda n: bars([(name, 1.0) for name in names(n)], "x").axes[0],
        lambda n: contributions([(name, 1.0) for name in names(n)], title="theirs less ours"),
        lambda n: intervals([Interval(name, 0.0, -1.0, 1.0, True) for name in names(n)], "x").axes[0],
        lambda n: ranks(names(n), {"a": [1] * n, "b": [2] * n}, "x").axes[0],
        lambda n: waterfall(("a", 0.1), dict.fromkeys(names(n), 0.1), ("b", 1.0)).axes[0],
    ],
    ids=["bars", "contributions", "intervals", "ranks", "waterfall"],
)
def test_every_row_of_a_plot_adds_the_height_of_a_line_or_two_of_text(drawn):
    heights = [inches(drawn(n))[0] for n in (1, 2, 7)]
    assert heights[0] > 0.6
    assert 0.3 < heights[1] - heights[0] < 0.6
    assert 1.5 < heights[2] - heights[1] < 3


@for_each(
    "drawn",
    [
        lambda n: curves([1, 2], dict.fromkeys(names(n), (0.0, 1.0)), "x", "y"),
        lambda n: panels([1, 2], {"": dict.fromkeys("ab", dict.fromkeys(names(n), (0.0, 1.0)))}, "x", "y"),
        lambda n: ranks(names(10), dict.fromkeys(names(n), (1,) * 10), "x"),
    ],
    ids=["curves", "panels", "ranks"],
)
def test_a_legend_takes_no_room_from_what_is_drawn(drawn):
    height, width = inches(drawn(2).axes[0])
    for n in (3, 7):
        assert inches(drawn(n).axes[0]) == pytest.approx((height, width), rel=0.1)


@for_each("n", [1, 3, 4])
def test_panels_of_bagplots_are_nearly_square(n):
    spread = Spread([(0, 0)], (0, 0), [], [], [])
    height, width = inches(bagplots(dict.fromkeys(names(n), spread), "x", "y").axes[0])
    assert height == pytest.approx(width, rel=0.2)


# Notebooks


@for_each("made", [ordered, compared, stratified, lambda: ParityReport(())])
def test_a_result_is_a_table_in_notebooks_of_html_and_of_markdown(made):
    result = made()
    assert result._repr_markdown_() == result.to_markdown()
    assert result._repr_html_().startswith("<")


def test_results_show_their_first_cells():
    shown = Results(VALUES, higher_is_better=True)._repr_html_()
    assert "<caption>Results(4 methods, 2 datasets, 1 measure, 4 cells)</caption>" in shown
    assert shown.count("<tr>") == 1 + 4
    many = Results({(f"m{i}", "D", "MAP"): i / 50 for i in range(50)}, higher_is_better=True)
    assert many._repr_markdown_().startswith("Results(50 methods, 1 dataset, 1 measure, 50 cells), the first 20\n")
    assert many._repr_html_().count("<tr>") == 1 + 20
    assert "| m1 | D | MAP | 0.02 |" in many._repr_markdown_()


@for_each("made", [lambda: bars([("a", 1.0)], "x"), lambda: compared().plot()])
def test_a_notebook_shows_a_plot_though_pyplot_was_never_imported(made):
    shown = made()._repr_svg_()
    assert shown.lstrip().startswith("<?xml")
    assert shown.rstrip().endswith("</svg>")
    assert shown == made()._repr_svg_()
