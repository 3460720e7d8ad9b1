"""Numpy form of `kernels.dcg`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core.kernels.in_numpy import few_rows
from rankadapters.core.kernels.in_numpy.policies import reach, settle
from rankadapters.core.kernels.in_numpy.ranking import ALL_FINITE, ranked_columns
from rankadapters.core.kernels.in_numpy.segments import sums


def discounted_sums(
    ranked: Any, outptr: Any, k: int, discounts: Any, ideal: Any, status: Any, fixed: Any, values: Any
) -> None:
    """Value of each query: sum of gain x discount over the first k ranks, by the ideal DCG, or as its status says."""
    if outptr[-1] - outptr[0] <= few_rows.FEW_ROWS:
        settle(np.array(few_rows.sums_of_products(ranked, outptr, k, discounts)) / ideal, status, fixed, values)
        return
    places, query, rank = reach(outptr, k)
    settle(sums(ranked[places] * discounts[rank], query, values.size) / ideal, status, fixed, values)


def discounted_sums_of_top(
    ranked: Any, outptr: Any, k: int, discounts: Any, status: Any, fixed: Any, values: Any
) -> None:
    """As `discounted_sums`, by the DCG of the same k rows in their best order; 0 where that is not positive."""
    places, query, rank = reach(outptr, k)
    top = ranked[places]
    best = top[np.lexsort((-top, query))]
    total, ideal = (sums(gains * discounts[rank], query, values.size) for gains in (top, best))
    settle(np.divide(total, ideal, out=np.zeros(total.size), where=ideal > 0), status, fixed, values)


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


def discounted_sums_along(
    scores: Any, column: Any, steps: Any, indptr: Any, found: Any, foundptr: Any, gains: Any, k: int, means: bool,
    discounts: Any, ideal: Any, status: Any, fixed: Any, values: Any,
) -> int:  # fmt: skip
    """As `discounted_sums` at scores + step x column, for each step and query."""
    part, local = slice(indptr[0], indptr[-1]), indptr - indptr[0]
    every = np.zeros((1, local[-1]))
    listed = slice(foundptr[0], foundptr[-1])
    every[0, found[listed] + np.repeat(local[:-1], np.diff(foundptr))] = gains[listed]
    own, moves = scores[part], np.where(constant(column[part], local), 0.0, column[part])
    outptr = np.concatenate([[0], np.cumsum(np.minimum(np.diff(indptr), k))])
    ranked = np.empty((1, outptr[-1]))
    for t, step in enumerate(steps):
        bad = ranked_columns(own + step * moves, np.empty(0, np.int32), local, k, means, every, outptr, ranked)
        if bad >= 0:
            return int(indptr[np.searchsorted(local, bad, side="right") - 1])
        discounted_sums(ranked[0], outptr, k, discounts, ideal, status, fixed, values[t])
    return -1


def constant(column: Any, indptr: Any) -> Any:
    """Tell the rows of queries in which a column has one value."""
    sizes = np.diff(indptr)
    some = np.flatnonzero(sizes)
    starts, same = indptr[some], np.ones(sizes.size, np.bool_)
    same[some] = np.maximum.reduceat(column, starts) == np.minimum.reduceat(column, starts)
    return np.repeat(same, sizes)
