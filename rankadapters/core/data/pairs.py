"""Pairs of rows, of which one should stand above the other: checked, and brought together by query."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import (
    Array,
    as_column,
    as_numbers,
    as_weights,
    frozen,
    offsets,
    refused_entry,
    shared_index,
)
from rankadapters.core.errors import InputError
from rankadapters.core.kernels.in_numpy.segments import positions_within

_PAIR = ("winner", "loser")


class Pairs(NamedTuple):
    """Rows of one query of which one should stand above the other, query by query.

    Attributes
    ----------
    winner, loser : int array, shape (n_pairs,)
        Places in the caller's order of rows.
    weight : float64 array, shape (n_pairs,), or None
        None is 1 for each.
    indptr : int64 array, shape (n_queries + 1,)
        The pairs of query i are `indptr[i]:indptr[i + 1]`.
    """

    winner: NDArray[np.int64]
    loser: NDArray[np.int64]
    weight: NDArray[np.float64] | None
    indptr: NDArray[np.int64]


def as_pairs(pairs: object, query_of_row: NDArray[np.intp], query_ids: Array) -> Pairs:
    """Check pairs of rows, and bring those of each query together.

    Raises
    ------
    InputError
        Not two or three columns of one length, a place that is not a row, two rows of different queries, a row with
        itself, or a weight below 0.
    """
    # Only a tuple: a list of two pairs would be read as two columns.
    if not isinstance(pairs, tuple) or len(pairs) not in {2, 3}:
        raise InputError(
            f"pairs is {pairs!r:.60}; allowed are (winner, loser) and (winner, loser, weight), an array each.",
            hint="tuple(zip(*pairs)) turns a list of pairs into these columns",
        )
    shared_index({f"pairs {name}": column for name, column in zip((*_PAIR, "weight"), pairs, strict=False)})
    winner, loser = (_as_places(name, column, query_of_row.size) for name, column in zip(_PAIR, pairs, strict=False))
    weight = None
    if winner.size != loser.size:
        raise InputError(f"pairs has {winner.size} winners but {loser.size} losers.", hint="one of each per pair")
    if len(pairs) == 3 and pairs[2] is not None and winner.size:  # noqa: PLR2004 - with weights
        weight = as_numbers("pairs weight", pairs[2]).astype(np.float64, copy=False)
        if weight.size != winner.size:
            raise InputError(f"pairs has {winner.size} winners but {weight.size} weights.", hint="one weight per pair")
        weight = as_weights("pairs weight", weight, "mend or drop the pair", by_row=False)
    query, other = query_of_row[winner], query_of_row[loser]
    if (query != other).any():
        pair = int(np.argmax(query != other))
        who = [query_ids[number] for number in (query[pair], other[pair])]
        raise InputError(
            f"pair {pair} joins rows {winner[pair]} and {loser[pair]}, of queries {who[0]} and {who[1]}.",
            hint="both rows of a pair are of one query, as places in the order of labels",
        )
    if (winner == loser).any():
        pair = int(np.argmax(winner == loser))
        raise InputError(f"pair {pair} joins row {winner[pair]} with itself.", hint="two rows make a pair")
    order = np.argsort(query, kind="stable")
    indptr = offsets(np.bincount(query, minlength=query_ids.size))
    return Pairs(frozen(winner[order]), frozen(loser[order]), None if weight is None else frozen(weight[order]), indptr)


def _as_places(name: str, column: object, n_docs: int) -> NDArray[np.int64]:
    if isinstance(column, Sized) and not len(column):  # no query has a pair, which is not a mistake
        return np.empty(0, np.int64)
    places = as_column(f"pairs {name}", column)
    if places.dtype.kind not in "iu":
        raise InputError(
            f"pairs {name} has dtype {places.dtype}, but places of rows are needed.", hint="whole numbers from 0 on"
        )
    outside = (places < 0) | (places >= n_docs)
    if outside.any():
        why = f", but the rows are 0 to {n_docs - 1}"
        raise refused_entry(f"pairs {name}", places, outside, why, "places in the order of labels", by_row=False)
    return places.astype(np.int64)


def moved(pairs: Pairs, rows: NDArray[np.intp], numbers: NDArray[np.integer[Any]]) -> Pairs:
    """Pairs of some queries, their rows renumbered."""
    place = np.zeros(int(rows.max(initial=-1)) + 1, np.int64)
    place[rows] = np.arange(rows.size)
    sizes = np.diff(pairs.indptr)[numbers]
    indptr = offsets(sizes)
    kept = positions_within(indptr) + np.repeat(pairs.indptr[numbers], sizes)
    weight = None if pairs.weight is None else pairs.weight[kept]
    return Pairs(place[pairs.winner[kept]], place[pairs.loser[kept]], weight, indptr)
