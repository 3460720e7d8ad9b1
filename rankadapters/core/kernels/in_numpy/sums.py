"""The sums of NDCG and AP in numpy: what is evaluated most should not wait for Python's loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core.kernels.in_numpy.segments import numbers, places_within, sums


def discounted_sums(ranked: Any, outptr: Any, k: int, discounts: Any, ideal: Any, values: Any) -> None:
    """As `dcg.discounted_sums`."""
    rank = places_within(outptr)
    within = np.flatnonzero(rank < k)
    terms = ranked[within + outptr[0]] * discounts[rank[within]]
    values[:] = sums(terms, numbers(outptr)[within], values.size) / ideal


def average_precision(ranked: Any, outptr: Any, k: int, divisor: Any, by_found: bool, values: Any) -> None:
    """As `ap.average_precision`."""
    rank = places_within(outptr)
    relevant = np.flatnonzero((rank < k) & (ranked[outptr[0] : outptr[-1]] > 0))
    query = numbers(outptr)[relevant]
    hitptr = np.searchsorted(query, np.arange(values.size + 1))
    total = sums((places_within(hitptr) + 1.0) / (rank[relevant] + 1), query, values.size)
    below = np.diff(hitptr) if by_found else divisor
    values[:] = np.divide(total, below, out=np.zeros(total.size), where=below > 0)
