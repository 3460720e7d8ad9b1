"""Numpy form of `_kernels.dcg`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core._kernels.in_numpy.policies import reach, settle
from rankadapters.core._kernels.in_numpy.ranking import ranked_columns
from rankadapters.core._kernels.in_numpy.segments import sums


def discounted_sums(
    ranked: Any, outptr: Any, k: int, discounts: Any, ideal: Any, status: Any, fixed: Any, values: Any
) -> None:
    """Value of each query: sum of gain x discount over the first k ranks, by the ideal DCG, or as its status says."""
    places, query, rank = reach(outptr, k)
    settle(sums(ranked[places] * discounts[rank], query, values.size) / ideal, status, fixed, values)


def discounted_sums_of_few(
    scores: Any, order: Any, indptr: Any, gains: Any, k: int, discounts: Any, ideal: Any, status: Any, fixed: Any,
    values: Any,
) -> int:  # fmt: skip
    """As `discounted_sums` of what `ranked_columns` gives."""
    outptr = np.concatenate([[0], np.cumsum(np.minimum(np.diff(indptr), k))])
    ranked = np.empty((1, outptr[-1]))
    tie_means = False
    bad = ranked_columns(scores, order, indptr, k, tie_means, gains[None, :], outptr, ranked)
    if bad < 0:
        discounted_sums(ranked[0], outptr, k, discounts, ideal, status, fixed, values)
    return bad
