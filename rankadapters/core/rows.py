"""Rows of queries in some order: what rankings and sums run over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankadapters.core.columns import Array, Ints, writable


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows, query by query: `order` lists their places in the caller's arrays, and is empty for row order."""

    order: Array
    indptr: Ints

    def __post_init__(self) -> None:
        """Hold both as kernels take them."""
        object.__setattr__(self, "order", writable(self.order))
        object.__setattr__(self, "indptr", writable(self.indptr))

    @property
    def sizes(self) -> Ints:
        """Rows per query."""
        return np.diff(self.indptr)

    def take(self, column: Array) -> Array:
        """Bring a column of the caller's into this order, to be read."""
        return writable(column[self.order] if self.order.size else column[: int(self.indptr[-1])])  # all rows, or none
