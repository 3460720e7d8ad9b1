"""Rows of any library's table with labels, weights and query sizes, in the order that a ranker needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import as_column
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.sklearn.qid import find_qid, one_per_query, queries_of, warn_of_cuts, whole_sizes
from rankadapters.sklearn.tables import n_rows, refuse_ids_among_features, take_rows

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """Features and labels; if `sizes` is set, the rows of each query are consecutive.

    Attributes
    ----------
    X : table, shape (n_docs, n_features)
        The caller's table, or its rows reordered in a table of the same type.
    y : array-like, shape (n_docs,)
        The caller's labels, or these reordered.
    row_weight : float array, shape (n_docs,), or None
        Weight of each row; if `sizes` is set, constant within a query.
    sizes : int array, shape (n_queries,), or None
        Rows per query; None if the estimator needs no queries.
    row_numbers : int array, or None
        Numbers of these rows in the caller's table, ascending; None if no query is held out.
    """

    X: Any
    y: Any
    row_weight: Any = None
    sizes: Array | None = None
    row_numbers: Array | None = None

    @classmethod
    def divided(
        cls, X: Any, queries: Queries, y: Any, sample_weight: Any, fraction: float | None = None
    ) -> list[LabeledRows]:
        """Sort rows by query, in order of first appearance; with a fraction, hold out that share of the queries.

        Returns the training rows, followed by the held-out rows if there is a fraction.
        """
        weights = None if sample_weight is None else one_per_query(sample_weight, queries)
        sizes, labels = np.diff(queries.indptr), as_column("y", y)
        is_held_out = None if fraction is None else held_out(queries, fraction)
        parts = []
        for mask in [None] if is_held_out is None else [~is_held_out, is_held_out]:
            selected: Any = slice(None) if mask is None else mask
            features, part_labels, row_numbers = X, labels, None
            if mask is not None or not queries.are_together:
                order = queries.rows if mask is None else queries.rows[np.repeat(mask, sizes)]
                features, part_labels = take_rows(X, order), labels[order]
                row_numbers = None if mask is None else np.sort(order)
            weight = None if weights is None else np.repeat(weights[selected], sizes[selected])
            parts.append(cls(features, part_labels, weight, sizes[selected], row_numbers))
        return parts

    @cached_property
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
            msg = (
                f"a step of the pipeline made {n_rows(X)} rows of {n_rows(self.X)}, so their queries are unknown.\n"
                "Hint: sample rows before QueryRanker, together with their qid."
            )
            raise InputError(msg)
        return replace(self, X=X)


def ids_of(X: Any, qid: Any, name: str | None) -> Any:
    """Return the query ids: `qid`, or the column or index level `name` of X; None if neither is set."""
    if name is None:
        return qid
    if qid is not None:
        msg = (
            f"the ids were given twice: by qid= and by QueryRanker(qid={name!r}).\n"
            "Hint: leave qid= out, or QueryRanker(qid=None) and drop the column."
        )
        raise InputError(msg)
    try:
        return find_qid(name, X, None)
    except InputError:
        msg = (
            f"X has no column or index level {name!r}, where QueryRanker(qid={name!r}) reads the ids.\n"
            "Hint: a table with it, or QueryRanker(qid=None) and fit(X, y, qid=ids)."
        )
        raise InputError(msg) from None


def whole_queries(features: Any, y: Any, qid: Any, whole: Any) -> Queries:
    """Return labels and query ids as Queries, checked against the features and `whole`, the complete data's ids."""
    queries = queries_of(y, qid)
    if n_rows(features) != queries.n_docs:
        msg = f"X has {n_rows(features)} rows but y has {queries.n_docs}.\nHint: one label and one qid per row of X."
        raise InputError(msg)
    refuse_ids_among_features(features, as_column("qid", qid), queries.n_queries)
    if whole is not None:
        warn_of_cuts(queries, whole_sizes(whole))
    return queries


def held_out(queries: Queries, fraction: float) -> NDArray[np.bool_]:
    """Return a mask of the queries to hold out: those with the smallest hashes of ids, at least one and not all."""
    if queries.n_queries == 1:
        msg = "validation_fraction needs two queries or more, but there is one.\nHint: fit(eval_set=[(X, y, qid)])."
        raise InputError(msg)
    n_held_out = min(max(round(fraction * queries.n_queries), 1), queries.n_queries - 1)
    mask = np.zeros(queries.n_queries, np.bool_)
    mask[np.argsort(queries.id_hashes, kind="stable")[:n_held_out]] = True
    return mask
