"""Columns of one value per row, in the form that queries need: one weight per query, and documents in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.io.docids import order_docids


def query_weights(name: object, weights: Array, queries: Queries, place: Callable[[int], str]) -> Array:
    """Return the weight of each query.

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


def docid_ranks(
    docids: Sequence[bytes], queries: Queries, place: Callable[[int], str], *, hint: str = "drop one of the two"
) -> NDArray[np.int32]:
    """Return the position of each row in the order of query and docid.

    Raises
    ------
    InputError
        A document is in its query twice.
    """
    query = queries.query_of_row
    ordered = order_docids(query, docids)
    if ordered.same.any():
        row = int(ordered.rows[1:][ordered.same].min())
        first = next(at for at in range(row) if docids[at] == docids[row] and query[at] == query[row])
        name = str(queries.query_ids[query[row]])
        document = docids[row].decode()
        msg = f"{place(row)}: document {document!r} of query {name!r} stands in {place(first)} too.\nHint: {hint}."
        raise InputError(msg, row=row)
    return ordered.ranks()
