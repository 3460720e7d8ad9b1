"""Helpers to plan measures that need whole queries: weights, sums, probabilities, pairs, label ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.binding.plans import NO_ARGUMENTS, WholePlan
from rankadapters.core.data.columns import Array, Floats, Ints, index_dtype, refused_label
from rankadapters.core.data.rows import Rows, offsets
from rankadapters.core.errors import InputError
from rankadapters.core.kernels.views import writable
from rankadapters.core.ranking.segments import segment_numbers, sums

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Binding
    from rankadapters.core.kernels import Kernel


def weights_of(binding: Binding, rows: Rows, average: str) -> Floats:
    """Return the weight of each row, 1 if the average ignores weights."""
    return rows.take((binding.row_weights(average) or binding.row_ones).values)


def sums_by(indptr: Ints, values: Array) -> Floats:
    """Return the sum of the values of each query, added from left to right."""
    return sums(values, segment_numbers(indptr), indptr.size - 1).astype(np.float64, copy=False)  # type: ignore[no-any-return]


def probabilities(binding: Binding, who: str) -> Floats:
    """Return the labels, checked to be probabilities, in the caller's order; 0 for unjudged rows.

    Raises
    ------
    InputError
        A label is outside [0, 1].
    """
    labels = binding.labels
    outside = (labels < 0) | (labels > 1)
    if outside.any():
        hint = "map your labels" + (", or pairs='label'" if who == "pairs='unit'" else ", such as labels / 4")
        raise refused_label(labels, outside, f"but {who} takes labels in [0, 1]", hint)
    return labels


def given_pairs(binding: Binding, rows: Rows, *, weighed: bool) -> tuple[Array, Array, Floats, Ints]:
    """Return winners, losers and weights of the pairs with both rows among `rows`, and where each query's pairs begin.

    Raises
    ------
    InputError
        No pairs were given.
    """
    pairs = binding.queries.pairs
    if pairs is None:
        raise InputError(
            "pairs='given' needs pairs=, but none were given.", hint="pairs=(winner rows, loser rows), or 'label'"
        )
    included = np.ones(binding.queries.n_docs, np.bool_)
    if rows.indptr[-1] < included.size:
        included[:] = False
        included[rows.order] = True
    both: NDArray[np.bool_] = included[pairs.winner] & included[pairs.loser]
    weights = pairs.weight[both] if weighed and pairs.weight is not None else np.ones(int(both.sum()))
    pairptr = offsets(both)[pairs.indptr]
    return pairs.winner[both], pairs.loser[both], weights, pairptr


def loss_plan(
    kernel: Kernel,
    rows: Rows,
    mass: Floats,
    *,
    options: Mapping[str, float] = NO_ARGUMENTS,
    offsets: Mapping[str, Ints] = NO_ARGUMENTS,
    **columns: Array,
) -> WholePlan:
    """Return the plan of a loss, whose value is the sum of all numerators divided by the sum of all masses."""
    return WholePlan(
        kernel=kernel, rows=rows, precision="none", columns=as_arguments(columns), offsets=as_arguments(offsets),
        options=options, mass=mass, pooled=True, empty=mass <= 0,
    )  # fmt: skip


def as_arguments(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays as kernels accept them."""
    return {name: writable(array) for name, array in arrays.items()}


def by_label(binding: Binding, rows: Rows) -> tuple[Rows, Array]:
    """Return each query's rows by ascending label, and for each row the number of rows with a lower label."""
    inner = binding.ascending(rows.take(binding.labels), rows)
    order = inner.astype(index_dtype(binding.queries.n_docs)) if rows.order is None else rows.order[inner]
    ordered = Rows(order, rows.indptr)
    labels, starts = ordered.take(binding.labels), np.repeat(rows.indptr[:-1], rows.sizes)
    positions = np.arange(labels.size)
    new = np.ones(labels.size, np.bool_)
    new[1:] = (labels[1:] != labels[:-1]) | (starts[1:] != starts[:-1])
    return ordered, np.maximum.accumulate(np.where(new, positions, 0)) - starts


def label_ranks(binding: Binding, rows: Rows) -> Floats:
    """Return 2 x (rank by label - mean rank of the query) in the caller's order; equal labels share their mean rank."""
    ordered, lower = by_label(binding, rows)
    firsts = np.arange(lower.size) - np.repeat(rows.indptr[:-1], rows.sizes) == lower  # the first row of each label
    ties = np.cumsum(firsts) - 1
    ranks = np.zeros(binding.queries.n_docs)
    ranks[ordered.order] = 2 * lower + np.bincount(ties)[ties] - np.repeat(rows.sizes, rows.sizes)
    return ranks
