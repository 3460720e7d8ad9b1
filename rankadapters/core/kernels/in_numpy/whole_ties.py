"""Numpy form of `kernels.whole_ties`."""

from __future__ import annotations

from typing import Any

from rankadapters.core.kernels.in_numpy.ranking import ALL_FINITE, ranked
from rankadapters.core.kernels.in_numpy.segments import numbers


def ranked_whole_ties(
    scores: Any, order: Any, indptr: Any, k: int, columns: Any, outptr: Any, out: Any, ends: Any
) -> int:
    """As ranking.ranked_columns, with the end of each rank's tie; every row has a rank."""
    del k
    bad, found = ranked(scores, order, indptr)
    if found is None:
        return bad
    part, written = slice(indptr[0], indptr[-1]), slice(outptr[0], outptr[-1])
    ends[written] = found.ties[1:][numbers(found.ties)] - found.indptr[numbers(found.indptr)]
    for column, by_rank in zip(columns, out, strict=True):
        by_rank[written] = column[part][found.rows]
    return ALL_FINITE
