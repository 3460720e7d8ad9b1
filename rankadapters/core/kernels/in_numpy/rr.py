"""Numpy form of `kernels.rr`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core.kernels.in_numpy.policies import reach, settle
from rankadapters.core.kernels.in_numpy.segments import numbers, places_within, running, sums


def first_relevant(ranked: Any, outptr: Any, k: int) -> tuple[Any, Any, Any]:
    """Place, query and rank from 0 of the first relevant row of each query that has one in reach."""
    places, query, rank = reach(outptr, k)
    relevant = np.flatnonzero(ranked[places] > 0)
    first = relevant[np.diff(query[relevant], prepend=-1) > 0]
    return places[first], query[first], rank[first]


def chances_of_the_first(n: Any, r: Any, sizes: Any) -> tuple[Any, Any]:
    """Chances that the first relevant row of each tie is its 1st, 2nd, ...: of n rows r are relevant."""
    spans = np.concatenate([[0], np.cumsum(sizes)])
    tie, j = numbers(spans), places_within(spans)
    factors = (n - r)[tie] - (j - 1)  # what the chance of the rank before is multiplied by
    factors /= n[tie] - j
    factors[spans[:-1]] = r / n
    return spans, running(np.multiply, factors, spans)


def reciprocal_rank(ranked: Any, outptr: Any, k: int, status: Any, fixed: Any, values: Any) -> None:
    """1 / rank of the first relevant row at ranks 1..k, 0 without one."""
    _, query, rank = first_relevant(ranked, outptr, k)
    found = np.zeros(values.size)
    found[query] = 1.0 / (rank + 1)
    settle(found, status, fixed, values)


def expected_reciprocal_rank(ranked: Any, ends: Any, outptr: Any, k: int, status: Any, fixed: Any, values: Any) -> None:
    """Expectation over all orders of tied rows; `ranked` holds the relevant rows of each rank's tie."""
    place, query, first = first_relevant(ranked, outptr, k)
    n, r = ends[place] - first, ranked[place]
    spans, chances = chances_of_the_first(n, r, np.minimum(n, np.minimum(k, np.diff(outptr)[query]) - first))
    tie, j = numbers(spans), places_within(spans)
    terms = chances / (first[tie] + j + 1)
    settle(sums(terms, query[tie], values.size), status, fixed, values)
