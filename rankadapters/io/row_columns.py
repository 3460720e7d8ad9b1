"""Columns of a value per row, as queries need them: one weight each, and their documents in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.io.docids import Texts, order_docids


def query_weights(name: object, weights: Array, queries: Queries, place: Callable[[int], str]) -> Array:
    """Weight of each query.

    Raises
    ------
    InputError
        The rows of a query disagree.
    """
    first, varies = queries.per_query(weights)
    if varies >= 0:
        row = int(np.flatnonzero(weights != queries.per_row(first))[0])
        msg = (
            f"{place(row)}: {name} is {weights[row]:g}, but another row of its query has another weight.\n"
            "Hint: a weight is the query's, so its rows must agree."
        )
        raise InputError(msg, row=row)
    return first


def docid_ranks(docids: Sequence[bytes], queries: Queries, place: Callable[[int], str]) -> NDArray[np.int32]:
    """Order of the documents in each query.

    Raises
    ------
    InputError
        A document stands twice in a query.
    """
    ordered = order_docids(queries.query_of_row, [Texts.of(docids)])
    if ordered.same.any():
        row = int(ordered.rows[1:][ordered.same].min())
        msg = f"{place(row)}: document {docids[row].decode()!r} stands in its query before.\nHint: drop one."
        raise InputError(msg, row=row)
    return ordered.ranks()
