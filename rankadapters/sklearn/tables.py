"""Tables of any library: their rows and columns picked without converting them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from rankadapters.core.errors import InputError

Array = NDArray[Any]


def n_rows(X: Any) -> int:
    """Count rows, of sparse matrices too."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Any, rows: Array) -> Any:
    """Pick rows of an array, a sparse matrix, a list or a table, which stays what it is."""
    if _is_arrow(X):  # scikit-learn knows its rows from 1.8 on
        return X.take(rows)
    if getattr(X, "format", "") in {"coo", "bsr", "dia"}:  # sparse matrices without rows to pick
        X = X.tocsr()
    return _safe_indexing(X, rows)


def column_names(X: Any) -> list[Any]:
    """Names of a table's columns; none where there are no names."""
    return list(X.column_names if _is_arrow(X) else getattr(X, "columns", ()))


def without_column(X: Any, name: str) -> Any:
    """Drop a column where it is there; an index level stays."""
    if name not in column_names(X):
        return X
    if _is_arrow(X):
        return X.drop_columns([name])
    return X.drop(columns=name) if hasattr(X, "iloc") else X.drop(name)


def refuse_ids_among_features(X: Any, ids: Array, n_queries: int) -> None:
    """Refuse features that still hold the query ids, by the name `qid` or because a column has their values.

    A column of the ids' values counts where there are at least two queries, and one of them has several rows: ids of
    single rows are an index, which tells a model nothing of other rows.
    """
    names = column_names(X)
    if "qid" in names:
        raise _ids_inside("'qid'")
    X = np.asarray(X) if isinstance(X, list) else X
    telling = isinstance(ids[0], (int, str, np.generic)) and 1 < n_queries < ids.size
    if not telling or not hasattr(X, "shape") or len(X.shape) != 2:  # noqa: PLR2004 - a table
        return
    ends = _plain(take_rows(X, np.asarray([0, ids.size - 1])))
    for place in range(ends.shape[1]):
        if _same_values(ends[:, place], ids[[0, -1]]) and _equals(X, place, ids):
            raise _ids_inside(repr(names[place]) if names else str(place))


def _ids_inside(column: str) -> InputError:
    return InputError(
        f"column {column} of X holds the query ids, from which a model would learn the training queries by heart.\n"
        "Hint: QueryRanker(estimator, qid='its name') takes it out; or drop it and pass fit(qid=). If it is a feature "
        "all the same, rename it where its name is 'qid', and pass other ids: fit(qid=[f'q{name}' for name in qid])."
    )


def _equals(X: Any, place: int, ids: Array) -> bool:
    names = column_names(X)
    if names:
        column = np.asarray(X.iloc[:, place] if hasattr(X, "iloc") else X[names[place]])
    else:
        column = _plain((X.tocsr() if hasattr(X, "tocsr") else X)[:, [place]])[:, 0]
    return _same_values(column, ids)


def _same_values(column: Array, ids: Array) -> bool:
    if column.dtype.kind == "f" and ids.dtype.kind in "iu":
        ids = ids.astype(column.dtype)  # as a float32 column would hold them
    return bool(np.array_equal(column, ids))


def _plain(X: Any) -> Array:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def _is_arrow(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "pyarrow"
