"""Halfspace depth, depth regions and the bagplot against closed forms and counts over many directions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rankadapters.compare import Results, leave_one_out
from rankadapters.core.errors import InputError
from rankadapters.statistics.halfspace_depth import (
    _inside_fence,
    bagplot,
    convex_hull,
    depth_regions,
    halfspace_depth,
)
from tests.helpers.parameters import examples

SQUARE = [(0, 0), (0, 2), (2, 0), (2, 2)]
point_lists = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=9)


def as_fractions(points):
    return [(Fraction(x), Fraction(y)) for x, y in points]


def depth_by_directions(point, points):
    """Return the fewest points in a closed half-plane whose edge passes through `point`, by trying its directions."""
    offsets = [(x - point[0], y - point[1]) for x, y in points]
    angles = sorted(
        {(math.atan2(y, x) + turn) % (2 * math.pi) for x, y in offsets if (x, y) != (0, 0)
         for turn in (math.pi / 2, -math.pi / 2)}
    )  # fmt: skip
    if not angles:
        return len(points)
    # The count changes only at these angles, so one direction between each two is enough.
    between = [(a + b) / 2 for a, b in zip(angles, [*angles[1:], angles[0] + 2 * math.pi], strict=True)]
    return min(sum(x * math.cos(t) + y * math.sin(t) > -1e-9 for x, y in offsets) for t in between)


def test_only_the_centre_of_a_square_has_depth_3():
    plot = bagplot([*SQUARE, (1, 1)])
    assert (plot.depths, plot.median, len(plot.bag)) == ((1, 1, 1, 1, 3), (1.0, 1.0), 4)
    regions = depth_regions(as_fractions([*SQUARE, (1, 1)]))
    assert set(regions[0]) == set(as_fractions(SQUARE))
    assert [set(region) for region in regions[1:]] == [set(as_fractions([(1, 1)]))] * 2


@given(point_lists, st.tuples(st.integers(0, 12), st.integers(0, 12)))
@settings(deadline=None, max_examples=examples(100))
def test_depth_is_the_least_over_all_directions(points, doubled_point):
    point = (doubled_point[0] / 2, doubled_point[1] / 2)
    [center] = as_fractions([point])
    assert halfspace_depth(center, as_fractions(points)) == depth_by_directions(point, points)


def contains(polygon, point):
    corners = convex_hull(polygon)
    if len(corners) == 1:
        return corners[0] == point
    turns = [
        (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])
        for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)
    ]
    if len(corners) == 2:
        (left, right), inside = corners, turns[0] == 0
        return inside and left <= point <= right
    return min(turns) >= 0


@pytest.mark.long
@given(point_lists)
@settings(deadline=None, max_examples=examples(100))
def test_a_depth_region_contains_exactly_the_points_of_its_depth(drawn):
    points = as_fractions(drawn)
    [first, *rest] = dict.fromkeys(points)
    if all((p[0] - first[0]) * (q[1] - first[1]) == (p[1] - first[1]) * (q[0] - first[0]) for p in rest for q in rest):
        return  # points on one line have no bag
    regions = depth_regions(points)
    for x in range(13):
        for y in range(13):
            point = (Fraction(x, 2), Fraction(y, 2))
            depth = halfspace_depth(point, points)
            assert [contains(region, point) for region in regions] == [
                level <= depth for level in range(1, len(regions) + 1)
            ]


def test_the_median_is_the_center_of_the_deepest_region():
    """Depth 2 is where the hulls of all points but one meet: from (1, 1) to (2, 2)."""
    assert bagplot([(0, 0), (10, 0), (0, 10), (1, 1), (2, 2)]).median == (1.5, 1.5)


def test_a_far_point_is_an_outlier_and_hardly_moves_the_median():
    points = np.random.default_rng(1).normal(size=(30, 2)).tolist()
    plot, with_far_point = bagplot(points), bagplot([*points, (50.0, 50.0)])
    assert 30 in with_far_point.outliers
    assert set(with_far_point.outliers) <= {*plot.outliers, 30}
    assert with_far_point.median == pytest.approx(plot.median, abs=0.3)
    assert (50.0, 50.0) not in with_far_point.loop


@pytest.mark.parametrize("points", [[(1, 2)], [(1, 2)] * 9, SQUARE, SQUARE * 2, [(x, 2 * x) for x in range(9)]])
def test_fewer_than_five_distinct_points_or_a_line_have_no_bag(points):
    plot = bagplot(points)
    assert (plot.bag, plot.loop, plot.outliers) == ((), (), ())
    assert plot.median == pytest.approx(np.mean(points, axis=0))


@given(point_lists, st.integers(-3, 3), st.integers(1, 4))
@example([(0, 0), (0, 2), (0, 2), (0, 2), (1, 1), (1, 2), (2, 0)], 0, 2)  # a bag without area
@settings(deadline=None, max_examples=examples(100))
def test_the_median_shifts_and_scales_with_the_points(points, shift, factor):
    plot = bagplot(points)
    moved = bagplot([(factor * x + shift, y - shift) for x, y in points])
    assert moved.depths == plot.depths
    assert moved.outliers == plot.outliers
    assert moved.median == pytest.approx((factor * plot.median[0] + shift, plot.median[1] - shift))


def test_leave_one_out_gives_a_point_per_data_set_left_out():
    values = {"a": [3, 1, 2], "b": [1, 2, 1], "alone": []}
    cells = {(method, f"D{index}", "m"): value for method in values for index, value in enumerate(values[method])}
    report = leave_one_out(Results({**cells, ("alone", "D", "m"): 1.0}, higher_is_better=True))
    assert report.points("a")[:3] == [(2, Fraction(1, 2)), (2, Fraction(1)), (2, Fraction(1, 2))]
    with pytest.raises(InputError, match="'alone' has no opponents"):
        report.bagplot("alone")
    report = leave_one_out(Results(cells, higher_is_better=True))
    assert report.bagplot("a").median == (2.0, 0.5)
    assert report.bagplot("a").depths == (2, 1, 2)


def test_a_bag_needs_at_least_half_of_the_points_off_the_median():
    plot = bagplot([(0.1, 0.7)] * 9 + [(1, 0), (0, 1), (-1, 0), (0, -1), (2, 2)])
    assert (plot.median, plot.bag, plot.outliers) == ((0.1, 0.7), (), ())
    for n_copies, inset in [(1, 0.625), (2, 0.75), (3, 0.875), (4, 1)]:
        plot = bagplot([*SQUARE, *[(1, 1)] * n_copies])
        assert (plot.median, len(plot.bag)) == ((1, 1), 4), n_copies
        assert set(plot.bag) == set(product((inset, 2 - inset), repeat=2)), n_copies
    plot = bagplot([*SQUARE, *[(1, 1)] * 5])
    assert (plot.median, plot.bag) == ((1, 1), ())


@pytest.mark.parametrize(
    ("bag", "median", "point", "inside"),
    [
        ([(-10, -10), (10, -10), (10, 10), (-10, 10)], (0, 0), (29.9, 0.0), True),
        ([(-10, -10), (10, -10), (10, 10), (-10, 10)], (0, 0), (0.0, -30.1), False),
        # The fence allows rounding errors up to 1e-12 of the distance.
        ([(-10, -10), (10, -10), (10, 10), (-10, 10)], (0, 0), (30 + Fraction(30, 10**12), 0), True),
        ([(-10, -10), (10, -10), (10, 10), (-10, 10)], (0, 0), (30 + Fraction(31, 10**12), 0), False),
        # This point is on the fence, but rounding puts it 2.2e-16 outside.
        ([(0.1, 0.1), (1.3, 0.2), (1.1, 1.7), (0.2, 1.2)], (0.6, 0.7), (0.07390914941033966, 2.574393971894634), True),
    ],
)
def test_the_fence_is_three_times_as_far_as_the_bag_up_to_rounding(bag, median, point, inside):
    assert _inside_fence(bag, median, point) == inside
