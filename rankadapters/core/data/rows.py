"""Rows of queries in a given order, for rankings and for sums over rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, Ints, index_dtype, offsets
from rankadapters.core.errors import InputError

if TYPE_CHECKING:
    from rankadapters.core.data.queries import Queries

__all__ = ["Rows", "backwards", "mirrored", "offsets", "retrieved_rows", "rows_of"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows, query by query.

    Attributes
    ----------
    order : int array or None
        Row numbers in the caller's arrays; None for 0, 1, 2, ...
    indptr : int64 array, shape (n_queries + 1,)
        The rows of query i are `order[indptr[i]:indptr[i + 1]]`.
    """

    order: NDArray[np.signedinteger[Any]] | None
    indptr: Ints

    @property
    def n_docs(self) -> int:
        """Number of rows."""
        return int(self.indptr[-1] - self.indptr[0])

    @cached_property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.indptr.size - 1

    @cached_property
    def sizes(self) -> Ints:
        """Number of rows of each query."""
        return self.indptr[1:] - self.indptr[:-1]

    @cached_property
    def longest(self) -> int:
        """Number of rows of the longest query; 0 without queries."""
        return int(self.sizes.max(initial=0))

    def take(self, column: Array) -> Array:
        """Return the entries of a caller's column for these rows, in their order.

        >>> from rankadapters import Queries
        >>> Queries([1, 0, 2], qid=["b", "a", "b"]).take(np.array([5, 6, 7])).tolist()
        [5, 7, 6]
        """
        return column if self.order is None else column[self.order]


    def reordered(self, positions: Ints) -> Rows:
        """Return the rows in a new order of the rows within each query."""
        inner = positions.astype(index_dtype(positions.size), copy=False)
        return Rows(inner if self.order is None else self.order[inner], self.indptr)


def mirrored(rows: Rows) -> Ints:
    """Return indexes that reverse the order of rows within each query."""
    return np.repeat(rows.indptr[1:] + rows.indptr[:-1] - 1, rows.sizes) - np.arange(rows.indptr[-1])


def backwards(rows: Rows) -> Rows:
    """Return the rows with the order within each query reversed."""
    return rows.reordered(mirrored(rows))


def rows_of(queries: Queries, mask: NDArray[np.bool_] | None) -> Rows:
    """Return the rows of the queries for which the mask is True; all rows without a mask."""
    if mask is None:
        return queries
    order = np.arange(queries.n_docs, dtype=index_dtype(queries.n_docs)) if queries.order is None else queries.order
    inside = mask[order]
    return Rows(order[inside], offsets(inside)[queries.indptr])


def retrieved_rows(unjudged: str, queries: Queries) -> Rows:
    """Return the rows to rank, given the value of the field `unjudged`."""
    if queries.judged is None and unjudged != "drop-negative":
        return rows_of(queries, queries.retrieved)
    judged = np.ones(queries.n_docs, np.bool_) if queries.judged is None else queries.judged
    retrieved = np.ones(queries.n_docs, np.bool_) if queries.retrieved is None else queries.retrieved
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
