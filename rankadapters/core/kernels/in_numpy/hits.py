"""Numpy form of `kernels.hits`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core.kernels.in_numpy.policies import reach, settle
from rankadapters.core.kernels.in_numpy.rr import chances_of_the_first, first_relevant
from rankadapters.core.kernels.in_numpy.segments import begins, numbers, running, sums, ties_of


def discounted_means(
    ranked: Any, ends: Any, outptr: Any, k: int, discounts: Any, divisor: Any, status: Any, fixed: Any, values: Any
) -> None:
    """Sum of mean x discount over the first k ranks, by the divisor; `ranked` holds the sum of each rank's tie."""
    places, query, rank = reach(outptr, k)
    tied = ties_of(query, rank, ends[places])
    first = rank[tied[:-1]][numbers(tied)]
    means = ranked[places] / (ends[places] - first)
    settle(sums(means * discounts[rank], query, values.size) / divisor, status, fixed, values)


def share_at_own_cutoff(ranked: Any, outptr: Any, k: int, cutoffs: Any, status: Any, fixed: Any, values: Any) -> None:
    """Sum over as many ranks as the query's own cutoff says, by that cutoff."""
    places, query, rank = reach(outptr, k)
    within = np.flatnonzero(rank < cutoffs[query])
    settle(sums(ranked[places[within]], query[within], values.size) / cutoffs, status, fixed, values)


def any_relevant(ranked: Any, outptr: Any, k: int, status: Any, fixed: Any, values: Any) -> None:
    """1 where there is a relevant row at ranks 1..k, else 0."""
    _, query, _ = first_relevant(ranked, outptr, k)
    found = np.zeros(values.size)
    found[query] = 1.0
    settle(found, status, fixed, values)


def chance_of_any_relevant(ranked: Any, ends: Any, outptr: Any, k: int, status: Any, fixed: Any, values: Any) -> None:
    """Expectation of any_relevant over all orders of tied rows; `ranked` counts the relevant rows of each tie."""
    place, query, first = first_relevant(ranked, outptr, k)
    n, r = ends[place] - first, ranked[place]
    m = np.minimum(n, np.minimum(k, np.diff(outptr)[query]) - first)
    spans, chances = chances_of_the_first(n, r, m)
    found = np.zeros(values.size)
    found[query] = np.where(m > n - r, 1.0, np.minimum(sums(chances, numbers(spans), m.size), 1.0))
    settle(found, status, fixed, values)


def last_relevant(ranked: Any, outptr: Any, k: int, status: Any, fixed: Any, values: Any) -> None:
    """Rank of the last relevant row among the first k, 0 without one."""
    places, query, rank = reach(outptr, k)
    relevant = np.flatnonzero(ranked[places] > 0)
    found = np.zeros(values.size)
    found[query[relevant]] = rank[relevant] + 1.0  # of several, the last stays
    settle(found, status, fixed, values)


def preferred(
    ranked: Any, irrelevant_ranked: Any, outptr: Any, k: int, relevant: Any, irrelevant: Any, status: Any, fixed: Any,
    values: Any,
) -> None:  # fmt: skip
    """Bpref: mean over the relevant rows of 1 - min(irrelevant rows above, R) / min(N, R)."""
    places, query, _ = reach(outptr, k)
    above = running(np.add, irrelevant_ranked[places], begins(query, values.size))
    hits = np.flatnonzero(ranked[places] > 0)
    query, above = query[hits], above[hits]  # a relevant row is not irrelevant: its own adds nothing
    terms = np.where(above > 0, 1.0 - np.minimum(above, relevant[query]) / np.minimum(relevant, irrelevant)[query], 1.0)
    settle(sums(terms, query, values.size) / relevant, status, fixed, values)
