"""Queries as arguments of gradient kernels, with functions to load a ranked query and to write its gradients."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import rank

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

WIDEST = 1e300  # largest distance of two scores in a query; a larger one could overflow


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
def rank_all(scores, gains, indptr, rowptr, space, ranked_scores, ranked_gains, rows):
    """Write each query's scores, gains and rows (numbered within the query) by rank; skip queries without room.

    `space` is the working memory of `sorting.rank`.
    """
    for q in range(indptr.size - 1):
        start, begin, n = indptr[q], rowptr[q], rowptr[q + 1] - rowptr[q]
        if n > 0:
            query_scores, query_gains = scores[start : start + n], gains[start : start + n]
            rank(query_scores, None, space)
            for r in range(n):
                row = np.uint64(space.order[r])
                rows[begin + r], ranked_scores[begin + r] = row, query_scores[row]
                ranked_gains[begin + r] = query_gains[row]


@internal(forceinline=True)
def write_gradients(queries, q, lambdas, hessians, scale, bend, grad, hess):
    """Write a query's lambdas times `scale`, and its hessians times `bend`, to its rows."""
    begin, start, order, rows = queries.rowptr[q], queries.indptr[q], queries.order, queries.rows
    for r in range(queries.rowptr[q + 1] - begin):
        row = np.uint64(row_at(order, start + rows[begin + r]))
        grad[row] = lambdas[r] * scale
        hess[row] = hessians[r] * bend


@internal(forceinline=True, fastmath={"reassoc"})
def plus(total, number):
    """Add a number to a sum whose terms LLVM may add in any order, so that it can compute several at once."""
    return total + number


@internal(forceinline=True)
def sum_scale(total, by_sum):
    """Return log2(1 + S) / S for S = total, or 1 if queries are not scaled."""
    return np.log2(1.0 + total) / total if by_sum and total > 0.0 else 1.0
