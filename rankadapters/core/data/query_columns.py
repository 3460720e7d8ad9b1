"""Checks of the optional columns of queries: weights by query and by row, and document identifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import (
    Array,
    as_column,
    as_numbers,
    as_weights,
    pandas_index,
    same_length,
    text_column,
)
from rankadapters.core.data.ids import id_value, id_values
from rankadapters.core.errors import InputError


def as_query_weights(query_weight: object, query_ids: Array, n_docs: int) -> NDArray[np.float64]:
    """Check one weight for each query."""
    weights, n_queries = as_numbers("query_weight", query_weight).astype(np.float64, copy=False), query_ids.size
    if weights.size != n_queries:
        per_row = " (one per row)" if weights.size == n_docs else ""
        raise InputError(
            f"query_weight has {weights.size} entries{per_row} but there are {n_queries} queries.",
            hint="one weight per query, in order of first appearance",
        )
    if (index := pandas_index(query_weight)) is not None:
        indexed, ids = list(map(id_value, index)), id_values(query_ids)
        if indexed != ids and set(indexed) == set(ids):
            raise InputError(
                "query_weight is indexed by query id, in an order other than that of the first appearance of queries.",
                hint="query_weight.loc[ra.Queries(labels, qid=qid).query_ids], or .to_numpy() if the order is right",
            )
    return as_weights("query_weight", weights, "fix or drop the query", by_row=False)


def as_row_weights(row_weight: object, n_docs: int) -> NDArray[np.float64]:
    """Check one weight for each row."""
    weights = as_numbers("row_weight", row_weight).astype(np.float64, copy=False)
    same_length("row_weight", weights, n_docs)
    return as_weights("row_weight", weights, "fix or drop the row", by_row=True)


def as_docids(
    docid: object, query_of_row: NDArray[np.intp], query_ids: Array | None
) -> tuple[Array, NDArray[np.bool_] | None]:
    """Check that docids are unique within a query; return the rank of each row's docid, and what `own_docids` returns.

    `query_ids` is None if the caller gave none.
    """
    ids = as_column("docid", docid)
    same_length("docid", ids, query_of_row.size)
    texts = docid_texts(ids)
    ranks, row = rank_docids(texts, query_of_row)
    if row >= 0:
        raise InputError(
            f"docid[{row}] = {str(ids[row])!r} occurs twice in its query.",
            hint="drop duplicate documents first",
            row=row,
        )
    return ranks, None if query_ids is None else own_docids(texts, query_ids, query_of_row)


def rank_docids(ids: Array, query: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Rank the rows by query, then by identifier: by code points, which is the order of their UTF-8 bytes.

    Parameters
    ----------
    ids : str or object array, shape (n_docs,)
        Identifiers; an object array holds strings too, some of which end with NUL.
    query : int array, shape (n_docs,)
        Query of each row.

    Returns
    -------
    ranks : int64 array, shape (n_docs,)
        Rank of each row, from 0.
    duplicate : int
        A row that repeats an identifier of its query; -1 if there is none.

    Examples
    --------
    >>> rank_docids(np.array(["b", "é", "a"]), np.array([0, 0, 0]))
    (array([1, 2, 0]), -1)
    """
    keys = [ids.astype(str, copy=False), query]
    if ids.dtype == object:  # the conversion drops a final NUL, so compare lengths too
        keys.insert(0, np.fromiter(map(len, ids), np.int64, ids.size))
    order = np.lexsort(keys)
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.arange(order.size)
    same = np.all([key[order[1:]] == key[order[:-1]] for key in keys], axis=0)
    return ranks, int(order[int(np.argmax(same)) + 1]) if same.any() else -1


def own_docids(docids: Array, query_ids: Array, query_of_row: NDArray[np.intp]) -> NDArray[np.bool_] | None:
    """Return the rows whose docid is the id of their query; None if there are none.

    >>> own_docids(np.array(["7", "a", "7"]), np.array([7, 8]), np.array([0, 0, 1])).tolist()
    [True, False, False]
    """
    own: NDArray[np.bool_] = docids == text_column(list(map(str, query_ids.tolist())))[query_of_row]
    return own if own.any() else None


def docid_texts(ids: Array) -> Array:
    """Return identifiers as a column of texts; raise InputError if one is not a string."""
    if ids.dtype.kind != "U":
        for row, item in enumerate(ids):
            if not isinstance(item, str):
                raise InputError(
                    f"docid[{row}] is {item!r}, but docids are strings.", hint="docid=[str(d) for d in docid]", row=row
                )
    return text_column(ids.tolist()) if ids.dtype == object else ids
