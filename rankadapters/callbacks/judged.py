"""What a toolkit's dataset says of its rows, and what its predictions look like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError

Array = NDArray[Any]


class Judged(NamedTuple):
    """What a toolkit's dataset says of its rows."""

    labels: Array
    group_sizes: Array
    weights: Array | None  # as the toolkit holds them, per row or per query
    positions: Array | None = None  # at which rows were shown, where a position bias asks for them

    def copied(self) -> Judged:
        """Copy what is to be remembered: the caller may write into its arrays, and may want them gone."""
        return Judged(np.array(self.labels), np.array(self.group_sizes), _copied(self.weights), _copied(self.positions))

    def queries(self, query_weights: Callable[[Array, Array], Array]) -> Callable[[str | None], Queries]:
        """Make the queries, with the weights that a convention counts: by query, by row, or none."""

        def bind(weighting: str | None) -> Queries:
            by_query = by_row = None
            if self.weights is not None and weighting == "query_weight":
                by_query = query_weights(self.weights, self.group_sizes)
            elif self.weights is not None and weighting == "row_weight":
                per_query = self.weights.size == self.group_sizes.size != self.group_sizes.sum()
                by_row = np.repeat(self.weights, self.group_sizes) if per_query else self.weights
            return Queries(self.labels, group_sizes=self.group_sizes, query_weight=by_query, row_weight=by_row)

        return bind

    def says(self, judged: Judged) -> bool:
        """Tell whether a dataset still says the same."""
        return all(_same(old, new) for old, new in zip(self, judged, strict=True))


def flat(scores: Any) -> Array:
    """Drop the second dimension of predictions of shape (n_docs, 1)."""
    array = np.asarray(scores)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array  # noqa: PLR2004 - dimensions


def missing_group(owner: str, way_out: str) -> InputError:
    """Say that a dataset has no queries."""
    return InputError(f"the {owner} has no group, so its rows belong to no query.\nHint: {way_out}.")


def _copied(column: Array | None) -> Array | None:
    return None if column is None else np.array(column)


def _same(old: Array | None, new: Array | None) -> bool:
    return np.array_equal(old, new) if old is not None and new is not None else old is new
