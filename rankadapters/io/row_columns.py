"""Columns of one value per row, in the form that queries need: one weight per query, and documents in order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, text_column
from rankadapters.core.data.docids import rank_docids
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError


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
    docids: Sequence[str], queries: Queries, place: Callable[[int], str], *, hint: str = "drop one of the two"
) -> NDArray[np.int64]:
    """Return the position of each row in the order of query and docid.

    Raises
    ------
    InputError
        A document is in its query twice.
    """
    query = queries.query_of_row
    ranks, twice = rank_docids(text_column(docids), query)
    if twice >= 0:
        first, row = repeated(zip(query.tolist(), docids, strict=True))
        name = str(queries.query_ids[query[row]])
        msg = f"{place(row)}: document {docids[row]!r} of query {name!r} stands in {place(first)} too.\nHint: {hint}."
        raise InputError(msg, row=row)
    return ranks


def repeated(keys: Iterable[Hashable]) -> tuple[int, int]:
    """Return the rows of the first key that comes a second time; (-1, -1) where there is none.

    >>> repeated("abcb")
    (1, 3)
    """
    first: dict[Hashable, int] = {}
    return next(((first[key], row) for row, key in enumerate(keys) if first.setdefault(key, row) != row), (-1, -1))
