"""NDCG, AP, RR and success in numpy: what is evaluated most should not wait for Python's loops."""

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


def reciprocal_rank(ranked: Any, outptr: Any, k: int, values: Any) -> None:
    """As `rr.reciprocal_rank`."""
    rank, found = _first_hits(ranked, outptr, k)
    values[:] = np.where(found, 1.0 / (rank + 1), 0.0)


def any_relevant(ranked: Any, outptr: Any, k: int, values: Any) -> None:
    """As `hits.any_relevant`."""
    values[:] = _first_hits(ranked, outptr, k)[1]


def _first_hits(ranked: Any, outptr: Any, k: int) -> tuple[Any, Any]:
    """Rank of the first relevant row at or after the first of each query, from 0, and whether it is among the k."""
    hits = np.append(np.flatnonzero(ranked[outptr[0] : outptr[-1]] > 0) + outptr[0], outptr[-1])
    rank = hits[np.searchsorted(hits, outptr[:-1])] - outptr[:-1]
    return rank, rank < np.minimum(k, np.diff(outptr))
