"""Numpy form of `_kernels.kept_rows`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core._kernels.in_numpy.ranking import ALL_FINITE
from rankadapters.core._kernels.in_numpy.segments import begins, numbers, places_within


def kept_columns(
    scores: Any, order: Any, indptr: Any, k: int, bound: float, strict: bool, columns: Any, outptr: Any, out: Any
) -> int:
    """Write what the first k rows of each query that `bound` lets through have, then 0."""
    part = slice(indptr[0], indptr[-1])
    rows = order[part] if order.size else np.arange(indptr[0], indptr[-1])
    own = scores[rows].astype(np.float64)
    finite = np.isfinite(own)
    if not finite.all():
        return int(rows[np.argmin(finite)])
    kept = np.flatnonzero(own > bound if strict else own >= bound)
    query = numbers(indptr)[kept]
    rank = places_within(begins(query, indptr.size - 1))
    within = np.flatnonzero(rank < np.minimum(k, np.diff(outptr)[query]))
    places = outptr[query[within]] + rank[within]
    for column, written in zip(columns, out, strict=True):
        written[outptr[0] : outptr[-1]] = 0.0
        written[places] = column[part][kept[within]]
    return ALL_FINITE
