"""Where the queries are: a column of X or an index level, and weights per row brought to one per query."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError
from rankadapters.core.queries import Queries

Array = NDArray[Any]


def find_qid(name: str, X: Any, y: Any) -> Any:
    """Find query ids in a column of X, else an index level of X, else an index level of y.

    Raises
    ------
    InputError
        None of them has that name.
    """
    columns = getattr(X, "column_names", getattr(X, "columns", ()))  # pyarrow's `columns` are the data
    if name in list(columns):
        return X[name]
    for table in (X, y):
        index = getattr(table, "index", None)
        if name in list(getattr(index, "names", ())):
            return np.asarray(index.get_level_values(name))  # type: ignore[union-attr]
    msg = (
        f"the scorer got no {name!r}, so it cannot tell the queries apart.\n"
        f"Hint: sklearn.set_config(enable_metadata_routing=True) and fit(X, y, {name}=...), or a column or index level "
        f"named {name!r} in X or y."
    )
    raise InputError(msg)


def one_per_query(sample_weight: Any, queries: Queries) -> Array:
    """Reduce weights per row, constant within a query, to one per query.

    Raises
    ------
    InputError
        They vary within a query, or there is not one per row.
    """
    row_weights = _values(sample_weight)
    if row_weights.shape != (queries.n_docs,):
        msg = f"sample_weight has shape {row_weights.shape} but there are {queries.n_docs} rows.\nHint: one per row."
        raise InputError(msg)
    ordered = row_weights if queries.order is None else row_weights[queries.order]
    first = ordered[queries.indptr[:-1]]
    varies = np.flatnonzero(ordered != np.repeat(first, np.diff(queries.indptr)))
    if varies.size:
        query = queries.query_ids[np.searchsorted(queries.indptr, varies[0], side="right") - 1]
        msg = f"sample_weight varies within query {query}.\nHint: give every row of a query the query's weight."
        raise InputError(msg)
    return first


def _values(column: Any) -> Array:
    return column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
