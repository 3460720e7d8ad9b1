"""Queries as arguments of gradient kernels, with functions to load a ranked query and to write its gradients."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.objectives.kernels import LANES
from rankadapters.objectives.kernels.lanes import at

# Ranked queries. `scores`, `gains` and `rows` (each row's index in its query) are sorted by query and rank, without the
# queries that have no gradient; `rowptr` has the offsets of the queries in them. `order` and `indptr` are as in
# ranked_rows. `inverse` is 1 / ideal DCG by query, `discounts` are by rank. Query i draws pairs with seed `seed + i`.
RankedQueries = namedtuple(  # noqa: PYI024 - numba knows this kind
    "RankedQueries", "scores gains rows rowptr order indptr inverse discounts seed"
)

# Queries, each ranked `copies` times under noise. `gains` are gains or stop probabilities, `rest` the probabilities to
# continue (empty unless a reader stops, as in ERR). `order` and `indptr` are as in ranked_rows. `inverse` is a query's
# 1 / divisor. `copyptr` has the offsets of all noisy copies; copies of a query without a gradient have no rows.
CopiedQueries = namedtuple(  # noqa: PYI024 - as above
    "CopiedQueries", "scores gains rest inverse order indptr copyptr copies"
)

# One query, in arrays by rank. `powers` are exp(sigma (s - a reference score)); `lambdas` and `hessians` are sums.
Ranks = namedtuple("Ranks", "scores powers gains lambdas hessians zeros")  # noqa: PYI024 - as above

WIDEST = 1e300  # largest distance of two scores in a query; a larger one could overflow


def columns(fields: Any, width: int, dtype: Any = np.float64) -> Any:
    """Allocate a tuple of arrays for `width` ranks, and for the SIMD lanes that go beyond the last rank."""
    return fields(*(np.zeros(width + LANES, dtype) for _ in fields._fields))


@jit
def longest(indptr):
    """Return the number of rows of the longest query."""
    width = 0
    for q in range(indptr.size - 1):
        width = max(width, indptr[q + 1] - indptr[q])
    return width


@internal(forceinline=True)
def row_at(order, index):
    """Return the caller's index of the row that is at `index` in query order."""
    return np.int64(order[index] if order.size else index)


@jit
def take_by_rank(column, rows, indptr, rowptr, out):
    """Write a column by rank; `rows` lists the ranked rows of each query, numbered within the query."""
    for q in range(indptr.size - 1):
        for r in range(rowptr[q], rowptr[q + 1]):
            out[r] = column[np.uint64(indptr[q] + rows[r])]


@internal(forceinline=True)
def begin_query(ranks, queries, q):
    """Copy query q to `ranks` and reset its sums; return a row whose score is too far from the top score, or -1."""
    begin, n = queries.rowptr[q], queries.rowptr[q + 1] - queries.rowptr[q]
    scores, gains = queries.scores, queries.gains
    for r in range(n):
        ranks.scores[r] = scores[begin + r]
        ranks.gains[r] = gains[begin + r]
        ranks.lambdas[r] = 0.0
        ranks.hessians[r] = 0.0
    for r in range(n, n + LANES):
        ranks.scores[r] = ranks.scores[n - 1]
        ranks.powers[r] = 1.0
    near = ranks.scores[0] - ranks.scores[n - 1] <= WIDEST
    return -1 if near else row_at(queries.order, queries.indptr[q] + queries.rows[begin + n - 1])


@internal(forceinline=True)
def write_gradients(queries, q, lambdas, hessians, scale, bend, grad, hess):
    """Write a query's lambdas times `scale`, and its hessians times `bend`, to its rows."""
    begin, start, order, rows = queries.rowptr[q], queries.indptr[q], queries.order, queries.rows
    for r in range(queries.rowptr[q + 1] - begin):
        row = np.uint64(row_at(order, start + rows[begin + r]))
        grad[row] = lambdas[r] * scale
        hess[row] = hessians[r] * bend


@internal(forceinline=True)
def add_lanes(values):
    """Return the sum of four lanes, added in the order (0 + 2) + (1 + 3)."""
    return (at(values, 0) + at(values, 2)) + (at(values, 1) + at(values, 3))


@internal(forceinline=True)
def sum_scale(total, by_sum):
    """Return log2(1 + S) / S for S = total, or 1 if queries are not scaled."""
    return np.log2(1.0 + total) / total if by_sum and total > 0.0 else 1.0
