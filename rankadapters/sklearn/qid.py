"""Query ids: find them in a table, check that queries are whole, and reduce row weights to query weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from rankadapters.core.data.columns import as_column, as_numbers, pandas_index, refuse_non_finite, shared_index
from rankadapters.core.data.ids import id_values
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError, warn_caller

Array = NDArray[Any]


class CutQueriesWarning(UserWarning):
    """Some rows of a query are missing, so the value is not comparable with one over whole queries."""


def queries_of(labels: Any, qid: Any) -> Queries:
    """Return labels and query ids as Queries; raise an error if ids are floats."""
    queries = Queries(labels, qid=qid)
    ids = queries.query_ids
    floats = [i for i in ids if isinstance(i, (float, np.floating))] if ids.dtype.kind in "fO" else []
    if floats:
        msg = (
            f"qid has floats such as {floats[0]}, which rounding or a cast may merge or split.\n"
            "Hint: qid.astype('int64') if all are whole numbers, or qid.astype(str)."
        )
        raise InputError(msg)
    return queries


def refuse_other_rows(ids: str | None, **columns: Any) -> None:
    """Raise an error if pandas indexes differ; compare those with a level named `ids` only with each other."""
    has_ids = {
        name: ids is not None and ids in getattr(pandas_index(column), "names", ()) for name, column in columns.items()
    }
    for with_ids in (False, True):
        shared_index({name: column for name, column in columns.items() if has_ids[name] is with_ids})


def find_qid(name: str, X: Any, y: Any, *, whole: Any = None) -> Any:
    """Return the query ids: a column of X, an index level of X or y, or `whole` if X is an array with as many rows."""
    # pyarrow tables list their names in `column_names`; look at the type, since pandas may have such a column.
    columns = X.column_names if hasattr(type(X), "column_names") else getattr(X, "columns", ())
    if name in list(columns):
        return X[name]
    for table in (X, y):
        index = getattr(table, "index", None)
        if name in list(getattr(index, "names", ())):
            return np.asarray(index.get_level_values(name))  # type: ignore[union-attr]
    if _is_bare(X) and whole is not None and X.shape[0] == len(whole):
        return whole
    state = "off, so scorers get no metadata"
    if get_config()["enable_metadata_routing"]:
        state = "on, but nothing was passed by that name"
    msg = (
        f"the scorer got no {name!r}, so it cannot tell the queries apart (metadata routing is {state}).\n"
        f"Hint: sklearn.set_config(enable_metadata_routing=True) and fit(X, y, {name}=...) or "
        f"params={{{name!r}: ...}}; or a column or index level named {name!r} in X or y{_bare_rows_hint(X, whole)}."
    )
    raise InputError(msg)


def _is_bare(X: Any) -> bool:
    """Return whether X has neither column names nor an index: an array or a sparse matrix."""
    return isinstance(X, np.ndarray) or hasattr(X, "tocsr")


def _bare_rows_hint(X: Any, whole: Any) -> str:
    """Return a hint for scikit-learn's callbacks, which pass scorers an array without query ids."""
    if not _is_bare(X):
        return ""
    if whole is None:
        return (
            "; in scikit-learn's ScoringMonitor, query_scorer(whole=qid) with the query of each training row, or a "
            "monitor on QueryRanker(estimator)"
        )
    return f"; whole= has {len(whole)} rows but X has {X.shape[0]}, so it does not give the query of each row"


def whole_sizes(qid: Any) -> dict[Any, int]:
    """Return the number of rows of each query in `qid`, the ids of the complete data.

    >>> whole_sizes(["b", "a", "b"])
    {'b': 2, 'a': 1}
    """
    queries = queries_of(np.zeros(as_column("whole", qid).size), qid)
    return dict(zip(id_values(queries.query_ids), np.diff(queries.indptr).tolist(), strict=True))


def warn_of_cuts(queries: Queries, whole: dict[Any, int]) -> None:
    """Warn if a query's number of rows differs from `whole`; a query that is not in `whole` is not checked."""
    sizes = zip(id_values(queries.query_ids), np.diff(queries.indptr).tolist(), strict=True)
    cut = [(query, rows) for query, rows in sizes if whole.get(query, rows) != rows]
    if cut:
        query, rows = cut[0]
        msg = (
            f"{len(cut)} of {queries.n_queries} queries are not whole: query {query!r} has {rows} rows here instead of "
            f"{whole[query]}, so the result is not over whole queries.\n"
            "Hint: cv=QueryKFold(...); avoid tools that split by rows, such as KFold, train_test_split, "
            "learning_curve, or halving with resource='n_samples'."
        )
        warn_caller(msg, CutQueriesWarning)


def one_per_query(sample_weight: Any, queries: Queries) -> Array:
    """Return the weight of each query, from row weights that are constant within a query."""
    row_weights = as_numbers("sample_weight", sample_weight)
    if row_weights.size != queries.n_docs:
        msg = f"sample_weight has {row_weights.size} entries but there are {queries.n_docs} rows.\nHint: one per row."
        raise InputError(msg)
    refuse_non_finite("sample_weight", row_weights)
    first, varies = queries.per_query(row_weights)
    if varies >= 0:
        hint = "give every row of a query the query's weight"
        raise InputError(f"sample_weight varies within query {queries.query_ids[varies]}.\nHint: {hint}.")
    return first
