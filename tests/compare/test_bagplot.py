"""Halfspace depth, depth regions and the bagplot: closed forms, and counting over many directions."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
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
from tests.helpers.depth import examples
from tests.helpers.tables import for_each

SQUARE = [(0, 0), (0, 2), (2, 0), (2, 2)]
points = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=9)


def exact(several):
    return [(Fraction(x), Fraction(y)) for x, y in several]


def depth_by_directions(point, several):
    """Fewest points on one side, over a direction between each two at which the count can change."""
    offsets = [(x - point[0], y - point[1]) for x, y in several]
    angles = sorted(
        {(math.atan2(y, x) + turn) % (2 * math.pi) for x, y in offsets if (x, y) != (0, 0)
         for turn in (math.pi / 2, -math.pi / 2)}
    )  # fmt: skip
    if not angles:
        return len(several)
    between = [(a + b) / 2 for a, b in zip(angles, [*angles[1:], angles[0] + 2 * math.pi], strict=True)]
    return min(sum(x * math.cos(t) + y * math.sin(t) > -1e-9 for x, y in offsets) for t in between)


def test_a_square_and_its_centre():
    found = bagplot([*SQUARE, (1, 1)])
    assert (found.depths, found.median, len(found.bag)) == ((1, 1, 1, 1, 3), (1.0, 1.0), 4)
    regions = depth_regions(exact([*SQUARE, (1, 1)]))
    assert set(regions[0]) == set(exact(SQUARE))
    assert [set(region) for region in regions[1:]] == [set(exact([(1, 1)]))] * 2


@given(points, st.tuples(st.integers(0, 12), st.integers(0, 12)))
@settings(deadline=None, max_examples=examples(100))
def test_depth_is_the_least_over_all_directions(several, doubled):
    point = (doubled[0] / 2, doubled[1] / 2)
    [center] = exact([point])
    assert halfspace_depth(center, exact(several)) == depth_by_directions(point, several)


def holds(polygon, point):
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


@given(points)
@settings(deadline=None, max_examples=examples(100))
def test_a_region_holds_the_points_of_its_depth_and_no_others(several):
    given_points = exact(several)
    [first, *others] = dict.fromkeys(given_points)
    if all(
        (o[0] - first[0]) * (p[1] - first[1]) == (o[1] - first[1]) * (p[0] - first[0]) for o in others for p in others
    ):
        return  # on one line, where no bag is drawn
    regions = depth_regions(given_points)
    for x in range(13):
        for y in range(13):
            point = (Fraction(x, 2), Fraction(y, 2))
            depth = halfspace_depth(point, given_points)
            assert [holds(region, point) for region in regions] == [
                level <= depth for level in range(1, len(regions) + 1)
            ]


def test_the_bag_of_a_ring_of_points_lies_half_way_to_the_median():
    # Of 12 points on a circle each has depth 1, so that the bag is a mean of the hull and the region of depth 2.
    angles = 2 * np.pi * np.arange(12) / 12
    ring = [(float(math.cos(a)), float(math.sin(a))) for a in angles]
    found = bagplot(ring)
    assert found.median == pytest.approx((0, 0), abs=1e-12)
    # The deeper region is bounded by the chords from each point to the next but one, at a distance of cos(30 degrees).
    towards_points = (1 + math.cos(math.pi / 6)) / 2
    between_points = (math.cos(math.pi / 12) + math.cos(math.pi / 6) / math.cos(math.pi / 12)) / 2
    reach = sorted(math.hypot(*corner) for corner in found.bag)
    assert reach == pytest.approx([between_points] * 12 + [towards_points] * 12)
    assert found.outliers == ()


@cache
def normal(shift=(0, 0), more=()):
    """The bagplot of 30 points, shifted, and more points."""
    return bagplot([*np.add(np.random.default_rng(1).normal(size=(30, 2)), shift).tolist(), *more])


def test_the_bag_holds_the_deeper_half():
    corners = exact(normal().bag)
    inside = sum(holds(corners, point) for point in exact(np.random.default_rng(1).normal(size=(30, 2)).tolist()))
    assert 13 <= inside <= 15


def test_a_point_far_away_is_outside_the_fence_and_moves_neither_median_nor_bag_far():
    found, moved = normal(), normal(more=((50.0, 50.0),))
    assert 30 in moved.outliers
    assert set(moved.outliers) <= {*found.outliers, 30}
    assert moved.median == pytest.approx(found.median, abs=0.3)
    assert (50.0, 50.0) not in moved.loop


def test_bag_and_loop_move_along_with_the_points():
    found, moved = normal(), normal(shift=(3, -7))
    np.testing.assert_allclose(moved.bag, found.bag + np.array([3, -7]))
    np.testing.assert_allclose(moved.loop, found.loop + np.array([3, -7]))


@for_each("several", [[(1, 2)], [(1, 2)] * 9, SQUARE, SQUARE * 2, [(x, 2 * x) for x in range(9)]])
def test_fewer_than_five_points_or_a_line_have_no_bag(several):
    found = bagplot(several)
    assert (found.bag, found.loop, found.outliers) == ((), (), ())
    assert found.median == pytest.approx(np.mean(several, axis=0))


@given(points, st.integers(-3, 3), st.integers(1, 4))
@example([(0, 0), (0, 2), (0, 2), (0, 2), (1, 1), (1, 2), (2, 0)], 0, 2)  # a bag without area
@settings(deadline=None, max_examples=examples(100))
def test_shifting_and_stretching_moves_the_median_along(several, shift, factor):
    found = bagplot(several)
    moved = bagplot([(factor * x + shift, y - shift) for x, y in several])
    assert moved.depths == found.depths
    assert moved.outliers == found.outliers
    assert moved.median == pytest.approx((factor * found.median[0] + shift, found.median[1] - shift))


def test_the_points_of_a_method_without_one_data_set():
    values = {"a": [3, 1, 2], "b": [1, 2, 1], "alone": []}
    cells = {(method, f"D{d}", "m"): value for method in values for d, value in enumerate(values[method])}
    found = leave_one_out(Results({**cells, ("alone", "D", "m"): 1.0}, higher_is_better=True))
    assert found.points("a")[:3] == [(2, Fraction(1, 2)), (2, Fraction(1)), (2, Fraction(1, 2))]
    with pytest.raises(InputError, match="'alone' has no opponents"):
        found.bagplot("alone")
    found = leave_one_out(Results(cells, higher_is_better=True))
    assert found.bagplot("a").median == (2.0, 0.5)
    assert found.bagplot("a").depths == (2, 1, 2)


def test_where_at_most_half_of_the_points_are_one_point_there_is_a_bag():
    found = bagplot([(0.1, 0.7)] * 9 + [(1, 0), (0, 1), (-1, 0), (0, -1), (2, 2)])
    assert (found.median, found.bag, found.outliers) == ((0.1, 0.7), (), ())
    for n, inset in [(1, 0.625), (2, 0.75), (3, 0.875), (4, 1)]:
        found = bagplot([*SQUARE, *[(1, 1)] * n])
        assert (found.median, len(found.bag)) == ((1, 1), 4), n
        assert set(found.bag) == set(product((inset, 2 - inset), repeat=2)), n
    found = bagplot([*SQUARE, *[(1, 1)] * 5])
    assert (found.median, found.bag) == ((1, 1), ())


@for_each(
    ("bag", "median", "point", "inside"),
    [
        ([(-10, -10), (10, -10), (10, 10), (-10, 10)], (0, 0), (29.9, 0.0), True),
        ([(-10, -10), (10, -10), (10, 10), (-10, 10)], (0, 0), (0.0, -30.1), False),
        # Rounding errors may be up to 1e-12 of the distance.
        ([(-10, -10), (10, -10), (10, 10), (-10, 10)], (0, 0), (30 + Fraction(30, 10**12), 0), True),
        ([(-10, -10), (10, -10), (10, 10), (-10, 10)], (0, 0), (30 + Fraction(31, 10**12), 0), False),
        # On the fence: rounding puts it 2.2e-16 beyond.
        ([(0.1, 0.1), (1.3, 0.2), (1.1, 1.7), (0.2, 1.2)], (0.6, 0.7), (0.07390914941033966, 2.574393971894634), True),
    ],
)
def test_the_fence_is_three_times_as_far_as_the_bag_but_for_rounding(bag, median, point, inside):
    assert _inside_fence(bag, median, point) == inside
