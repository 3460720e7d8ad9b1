"""Numpy form of `kernels.ap`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core.kernels.in_numpy.policies import reach, settle
from rankadapters.core.kernels.in_numpy.segments import begins, numbers, places_within, running, sums, ties_of


def average_precision(
    ranked: Any, outptr: Any, k: int, divisor: Any, by_found: bool, status: Any, fixed: Any, values: Any
) -> None:
    """Sum of the precisions at relevant ranks, by the divisor or, where `by_found`, by the relevant rows found."""
    places, query, rank = reach(outptr, k)
    relevant = np.flatnonzero(ranked[places] > 0)
    query, hitptr = query[relevant], begins(query[relevant], values.size)
    total = sums((places_within(hitptr) + 1.0) / (rank[relevant] + 1), query, values.size)
    settle(_divided(total, np.diff(hitptr) if by_found else divisor), status, fixed, values)


def weighted_average_precision(
    ranked: Any, weights: Any, outptr: Any, k: int, divisor: Any, by_found: bool, status: Any, fixed: Any, values: Any
) -> None:
    """As average_precision, where `ranked` holds the weights of relevant rows and `weights` those of all rows."""
    places, query, _ = reach(outptr, k)
    seen = running(np.add, weights[places], begins(query, values.size))
    total, hits = _precisions(ranked[places], seen, query, values.size)
    settle(_divided(total, hits if by_found else divisor), status, fixed, values)


def expected_average_precision(
    ranked: Any, ends: Any, outptr: Any, k: int, divisor: Any, status: Any, fixed: Any, values: Any
) -> None:
    """Expectation over all orders of tied rows (McSherry and Najork 2008); `ranked` counts the relevant of each tie."""
    places, query, rank = reach(outptr, k)
    tied = ties_of(query, rank, ends[places])
    tie = numbers(tied)
    first = rank[tied[:-1]]
    r, n = ranked[places][tied[:-1]], ends[places][tied[:-1]] - first
    # Counts, so that the order in which they are added up does not matter.
    counts = np.cumsum(r) - r
    before = counts - counts[np.searchsorted(query[tied[:-1]], query[tied[:-1]])]
    slope = np.where(n > 1, (r - 1.0) / np.maximum(n - 1, 1), 0.0)
    terms = (r / n)[tie] * (before[tie] + 1.0 + (rank - first[tie]) * slope[tie]) / (rank + 1)
    settle(sums(terms, query, values.size) / divisor, status, fixed, values)


def average_precision_of_ties(
    ranked: Any, weights: Any, ends: Any, outptr: Any, k: int, divisor: Any, by_found: bool, status: Any, fixed: Any,
    values: Any,
) -> None:  # fmt: skip
    """A tie is retrieved at once, at its last rank; the columns weigh each tie's relevant rows, and all its rows."""
    places, query, rank = reach(outptr, k)
    first = ties_of(query, rank, ends[places])[:-1]
    first = first[ends[places[first]] <= k]
    places, query = places[first], query[first]
    seen = running(np.add, weights[places], begins(query, values.size))
    total, hits = _precisions(ranked[places], seen, query, values.size)
    settle(_divided(total, hits if by_found else divisor), status, fixed, values)


def _precisions(worth: Any, seen: Any, query: Any, n: int) -> tuple[Any, Any]:
    """Sum of worth x (worth so far / seen), and of the worth, of each query."""
    hits = running(np.add, worth, begins(query, n))
    terms = np.divide(hits, seen, out=np.zeros(hits.size), where=worth > 0)
    return sums(worth * terms, query, n), sums(worth, query, n)


def _divided(total: Any, below: Any) -> Any:
    return np.divide(total, below, out=np.zeros(total.size), where=below > 0)
