"""Rows of queries in some order: what rankings and sums run over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankadapters.core.columns import Array, Ints


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows, query by query: `order` lists their places in the caller's arrays, and is empty for row order."""

    order: Array
    indptr: Ints

    @property
    def sizes(self) -> Ints:
        """Rows per query."""
        return np.diff(self.indptr)

    def take(self, column: Array) -> Array:
        """Bring a column of the caller's into this order."""
        if self.order.size:
            return column[self.order]
        return column[: int(self.indptr[-1])]  # all rows, or none
