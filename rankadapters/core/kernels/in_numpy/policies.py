"""What the numpy forms of measures of ranks share: ranks in reach of the cutoff, and the value by status."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.kernels import COMPUTE, FIXED
from rankadapters.core.kernels.in_numpy.segments import numbers, places_within


class Reach(NamedTuple):
    """The ranks 1..k of several queries: their places in the columns, the query of each, and its rank from 0."""

    places: Any
    query: Any
    rank: Any


def reach(outptr: Any, k: int) -> Reach:
    """Leave out the ranks beyond k."""
    rank = places_within(outptr)
    within = np.flatnonzero(rank < k)
    return Reach(within + outptr[0], numbers(outptr)[within], rank[within])


def settle(found: Any, status: Any, fixed: Any, values: Any) -> None:
    """Write what was found, or what the status of a query says in its place."""
    if not status.any():  # all are to be computed
        values[:] = found
        return
    values[:] = np.where(status == COMPUTE, found, np.where(status == FIXED, fixed, np.nan))
