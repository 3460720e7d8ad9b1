"""Numpy form of `kernels.err`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core.kernels.in_numpy.policies import reach, settle
from rankadapters.core.kernels.in_numpy.segments import begins, blocks, numbers, running, sums, ties_of


def _complement(chance: Any, in_float32: bool) -> Any:
    rest = 1.0 - chance
    return rest.astype(np.float32).astype(np.float64) if in_float32 else rest


def _looks(rests: Any, query: Any, n: int) -> Any:
    """Chance to look at each entry of a query: the product of what those before leave."""
    indptr = begins(query, n)
    inclusive, looks = running(np.multiply, rests, indptr), np.ones(rests.size)
    looks[1:] = inclusive[:-1]
    looks[indptr[:-1][np.diff(indptr) > 0]] = 1.0
    return looks


def cascade(
    ranked: Any, outptr: Any, k: int, discounts: Any, scale: float, in_float32: bool, status: Any, fixed: Any,
    values: Any,
) -> None:  # fmt: skip
    """Sum over the ranks of discount x chance to stop there; a row stops with the chance gain / scale."""
    places, query, rank = reach(outptr, k)
    chance = ranked[places] / scale
    looks = _looks(_complement(chance, in_float32), query, values.size)
    settle(sums(looks * chance * discounts[rank], query, values.size), status, fixed, values)


def expected_cascade(
    ranked: Any, ends: Any, outptr: Any, k: int, discounts: Any, scale: float, in_float32: bool, status: Any,
    fixed: Any, values: Any,
) -> None:  # fmt: skip
    """Expectation of `cascade` over all orders of tied rows; ranks hold their own rows, of the last tie all of them."""
    places, query, rank = reach(outptr, k)
    tied = ties_of(query, rank, ends[places])
    starts, first, tie = places[tied[:-1]], rank[tied[:-1]], numbers(tied)
    n, depth = ends[starts] - first, np.diff(tied)
    stops, rests = np.empty(rank.size), np.empty(n.size)
    indptr = np.concatenate([[0], np.cumsum(n)])
    for inside_, inside in blocks(indptr):
        several = numbers(indptr)[inside_[:, 0]]
        rows = np.minimum(starts[several, None] + np.arange(inside.shape[1]), (starts + n - 1)[several, None])
        stop, look = _expect_in_ties(ranked[rows] / scale, n[several], int(depth[several].max()), in_float32)
        counted = np.arange(stop.shape[1] - 1) < depth[several, None]
        stops[(tied[several, None] + np.arange(stop.shape[1] - 1))[counted]] = stop[:, :-1][counted]
        rests[several] = look[np.arange(several.size), depth[several]]
    looks = _looks(rests, query[tied[:-1]], values.size)[tie]
    settle(sums(looks * stops * discounts[rank], query, values.size), status, fixed, values)


def _expect_in_ties(chances: Any, n: Any, depth: int, in_float32: bool) -> tuple[Any, Any]:
    """Chance to stop at each rank of each tie, and to look beyond as many rows; a tie a row, padded to the longest."""
    rests, m = _complement(chances, in_float32), np.arange(1, depth + 1)
    stops, looks = np.zeros((n.size, depth + 1)), np.zeros((n.size, depth + 1))
    looks[:, 0] = 1.0
    for t in range(1, chances.shape[1] + 1):
        on = n >= t
        chance, rest = chances[on, t - 1, None], rests[on, t - 1, None]
        stop, look = stops[on], looks[on]
        found = np.empty_like(stop)
        found[:, 1:] = (chance * look[:, 1:] + m * rest * stop[:, :-1] + (t - 1 - m) * stop[:, 1:]) / t
        found[:, :1] = (chance + (t - 1) * stop[:, :1]) / t
        stops[on] = found
        looks[on, 1:] = (m * rest * look[:, :-1] + (t - m) * look[:, 1:]) / t
    return stops, looks
