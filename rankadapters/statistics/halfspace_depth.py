"""Compute the exact halfspace depth of points in the plane, and the bag that contains the deeper half of them.

Coordinates become fractions, so that rounding cannot move a point across a line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from rankadapters.core.classes import frozen_class

Point = tuple[Fraction | int, Fraction | int]
Polygon = Sequence[Point]
Spot = tuple[float, float]

FEWEST = 5  # distinct points needed for a bag
FENCE = 3  # the fence is the bag enlarged by this factor; points outside are outliers
ROUNDING = Fraction(1, 10**12)  # relative error of float64 coordinates
NOWHERE = (0, 0)


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True)
class Bagplot:
    """A bagplot: the center and the spread of points in the plane.

    Attributes
    ----------
    median : (float, float)
        Center of gravity of the region of greatest depth.
    bag : tuple of (float, float)
        Corners of the polygon that contains the deeper half of the points; empty if fewer than five points are
        distinct, if all lie on one line, or if more than half of them are on one point or line.
    loop : tuple of (float, float)
        Corners of the convex hull of the points inside the fence, which is the bag enlarged three times.
    outliers : tuple of int
        Indices of the points outside the fence.
    depths : tuple of int
        Depth of each point: the smallest number of points on one side of a line through it, itself counted.
    """

    median: Spot
    bag: tuple[Spot, ...]
    loop: tuple[Spot, ...]
    outliers: tuple[int, ...]
    depths: tuple[int, ...]


def bagplot(points: Sequence[tuple[Any, Any]]) -> Bagplot:
    """Compute the median, the bag and the outliers of at least one point; the binary value of a float is exact.

    References
    ----------
    Rousseeuw, Ruts, Tukey (1999), The bagplot: a bivariate boxplot, The American Statistician 53.

    Examples
    --------
    >>> plot = bagplot([(0, 0), (0, 2), (2, 0), (2, 2), (1, 1)])
    >>> plot.median, plot.depths, plot.outliers
    ((1.0, 1.0), (1, 1, 1, 1, 3), ())
    """
    exact = [(Fraction(x), Fraction(y)) for x, y in points]
    sizes = tuple(math.lcm(*(point[axis].denominator for point in exact)) for axis in (0, 1))
    whole = [(int(x * sizes[0]), int(y * sizes[1])) for x, y in exact]  # integers, much faster than fractions
    depths = [halfspace_depth(point, whole) for point in whole]
    if len(set(exact)) < FEWEST or _on_one_line(exact):
        middle = _middle([point for point, depth in zip(exact, depths, strict=True) if depth == max(depths)])
        return Bagplot(median=_floats(middle), bag=(), loop=(), outliers=(), depths=tuple(depths))
    regions = [[(Fraction(x) / sizes[0], Fraction(y) / sizes[1]) for x, y in region] for region in depth_regions(whole)]
    center = _centroid(regions[-1])
    median = _floats(center)
    deepest = sum(depth >= len(regions) for depth in depths)
    if 2 * deepest > len(exact) and len(regions[-1]) <= 2:  # noqa: PLR2004 - a point or a line, too small for a bag
        return Bagplot(median=median, bag=(), loop=(), outliers=(), depths=tuple(depths))
    bag = _bag(exact, depths, regions, center)
    inside = [_inside_fence(bag, center, point) for point in exact]
    loop = convex_hull([point for point, near in zip(exact, inside, strict=True) if near])
    return Bagplot(
        median=median, bag=tuple(map(_floats, bag)), loop=tuple(map(_floats, loop)),
        outliers=tuple(index for index, near in enumerate(inside) if not near), depths=tuple(depths),
    )  # fmt: skip


def halfspace_depth(point: Point, points: Sequence[Point]) -> int:
    """Return the smallest number of points in any closed half-plane whose edge passes through the point.

    The edge rotates around the point, stopping just past each other point in turn. There the half-plane contains the
    points that are on the line in one direction from the point, but not those in the opposite direction.

    References
    ----------
    Tukey (1975), Mathematics and the picturing of data.
    """
    around = [(x - point[0], y - point[1]) for x, y in points]
    coincident = sum(offset == NOWHERE for offset in around)
    fewest = len(points)
    for edge in around:
        if edge == NOWHERE:
            continue
        sides = [_cross(edge, offset) for offset in around]
        left, right = sum(side > 0 for side in sides), sum(side < 0 for side in sides)
        ahead = sum(not side and edge[0] * x + edge[1] * y > 0 for side, (x, y) in zip(sides, around, strict=True))
        behind = len(points) - left - right - ahead - coincident
        fewest = min(fewest, coincident + min(left, right) + min(ahead, behind))
    return fewest


def depth_regions(points: Sequence[Point]) -> list[Polygon]:
    """Return convex polygons: the regions of the plane with a depth of at least 1, 2, ..., up to the greatest depth.

    The region of depth d is the intersection of all half-planes that exclude fewer than d points; it suffices to take
    those whose edge passes through two of the points.
    """
    edges: dict[int, list[tuple[Point, Point]]] = {}
    for a, b in combinations(sorted(set(points)), 2):
        sides = [_turn(a, b, point) for point in points]
        edges.setdefault(sum(side < 0 for side in sides), []).append((a, b))
        edges.setdefault(sum(side > 0 for side in sides), []).append((b, a))
    region: Polygon = convex_hull(points)
    regions = [region]
    for excluded in range(1, len(points)):
        for a, b in edges.get(excluded, []):
            region = _clipped(region, a, b)
        if not region:
            break
        regions.append(region)
    return regions


def convex_hull(points: Sequence[Point]) -> list[Point]:
    """Return the corners of the points' convex hull, counterclockwise (Andrew 1979)."""
    ordered = sorted(set(points))
    if len(ordered) <= 2:  # noqa: PLR2004 - a point or a line
        return ordered

    def half(ordered_points: list[Point]) -> list[Point]:
        chain: list[Point] = []
        for point in ordered_points:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        return chain[:-1]

    return half(ordered) + half(ordered[::-1])


def _clipped(polygon: Polygon, a: Point, b: Point) -> Polygon:
    """Return the part of a polygon left of the line from a to b (Sutherland and Hodgman 1974)."""
    corners: list[Point] = []
    sides = [_turn(a, b, corner) for corner in polygon]
    for index, corner in enumerate(polygon):
        before, side = sides[index - 1], sides[index]
        if (before < 0 < side) or (side < 0 < before):
            part = Fraction(before) / (before - side)
            start = polygon[index - 1]
            corners.append((start[0] + part * (corner[0] - start[0]), start[1] + part * (corner[1] - start[1])))
        if side >= 0:
            corners.append(corner)
    return [corner for index, corner in enumerate(corners) if index == 0 or corner != corners[index - 1]]


def _bag(points: Sequence[Point], depths: Sequence[int], regions: Sequence[Polygon], median: Point) -> list[Point]:
    """Return the bag, which holds half of the points: interpolate between two neighboring depth regions."""
    half = Fraction(len(points), 2)
    counts = [sum(depth >= level for depth in depths) for level in range(1, len(regions) + 1)]
    inner = next((level for level, count in enumerate(counts) if count <= half), len(regions) - 1)
    few, many = counts[inner], counts[inner - 1]
    part = (half - few) / (many - few) if few < half else 0  # 0 if the deepest region already has more than half
    directions = [_from(median, corner) for corner in (*regions[inner - 1], *regions[inner]) if corner != median]
    by_angle = {math.atan2(y, x): (x, y) for x, y in directions}
    corners = []
    for _, (x, y) in sorted(by_angle.items()):
        reach = part * _reach(regions[inner - 1], median, (x, y)) + (1 - part) * _reach(regions[inner], median, (x, y))
        corners.append((median[0] + reach * x, median[1] + reach * y))
    return corners


def _from(start: Point, end: Point) -> Point:
    return end[0] - start[0], end[1] - start[1]


def _reach(region: Polygon, start: Point, direction: Point) -> Fraction | int:
    """Return how far a ray from `start` stays in a polygon, in multiples of `direction`; 0 if the ray misses it."""
    corners = [_from(start, corner) for corner in region]
    square = direction[0] ** 2 + direction[1] ** 2
    furthest: Fraction | int = 0
    for index, corner in enumerate(corners):
        before = corners[index - 1]
        side, side_before = _cross(direction, corner), _cross(direction, before)
        if side == side_before:
            continue
        part = Fraction(side_before) / (side_before - side)
        if 0 <= part <= 1:
            x, y = (before[axis] + part * (corner[axis] - before[axis]) for axis in (0, 1))
            furthest = max(furthest, (x * direction[0] + y * direction[1]) / square)
    return furthest


def _inside_fence(bag: Polygon, median: Point, point: Point) -> bool:
    """Return whether a point is inside the fence, the bag enlarged three times, allowing for rounding."""
    return point == median or FENCE * _reach(bag, median, _from(median, point)) * (1 + ROUNDING) >= 1


def _centroid(polygon: Polygon) -> Point:
    """Return the center of gravity of a polygon, a line or a point."""
    twice_area = sum((_cross(polygon[index - 1], corner) for index, corner in enumerate(polygon)), Fraction(0))
    if not twice_area:
        return _middle([min(polygon), max(polygon)])
    x, y = Fraction(0), Fraction(0)
    for index, corner in enumerate(polygon):
        before = polygon[index - 1]
        weight = _cross(before, corner)
        x += (before[0] + corner[0]) * weight
        y += (before[1] + corner[1]) * weight
    area = Fraction(3 * twice_area)
    return x / area, y / area


def _middle(points: Sequence[Point]) -> Point:
    n = len(points)
    return Fraction(sum(x for x, _ in points)) / n, Fraction(sum(y for _, y in points)) / n


def _on_one_line(points: Sequence[Point]) -> bool:
    first, *rest = dict.fromkeys(points)
    return all(_turn(first, rest[0], point) == 0 for point in rest)


def _turn(a: Any, b: Any, c: Any) -> Any:
    """Return a positive number if c is left of the line from a to b, negative if right, 0 if on it."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _cross(a: Point, b: Point) -> Fraction | int:
    return a[0] * b[1] - a[1] * b[0]


def _floats(point: Point) -> Spot:
    return float(point[0]), float(point[1])
