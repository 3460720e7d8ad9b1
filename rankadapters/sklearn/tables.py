"""Select rows and columns of any library's tables without converting the tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.errors import InputError

Array = NDArray[Any]


def n_rows(X: Any) -> int:
    """Return the number of rows, also of sparse matrices; raise an error for an object without rows."""
    try:
        return int(X.shape[0]) if hasattr(X, "shape") else len(X)
    except (IndexError, TypeError):
        raise refusal("X", X, "tables, matrices and lists, with a row per document") from None


def take_rows(X: Any, rows: Array) -> Any:
    """Return rows of an array, sparse matrix, list or table as the same type."""
    if _is_arrow(X):  # scikit-learn before 1.8 cannot index pyarrow tables
        return X.take(rows)
    if getattr(X, "format", "") in {"coo", "bsr", "dia"}:  # these sparse formats cannot be indexed by row
        X = X.tocsr()
    return _safe_indexing(X, rows)


def column_names(X: Any) -> list[Any]:
    """Return the names of a table's columns; empty if it has no names."""
    return list(X.column_names if _is_arrow(X) else getattr(X, "columns", ()))


def without_column(X: Any, name: str) -> Any:
    """Drop a column if it exists; leave an index level in place."""
    if name not in column_names(X):
        return X
    if _is_arrow(X):
        return X.drop_columns([name])
    return X.drop(columns=name) if hasattr(X, "iloc") else X.drop(name)


def refuse_ids_among_features(X: Any, ids: Array, n_queries: int) -> None:
    """Raise an error if the features contain the query ids: a column that is named `qid` or equals the ids.

    Values are compared only if there are at least two queries and one has more than one row. If every query has a
    single row, the ids are a row index, from which a model learns nothing about other rows.
    """
    names = column_names(X)
    if "qid" in names:
        raise _ids_inside("'qid'")
    X = np.asarray(X) if isinstance(X, list) else X
    comparable = isinstance(ids[0], (int, str, np.generic)) and 1 < n_queries < ids.size
    if not comparable or not hasattr(X, "shape") or len(X.shape) != 2:  # noqa: PLR2004 - a table
        return
    ends = _plain(take_rows(X, np.asarray([0, ids.size - 1])))
    for index in range(ends.shape[1]):
        if _same_values(ends[:, index], ids[[0, -1]]) and _equals(X, index, ids):
            raise _ids_inside(repr(names[index]) if names else str(index))


def _ids_inside(column: str) -> InputError:
    return InputError(
        f"column {column} of X holds the query ids, from which a model would memorize the training queries.\n"
        "Hint: QueryRanker(estimator, qid='its name') removes it; or drop it and pass fit(qid=). If it is a real "
        "feature, rename it if its name is 'qid', and pass different ids: fit(qid=[f'q{name}' for name in qid])."
    )


def _equals(X: Any, index: int, ids: Array) -> bool:
    names = column_names(X)
    if names:
        column = np.asarray(X.iloc[:, index] if hasattr(X, "iloc") else X[names[index]])
    else:
        column = _plain((X.tocsr() if hasattr(X, "tocsr") else X)[:, [index]])[:, 0]
    return _same_values(column, ids)


def _same_values(column: Array, ids: Array) -> bool:
    if column.dtype.kind == "f" and ids.dtype.kind in "iu":
        ids = ids.astype(column.dtype)  # round the ids as a float32 column rounds them
    return bool(np.array_equal(column, ids))


def _plain(X: Any) -> Array:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def _is_arrow(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "pyarrow"
