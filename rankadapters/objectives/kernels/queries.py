"""Queries as kernels of gradients take them: how a ranked query begins and ends, and the memory to work in."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from rankadapters.core.kernels import kernel, merged
from rankadapters.objectives.kernels.lanes import LANES, at

# Some queries, ranked. `scores`, `gains` and `rows` (a row's number in its query) are by rank, those of each query from
# `rowptr` on: a query without a gradient has none. `order` and `indptr` are as in ranked_rows, `inverse` ideals by
# query, `discounts` by rank. The first query draws with `seed`, each later one with one more.
RankedQueries = namedtuple(  # noqa: PYI024 - numba knows this kind
    "RankedQueries", "scores gains rows rowptr order indptr inverse discounts seed"
)

# Some queries, query by query from the first one on, each of which is ranked `copies` times under noise. `worth` is
# what a row is worth, or the chance to stop there; `rest` the chance to go on, empty where nobody stops. `order` and
# `indptr` are as in ranked_rows, `inverse` divisors by query. In `copyptr` queries without a gradient have no rows.
CopiedQueries = namedtuple(  # noqa: PYI024 - as above
    "CopiedQueries", "scores worth rest inverse order indptr copyptr copies"
)

# One query by rank, in float64: `powers` are exp(sigma s), relative to some score; `lambdas` and `hessians` are so far.
Ranks = namedtuple("Ranks", "scores powers gains lambdas hessians zeros")  # noqa: PYI024 - as above

WIDEST = 1e300  # scores further apart than this have no distance to divide by


def columns(fields: Any, width: int, dtype: Any = np.float64) -> Any:
    """Make a tuple of columns, each with room for `width` ranks and for the lanes that overhang."""
    return fields(*(np.zeros(width + LANES, dtype) for _ in fields._fields))


@kernel
def longest(indptr):
    """Rows of the longest query."""
    width = 0
    for q in range(indptr.size - 1):
        width = max(width, indptr[q + 1] - indptr[q])
    return width


@merged
def row_at(order, place):
    """Row in the caller's order."""
    return np.int64(order[place] if order.size else place)


@merged
def begin_query(ranks, queries, q):
    """Take a query's rows by rank, none of whose pairs is added yet; return a row too far from the first, else -1."""
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


@merged
def write_gradients(queries, q, lambdas, hessians, scale, bend, grad, hess):
    """Write a query's lambdas times `scale`, and its hessians times `bend`, to its rows."""
    begin, start, order, rows = queries.rowptr[q], queries.indptr[q], queries.order, queries.rows
    for r in range(queries.rowptr[q + 1] - begin):
        row = np.uint64(row_at(order, start + rows[begin + r]))
        grad[row] = lambdas[r] * scale
        hess[row] = hessians[r] * bend


@merged
def add_lanes(values):
    """Add up the four, by adding up halves."""
    return (at(values, 0) + at(values, 2)) + (at(values, 1) + at(values, 3))


@merged
def sum_scale(total, by_sum):
    """log2(1 + S) / S, or 1 where nothing is scaled."""
    return np.log2(1.0 + total) / total if by_sum and total > 0.0 else 1.0
