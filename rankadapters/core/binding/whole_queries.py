"""Helpers to plan measures that need whole queries: weights, sums, probabilities, pairs, label ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import NO_ARGUMENTS, Formula, WholePlan
from rankadapters.core.data.columns import Array, Floats, Ints, offsets, refused_label
from rankadapters.core.data.pairs import Pairs
from rankadapters.core.data.rows import Rows
from rankadapters.core.errors import InputError
from rankadapters.core.ranking.segments import positions_within, segment_numbers, sums


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


def given_pairs(binding: Binding, rows: Rows, *, weighed: bool) -> Pairs:
    """Return the given pairs with both rows among `rows`, as positions in their order, with weights.

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
    position = np.full(binding.queries.n_docs, -1)
    n = int(rows.indptr[-1])
    position[slice(n) if rows.order is None else rows.order] = np.arange(n)
    winner, loser = position[pairs.winner], position[pairs.loser]
    both: NDArray[np.bool_] = (winner >= 0) & (loser >= 0)
    weight = pairs.weight[both] if weighed and pairs.weight is not None else np.ones(int(both.sum()))
    return Pairs(winner[both], loser[both], weight, offsets(both)[pairs.indptr])


def loss_plan(
    formula: Formula,
    rows: Rows,
    mass: Floats,
    *,
    options: Mapping[str, Any] = NO_ARGUMENTS,
    pairs: Pairs | None = None,
    **columns: Array,
) -> WholePlan:
    """Return the plan of a loss, whose value is the sum of all numerators divided by the sum of all masses."""
    return WholePlan(
        formula=formula, rows=rows, precision="none", columns=columns, pairs=pairs, options=options, mass=mass,
        pooled=True, empty=mass <= 0,
    )  # fmt: skip


def by_label(binding: Binding, rows: Rows) -> tuple[Rows, Array]:
    """Return each query's rows by ascending label, and for each row the number of rows with a lower label."""
    ordered = rows.reordered(binding.ascending(rows.take(binding.labels), rows))
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


def grades_of(lower: Ints, indptr: Ints) -> Ints:
    """Return each row's label as 0, 1, ... within its query, given rows by label with their counts of lower labels."""
    firsts = np.append(0, np.cumsum(lower == positions_within(indptr)))
    grades: Ints = firsts[1:] - 1 - np.repeat(firsts[indptr[:-1]], np.diff(indptr))
    return grades
