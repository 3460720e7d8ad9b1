"""The columns of a toolkit's dataset, and the shape of its predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.arrays import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError


class DatasetColumns(NamedTuple):
    """The columns of a toolkit's dataset that ranking needs."""

    labels: Array
    group_sizes: Array
    weights: Array | None  # per row or per query, as in the toolkit
    positions: Array | None = None  # position at which each row was shown; only for a position bias

    def queries(self, weighting: str | None, query_weights: Callable[[Array, Array], Array] | None = None) -> Queries:
        """Return Queries with weights by query, by row or none.

        `query_weights` computes the weights by query from those by row and the group sizes.
        """
        by_query = by_row = None
        if self.weights is not None and weighting == "query_weight":
            by_query = self.weights if query_weights is None else query_weights(self.weights, self.group_sizes)
        elif self.weights is not None and weighting == "row_weight":
            per_query = self.weights.size == self.group_sizes.size != self.group_sizes.sum()
            by_row = np.repeat(self.weights, self.group_sizes) if per_query else self.weights
        return Queries(self.labels, group_sizes=self.group_sizes, query_weight=by_query, row_weight=by_row)

    def equals(self, other: DatasetColumns) -> bool:
        """Return whether all columns are equal."""
        pairs: Iterator[Any] = zip(self, other, strict=True)
        return all(np.array_equal(*pair) for pair in pairs)


def flat(scores: Any) -> Array:
    """Return predictions as a one-dimensional array; shape (n_docs, 1) is accepted too."""
    array = np.asarray(scores)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array  # noqa: PLR2004 - dimensions


def missing_group(owner: str, hint: str) -> InputError:
    """Return the error for a dataset without queries."""
    return InputError(f"the {owner} has no group, so its rows belong to no query.", hint=hint)
