"""Which rows form a query: ids found in a table, whole or cut, and weights per row brought to one per query."""

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
    """A number is over parts of queries, so it does not mean what the same number over whole queries does."""


def queries_of(labels: Any, qid: Any) -> Queries:
    """Read labels and query ids as the core does, and refuse ids that are floats."""
    queries = Queries(labels, qid=qid)
    ids = queries.query_ids
    floats = [i for i in ids if isinstance(i, (float, np.floating))] if ids.dtype.kind in "fO" else []
    if floats:
        msg = (
            f"qid holds floats such as {floats[0]}, which rounding or a cast may merge or tell apart.\n"
            "Hint: qid.astype('int64') where all are whole, or qid.astype(str)."
        )
        raise InputError(msg)
    return queries


def refuse_other_rows(ids: str | None, **columns: Any) -> None:
    """Refuse pandas tables and columns whose indexes differ; one with a level `ids` says which query, not which row."""
    holding = {
        name: ids is not None and ids in getattr(pandas_index(each), "names", ()) for name, each in columns.items()
    }
    for kind in (False, True):
        shared_index({name: column for name, column in columns.items() if holding[name] is kind})


def find_qid(name: str, X: Any, y: Any, *, whole: Any = None) -> Any:
    """Find query ids in a column of X, an index level of X or y, or in `whole`, where X has bare rows, as many."""
    # A pyarrow table's `columns` are its data, while in a pandas table `column_names` may be a column.
    columns = X.column_names if hasattr(type(X), "column_names") else getattr(X, "columns", ())
    if name in list(columns):
        return X[name]
    for table in (X, y):
        index = getattr(table, "index", None)
        if name in list(getattr(index, "names", ())):
            return np.asarray(index.get_level_values(name))  # type: ignore[union-attr]
    if _is_bare(X) and whole is not None and X.shape[0] == len(whole):
        return whole
    state = "off, so that no metadata reaches a scorer"
    if get_config()["enable_metadata_routing"]:
        state = "on, but nothing was passed under that name"
    msg = (
        f"the scorer got no {name!r}, so it cannot tell the queries apart (metadata routing is {state}).\n"
        f"Hint: sklearn.set_config(enable_metadata_routing=True) and fit(X, y, {name}=...) or "
        f"params={{{name!r}: ...}}; or a column or index level named {name!r} in X or y{_in_bare_rows(X, whole)}."
    )
    raise InputError(msg)


def _is_bare(X: Any) -> bool:
    """Tell rows without names or index: an array, or a sparse matrix."""
    return isinstance(X, np.ndarray) or hasattr(X, "tocsr")


def _in_bare_rows(X: Any, whole: Any) -> str:
    """Say how a callback of scikit-learn, which passes a bare array alone, can be scored."""
    if not _is_bare(X):
        return ""
    if whole is None:
        return (
            "; in scikit-learn's ScoringMonitor, query_scorer(whole=qid) with the query of each training row, or a "
            "monitor on QueryRanker(estimator)"
        )
    return f"; whole= has {len(whole)} rows and X {X.shape[0]}, so that it does not say the query of each row"


def whole_sizes(qid: Any) -> dict[Any, int]:
    """Count the rows of every query, before anything has been cut.

    >>> whole_sizes(["b", "a", "b"])
    {'b': 2, 'a': 1}
    """
    queries = queries_of(np.zeros(as_column("whole", qid).size), qid)
    return dict(zip(id_values(queries.query_ids), np.diff(queries.indptr).tolist(), strict=True))


def warn_of_cuts(queries: Queries, whole: dict[Any, int]) -> None:
    """Warn where a query has another number of rows than it should; one that `whole` does not know cannot be told."""
    sizes = zip(id_values(queries.query_ids), np.diff(queries.indptr).tolist(), strict=True)
    cut = [(query, rows) for query, rows in sizes if whole.get(query, rows) != rows]
    if cut:
        query, rows = cut[0]
        msg = (
            f"{len(cut)} of {queries.n_queries} queries are not whole: query {query!r} has {rows} rows here instead of "
            f"{whole[query]}, so what is computed here is not of whole queries.\n"
            "Hint: cv=QueryKFold(...), and no tool that takes rows one by one, such as KFold, train_test_split, "
            "learning_curve, or halving with resource='n_samples'."
        )
        warn_caller(msg, CutQueriesWarning)


def one_per_query(sample_weight: Any, queries: Queries) -> Array:
    """Reduce weights per row, constant within a query, to one per query."""
    row_weights = as_numbers("sample_weight", sample_weight)
    if row_weights.size != queries.n_docs:
        msg = f"sample_weight has {row_weights.size} entries but there are {queries.n_docs} rows.\nHint: one per row."
        raise InputError(msg)
    refuse_non_finite("sample_weight", row_weights)
    first, varies = queries.per_query(row_weights)
    if varies >= 0:
        what = f"sample_weight varies within query {queries.query_ids[varies]}"
        msg = f"{what}.\nHint: give every row of a query the query's weight."
        raise InputError(msg)
    return first
