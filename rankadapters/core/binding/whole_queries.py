"""What measures of whole queries lower themselves to: weights and their sums, probabilities, pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.binding.plans import NO_ARGUMENTS, WholePlan
from rankadapters.core.data.columns import Array, Floats, Ints, index_dtype, refused_label
from rankadapters.core.data.rows import Rows, offsets
from rankadapters.core.errors import InputError
from rankadapters.core.kernels.in_numpy.segments import numbers, sums
from rankadapters.core.kernels.views import writable

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Bound
    from rankadapters.core.kernels import Kernel


def weights_of(bound: Bound, rows: Rows, average: str) -> Floats:
    """Weight of each row, 1 where these do not count."""
    return rows.take((bound.row_weights(average) or bound.one_each).values)


def sums_by(indptr: Ints, values: Array) -> Floats:
    """Sum of the values of each query, from left to right."""
    return sums(values, numbers(indptr), indptr.size - 1).astype(np.float64, copy=False)  # type: ignore[no-any-return]


def probabilities(bound: Bound, who: str) -> Floats:
    """Labels that are probabilities, in the caller's order, 0 where they are not judged.

    Raises
    ------
    InputError
        A label is outside [0, 1].
    """
    labels = bound.labels
    outside = (labels < 0) | (labels > 1)
    if outside.any():
        hint = "map your labels" + (", or pairs='label'" if who == "pairs='unit'" else ", such as labels / 4")
        raise refused_label(labels, outside, f"but {who} takes labels in [0, 1]", hint)
    return labels


def given_pairs(bound: Bound, rows: Rows, *, weighed: bool) -> tuple[Array, Array, Floats, Ints]:
    """Winners, losers and weights of the pairs of which both rows are among `rows`, and where each query's begin.

    Raises
    ------
    InputError
        No pairs were given.
    """
    pairs = bound.queries.pairs
    if pairs is None:
        raise InputError(
            "pairs='given' needs pairs=, but none were given.", hint="pairs=(winner rows, loser rows), or 'label'"
        )
    there = np.ones(bound.queries.n_docs, np.bool_)
    if rows.indptr[-1] < there.size:
        there[:] = False
        there[rows.order] = True
    kept: NDArray[np.bool_] = there[pairs.winner] & there[pairs.loser]
    weights = pairs.weight[kept] if weighed and pairs.weight is not None else np.ones(int(kept.sum()))
    pairptr = offsets(kept)[pairs.indptr]
    return pairs.winner[kept], pairs.loser[kept], weights, pairptr


def loss_plan(
    kernel: Kernel,
    rows: Rows,
    mass: Floats,
    *,
    options: Mapping[str, float] = NO_ARGUMENTS,
    offsets: Mapping[str, Ints] = NO_ARGUMENTS,
    **columns: Array,
) -> WholePlan:
    """Plan of a loss: sums over all queries, of numerators and masses."""
    return WholePlan(
        kernel=kernel, rows=rows, precision="none", columns=as_arguments(columns), offsets=as_arguments(offsets),
        options=options, mass=mass, pooled=True, empty=mass <= 0,
    )  # fmt: skip


def as_arguments(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """View arrays as kernels take them."""
    return {name: writable(array) for name, array in arrays.items()}


def by_label(bound: Bound, rows: Rows) -> tuple[Rows, Array]:
    """Rows of each query by ascending label, and how many of its rows have a lower one than each."""
    inner = bound.ascending(rows.take(bound.labels), rows)
    places = rows.order[inner] if rows.order.size else inner.astype(index_dtype(bound.queries.n_docs))
    ordered = Rows(places, rows.indptr)
    labels, starts = ordered.take(bound.labels), np.repeat(rows.indptr[:-1], rows.sizes)
    places = np.arange(labels.size)
    new = np.ones(labels.size, np.bool_)
    new[1:] = (labels[1:] != labels[:-1]) | (starts[1:] != starts[:-1])
    return ordered, np.maximum.accumulate(np.where(new, places, 0)) - starts


def label_ranks(bound: Bound, rows: Rows) -> Floats:
    """Twice the mean rank by label, in the caller's order, counted from the middle of the query: 0 for equal labels."""
    ordered, lower = by_label(bound, rows)
    firsts = np.arange(lower.size) - np.repeat(rows.indptr[:-1], rows.sizes) == lower  # each begins a tie
    ties = np.cumsum(firsts) - 1
    ranks = np.zeros(bound.queries.n_docs)
    ranks[ordered.order] = 2 * lower + np.bincount(ties)[ties] - np.repeat(rows.sizes, rows.sizes)
    return ranks
