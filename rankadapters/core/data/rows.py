"""Rows of queries in a given order, for rankings and for sums over rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, Ints, index_dtype, offsets, read_only
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.core.ranking.jit import writable

__all__ = ["NO_ORDER", "Rows", "backwards", "mirrored", "offsets", "retrieved_rows", "rows_of"]

NO_ORDER: Ints = writable(read_only(np.empty(0, index_dtype(0))))


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows, query by query: `order` lists their numbers in the caller's arrays; an empty one means 0, 1, 2, ...

    Both arrays are `writable`, which is the type that kernels are compiled for.
    """

    order: Array
    indptr: Ints

    @cached_property
    def sizes(self) -> Ints:
        """Number of rows of each query."""
        sizes: Ints = self.indptr[1:] - self.indptr[:-1]
        return sizes

    @cached_property
    def longest(self) -> int:
        """Number of rows of the longest query; 0 without queries."""
        return int(self.sizes.max(initial=0))

    def take(self, column: Array) -> Array:
        """Return the entries of a caller's column for these rows, in their order, as input for kernels."""
        end = int(self.indptr[-1])  # if `order` is empty, these are all rows or no rows
        entries: Array = writable(column[self.order] if self.order.size else column[:end])
        return entries

    def reordered(self, positions: Ints) -> Rows:
        """Return the rows in a new order of the rows within each query."""
        inner = positions.astype(index_dtype(int(self.indptr[-1])), copy=False)
        return Rows(self.order[inner] if self.order.size else inner, self.indptr)


def mirrored(rows: Rows) -> Ints:
    """Return indexes that reverse the order of rows within each query."""
    return np.repeat(rows.indptr[1:] + rows.indptr[:-1] - 1, rows.sizes) - np.arange(rows.indptr[-1])


def backwards(rows: Rows) -> Rows:
    """Return the rows with the order within each query reversed."""
    return rows.reordered(mirrored(rows))


def rows_of(queries: Queries, mask: NDArray[np.bool_] | None) -> Rows:
    """Return the rows of the queries for which the mask is True; all rows without a mask."""
    order = NO_ORDER if queries.order is None else writable(queries.order)
    if mask is None:
        return Rows(order, writable(queries.indptr))
    rows = order if order.size else np.arange(queries.n_docs, dtype=index_dtype(queries.n_docs))
    inside = mask[rows]
    return Rows(rows[inside], offsets(inside)[queries.indptr])


def retrieved_rows(unjudged: str, queries: Queries) -> Rows:
    """Return the rows to rank, given the value of the field `unjudged`."""
    if queries.judged is None and unjudged != "drop-negative":
        return rows_of(queries, queries.retrieved)
    judged = np.ones(queries.n_docs, np.bool_) if queries.judged is None else queries.judged
    retrieved = queries.retrieved if queries.retrieved is not None else np.ones(queries.n_docs, np.bool_)
    without_label = retrieved & ~judged
    if unjudged == "error" and without_label.any():
        row = int(np.argmax(without_label))
        raise InputError(
            f"row {row} was retrieved but not judged, and the convention says unjudged='error'.",
            hint="convention.replace(unjudged='zero') or 'drop'",
            row=row,
        )
    if unjudged == "drop-negative":
        judged = judged & (queries.labels >= 0)
    return rows_of(queries, judged & retrieved if unjudged in {"drop", "drop-negative"} else queries.retrieved)
