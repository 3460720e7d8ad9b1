"""Rows of any library's table, never converted, with query ids, labels and weights, in the order of a ranker."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import _safe_indexing

from rankadapters.core.arrays import Array
from rankadapters.core.classes import lazy_property
from rankadapters.core.data.columns import as_column, as_numbers, pandas_index, refuse_non_finite, shared_index
from rankadapters.core.data.ids import id_values
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.errors import InputError, warn_caller


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """Features and labels of the caller, or these reordered; if `sizes` is set, each query's rows are consecutive."""

    X: Any  # a table of the caller's type, shape (n_docs, n_features)
    y: Any  # shape (n_docs,)
    row_weight: Any = None  # shape (n_docs,); if `sizes` is set, constant within a query
    sizes: Array | None = None  # rows per query, shape (n_queries,); None if the estimator needs no queries
    source: Array | None = None  # the caller's row of each row, shape (n_docs,); None if these are the caller's rows
    n_source: int = 0  # how many rows the caller passed, if `sizes` is set

    @classmethod
    def divided(
        cls, X: Any, queries: Queries, y: Any, sample_weight: Any, fraction: float | None = None
    ) -> list[LabeledRows]:
        """Sort rows by query, in order of first appearance; with a fraction, hold out that share of the queries.

        Returns the training rows, followed by the held-out rows if there is a fraction.
        """
        weights = None if sample_weight is None else one_per_query(sample_weight, queries)
        sizes, labels = np.diff(queries.indptr), as_column("y", y, numeric=True)
        if fraction is None:
            masks = [np.ones(queries.n_queries, np.bool_)]
        else:
            mask = held_out(queries, fraction)
            masks = [~mask, mask]
        parts = []
        for mask in masks:
            features, part_labels, source = X, labels, None
            if fraction is not None or queries.order is not None:
                source = queries.rows[np.repeat(mask, sizes)]
                features, part_labels = take_rows(X, source), labels[source]
            weight = None if weights is None else np.repeat(weights[mask], sizes[mask])
            parts.append(cls(features, part_labels, weight, sizes[mask], source, queries.n_docs))
        return parts

    @property
    def is_part(self) -> bool:
        """Whether these are only some of the caller's rows, because others are held out."""
        return self.source is not None and self.source.size < self.n_source

    def take(self, name: str, column: Any) -> Any:
        """Return the entries for these rows of a column with an entry for each of the caller's rows, in their order."""
        if n_entries(column) != self.n_source:
            msg = f"{name} has {n_entries(column)} entries but there are {self.n_source} rows."
            raise InputError(msg, hint="one per row, in the order of X")
        return column if self.source is None else take_rows(column, self.source)

    @lazy_property
    def codes(self) -> NDArray[np.int32]:
        """The query number 0, 1, 2, ... of each row; XGBoost would take the caller's ids modulo 2^32."""
        sizes = np.asarray(self.sizes)
        return np.repeat(np.arange(sizes.size, dtype=np.int32), sizes)

    @property
    def query_weight(self) -> Array | None:
        """The weight of each query."""
        if self.row_weight is None:
            return None
        sizes = np.asarray(self.sizes)
        weights: Array = self.row_weight[np.cumsum(sizes) - sizes]
        return weights

    def with_features(self, X: Any) -> LabeledRows:
        """Return these rows with transformed features."""
        if n_rows(X) != n_rows(self.X):
            msg = f"a step of the pipeline made {n_rows(X)} rows of {n_rows(self.X)}, so their queries are unknown."
            raise InputError(msg, hint="sample rows before QueryRanker, together with their qid")
        return replace(self, X=X)


def ids_of(X: Any, qid: Any, name: str | None) -> Any:
    """Return the query ids: `qid`, or the column or index level `name` of X; None if neither is set."""
    if name is None:
        return qid
    if qid is not None:
        msg = f"the ids were given twice: by qid= and by QueryRanker(qid={name!r})."
        raise InputError(msg, hint="leave qid= out, or QueryRanker(qid=None) and drop the column")
    ids = named_ids(name, X)
    if ids is None:
        msg = f"X has no column or index level {name!r}, where QueryRanker(qid={name!r}) reads the ids."
        raise InputError(msg, hint="a table with it, or QueryRanker(qid=None) and fit(X, y, qid=ids)")
    return ids


def named_ids(name: str, *tables: Any) -> Any:
    """Return the column or index level of this name in the first table that has one; None if none has."""
    for table in tables:
        if name in column_names(table):
            return table[name]
        index = getattr(table, "index", None)
        if name in getattr(index, "names", ()):
            return np.asarray(index.get_level_values(name))  # type: ignore[union-attr]
    return None


def whole_queries(features: Any, y: Any, qid: Any, whole: Any) -> Queries:
    """Return labels and query ids as Queries, checked against the features and `whole`, the complete data's ids."""
    queries = queries_of(y, qid)
    if n_rows(features) != queries.n_docs:
        msg = f"X has {n_rows(features)} rows but y has {queries.n_docs}."
        raise InputError(msg, hint="one label and one qid per row of X")
    refuse_ids_among_features(features, as_column("qid", qid), queries.n_queries)
    if whole is not None:
        warn_of_cuts(queries, whole_sizes(whole))
    return queries


def held_out(queries: Queries, fraction: float) -> NDArray[np.bool_]:
    """Return a mask of the queries to hold out: those with the smallest hashes of ids, at least one and not all."""
    if queries.n_queries == 1:
        msg = "validation_fraction needs two queries or more, but there is one."
        raise InputError(msg, hint="fit(eval_set=[(X, y, qid)])")
    n_held_out = min(max(round(fraction * queries.n_queries), 1), queries.n_queries - 1)
    mask = np.zeros(queries.n_queries, np.bool_)
    mask[np.argsort(queries.id_hashes, kind="stable")[:n_held_out]] = True
    return mask


def n_entries(value: Any) -> int | None:
    """Return the number of entries of an array, table, column or list; None for anything else."""
    if hasattr(value, "shape"):
        return int(value.shape[0]) if value.shape else None
    return len(value) if isinstance(value, (list, tuple)) or _is_arrow(value) else None


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


def without_column(X: Any, name: str | None) -> Any:
    """Drop a column if it exists; leave an index level in place."""
    if name is None or name not in column_names(X):
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
        f"column {column} of X holds the query ids, from which a model would memorize the training queries.",
        hint="QueryRanker(estimator, qid='its name') removes it; or drop it and pass fit(qid=). If it is a real "
        "feature, rename it if its name is 'qid', and pass different ids: fit(qid=[f'q{name}' for name in qid])",
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


class CutQueriesWarning(UserWarning):
    """Some rows of a query are missing, so the value is not comparable with one over whole queries."""


def queries_of(labels: Any, qid: Any) -> Queries:
    """Return labels and query ids as Queries; raise an error if ids are floats."""
    queries = Queries(labels, qid=qid)
    ids = queries.query_ids
    floats = [i for i in ids if isinstance(i, (float, np.floating))] if ids.dtype.kind in "fO" else []
    if floats:
        msg = f"qid has floats such as {floats[0]}, which rounding or a cast may merge or split."
        raise InputError(msg, hint="qid.astype('int64') if all are whole numbers, or qid.astype(str)")
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
    ids = named_ids(name, X, y)
    if ids is not None:
        return ids
    is_bare = isinstance(X, np.ndarray) or hasattr(X, "tocsr")  # has neither column names nor an index
    if is_bare and whole is not None and X.shape[0] == len(whole):
        return whole
    by_whole = ""
    if is_bare and whole is None:
        by_whole = "; or, outside of cross-validation, query_scorer(convention, whole=ids) with an id for each row of X"
    elif is_bare:
        by_whole = f". whole= has {len(whole)} ids, but X has {X.shape[0]} rows, as in a fold"
    state = "off, so scorers get no metadata"
    if get_config()["enable_metadata_routing"]:
        state = "on, but nothing was passed by that name"
    raise InputError(
        f"the scorer got no {name!r}, so it cannot tell the queries apart (metadata routing is {state}).",
        hint=f"sklearn.set_config(enable_metadata_routing=True) and fit(X, y, {name}=...) or params={{{name!r}: "
        f"...}}; or a column or index level named {name!r} in X or y{by_whole}",
    )


def whole_sizes(qid: Any) -> dict[Any, int]:
    """Return the number of rows of each query in `qid`, the ids of the complete data.

    >>> whole_sizes(["b", "a", "b"])
    {'b': 2, 'a': 1}
    """
    return _sizes_by_id(queries_of(np.zeros(as_column("whole", qid).size), qid))


def _sizes_by_id(queries: Queries) -> dict[Any, int]:
    return dict(zip(id_values(queries.query_ids), np.diff(queries.indptr).tolist(), strict=True))


def warn_of_cuts(queries: Queries, whole: dict[Any, int]) -> None:
    """Warn if a query's number of rows differs from `whole`; a query that is not in `whole` is not checked."""
    cut = [(query, rows) for query, rows in _sizes_by_id(queries).items() if whole.get(query, rows) != rows]
    if cut:
        query, rows = cut[0]
        warn_caller(
            f"{len(cut)} of {queries.n_queries} queries are not whole: query {query!r} has {rows} rows here instead of "
            f"{whole[query]}, so the result is not over whole queries.",
            CutQueriesWarning,
            hint="cv=QueryKFold(...); avoid tools that split by rows, such as KFold, train_test_split, "
            "learning_curve, or halving with resource='n_samples'",
        )


def one_per_query(sample_weight: Any, queries: Queries) -> Array:
    """Return the weight of each query, from row weights that are constant within a query."""
    row_weights = as_numbers("sample_weight", sample_weight)
    if row_weights.size != queries.n_docs:
        msg = f"sample_weight has {row_weights.size} entries but there are {queries.n_docs} rows."
        raise InputError(msg, hint="one per row")
    refuse_non_finite("sample_weight", row_weights)
    hint = (
        "give every row of a query the query's weight; bagging, which draws rows as weights, goes inside: "
        "QueryRanker(BaggingRegressor(...))"
    )
    return queries.weights_per_query("sample_weight", row_weights, hint=hint)
