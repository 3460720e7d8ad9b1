"""Rows of queries in some order: what rankings and sums run over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, Ints, index_dtype, offsets, read_only
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.core.kernels.views import writable

__all__ = ["NO_ORDER", "Rows", "backwards", "mirrored", "offsets", "retrieved_rows", "rows_of"]

NO_ORDER: Ints = writable(read_only(np.empty(0, index_dtype(0))))


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows, query by query: `order` lists their places in the caller's arrays, and is empty for row order.

    Both arrays are as kernels take them, `writable`.
    """

    order: Array
    indptr: Ints

    @cached_property
    def sizes(self) -> Ints:
        """Rows per query."""
        sizes: Ints = self.indptr[1:] - self.indptr[:-1]
        return sizes

    @cached_property
    def longest(self) -> int:
        """Rows of the query that has most of them; 0 where there are none."""
        return int(self.sizes.max(initial=0))

    def take(self, column: Array) -> Array:
        """Bring a column of the caller's into this order, to be read."""
        taken: Array = writable(
            column[self.order] if self.order.size else column[: int(self.indptr[-1])]
        )  # all or none
        return taken


def mirrored(rows: Rows) -> Ints:
    """Places of the rows of each query from the last to the first."""
    return np.repeat(rows.indptr[1:] + rows.indptr[:-1] - 1, rows.sizes) - np.arange(rows.indptr[-1])


def backwards(rows: Rows) -> Rows:
    """Reverse the order of the rows of each query."""
    inner = mirrored(rows).astype(index_dtype(int(rows.indptr[-1])), copy=False)
    return Rows(rows.order[inner] if rows.order.size else inner, rows.indptr)


def rows_of(queries: Queries, kept: NDArray[np.bool_] | None) -> Rows:
    """Some rows of the queries; all where nothing says which."""
    order = NO_ORDER if queries.order is None else writable(queries.order)
    if kept is None:
        return Rows(order, writable(queries.indptr))
    places = order if order.size else np.arange(queries.n_docs, dtype=index_dtype(queries.n_docs))
    inside = kept[places]
    return Rows(places[inside], offsets(inside)[queries.indptr])


def retrieved_rows(unjudged: str, queries: Queries) -> Rows:
    """Rows that a ranking holds; as `Binding.retrieved`."""
    if queries.judged is None:
        return rows_of(queries, queries.retrieved)
    retrieved = queries.retrieved if queries.retrieved is not None else np.ones(queries.n_docs, np.bool_)
    bare = retrieved & ~queries.judged
    if unjudged == "error" and bare.any():
        row = int(np.argmax(bare))
        raise InputError(
            f"row {row} was retrieved but not judged, and the convention says unjudged='error'.",
            hint="convention.replace(unjudged='zero') or 'drop'",
            row=row,
        )
    return rows_of(queries, queries.judged & retrieved if unjudged == "drop" else queries.retrieved)
