"""Numpy form of `_kernels.dcg`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core._kernels.in_numpy import few_rows
from rankadapters.core._kernels.in_numpy.policies import reach, settle
from rankadapters.core._kernels.in_numpy.ranking import ALL_FINITE, ranked_columns
from rankadapters.core._kernels.in_numpy.segments import sums


def discounted_sums(
    ranked: Any, outptr: Any, k: int, discounts: Any, ideal: Any, status: Any, fixed: Any, values: Any
) -> None:
    """Value of each query: sum of gain x discount over the first k ranks, by the ideal DCG, or as its status says."""
    if outptr[-1] - outptr[0] <= few_rows.FEW_ROWS:
        settle(np.array(few_rows.sums_of_products(ranked, outptr, k, discounts)) / ideal, status, fixed, values)
        return
    places, query, rank = reach(outptr, k)
    settle(sums(ranked[places] * discounts[rank], query, values.size) / ideal, status, fixed, values)


def discounted_sums_of_few(
    scores: Any, order: Any, indptr: Any, gains: Any, k: int, discounts: Any, ideal: Any, status: Any, fixed: Any,
    values: Any,
) -> int:  # fmt: skip
    """As `discounted_sums` of what `ranked_columns` gives."""
    part = slice(indptr[0], indptr[-1])
    own = scores[order[part]] if order.size else scores[part]
    if own.size <= few_rows.FEW_ROWS and np.isfinite(own).all():
        found = few_rows.ranked_sums(own, gains[part], indptr, k, discounts)
        settle(np.array(found) / ideal, status, fixed, values)
        return ALL_FINITE
    outptr = np.concatenate([[0], np.cumsum(np.minimum(np.diff(indptr), k))])
    ranked = np.empty((1, outptr[-1]))
    tie_means = False
    bad = ranked_columns(scores, order, indptr, k, tie_means, gains[None, :], outptr, ranked)
    if bad < 0:
        discounted_sums(ranked[0], outptr, k, discounts, ideal, status, fixed, values)
    return bad
