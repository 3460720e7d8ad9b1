"""Rows of a table of any library with what is known of them by query, in the order that a ranker wants."""

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
class LabelledRows:
    """Features and labels, with the rows of a query together wherever sizes are known.

    Attributes
    ----------
    X : table, shape (n_docs, n_features)
        As given, or reordered in its own type.
    y : array-like, shape (n_docs,)
        As given, or reordered.
    row_weight : float array, shape (n_docs,), or None
        Constant within a query where sizes are known.
    sizes : int array, shape (n_queries,), or None
        Rows per query; None where nobody needs to know.
    kept : int array, or None
        Rows of the table given that are not held out, ascending; None where none is held out.
    """

    X: Any
    y: Any
    row_weight: Any = None
    sizes: Array | None = None
    kept: Array | None = None

    @classmethod
    def divided(
        cls, X: Any, queries: Queries, y: Any, sample_weight: Any, fraction: float | None = None
    ) -> list[LabelledRows]:
        """Bring the rows of each query together, in order of first appearance; with a fraction, hold queries out.

        Returns the rows to train on, and then the rows that are held out, where there is a fraction.
        """
        weights = None if sample_weight is None else one_per_query(sample_weight, queries)
        sizes, labels = np.diff(queries.indptr), as_column("y", y)
        held = None if fraction is None else held_out(queries, fraction)
        parts = []
        for part in [None] if held is None else [~held, held]:
            picked: Any = slice(None) if part is None else part
            features, own, kept = X, labels, None
            if part is not None or not queries.are_together:
                order = queries.rows if part is None else queries.rows[np.repeat(part, sizes)]
                features, own = take_rows(X, order), labels[order]
                kept = None if part is None else np.sort(order)
            weight = None if weights is None else np.repeat(weights[picked], sizes[picked])
            parts.append(cls(features, own, weight, sizes[picked], kept))
        return parts

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """Queries numbered 0, 1, 2, ... per row, since XGBoost takes qid modulo 2^32."""
        sizes = np.asarray(self.sizes)
        return np.repeat(np.arange(sizes.size, dtype=np.int32), sizes)

    @property
    def query_weight(self) -> Array | None:
        """One weight per query."""
        if self.row_weight is None:
            return None
        sizes = np.asarray(self.sizes)
        weights: Array = self.row_weight[np.cumsum(sizes) - sizes]
        return weights

    def with_features(self, X: Any) -> LabelledRows:
        """Replace the features by what a transformer made of them."""
        if n_rows(X) != n_rows(self.X):
            msg = (
                f"a step of the pipeline made {n_rows(X)} rows of {n_rows(self.X)}, so they belong to no query.\n"
                "Hint: sample rows before QueryRanker, together with their qid."
            )
            raise InputError(msg)
        return replace(self, X=X)


def ids_of(X: Any, qid: Any, name: str | None) -> Any:
    """Find query ids: as given, or in the column or index level of X that was named; None where there are none."""
    if name is None:
        return qid
    if qid is not None:
        msg = (
            f"the ids were given twice: as qid= and by QueryRanker(qid={name!r}).\n"
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
    """Check labels and query ids against each other, the features, and the rows that there were before any cut."""
    queries = queries_of(y, qid)
    if n_rows(features) != queries.n_docs:
        msg = f"X has {n_rows(features)} rows but y has {queries.n_docs}.\nHint: one label and one qid per row of X."
        raise InputError(msg)
    refuse_ids_among_features(features, as_column("qid", qid), queries.n_queries)
    if whole is not None:
        warn_of_cuts(queries, whole_sizes(whole))
    return queries


def held_out(queries: Queries, fraction: float) -> NDArray[np.bool_]:
    """Choose the queries whose ids have the smallest hashes, one of them at least and not all."""
    if queries.n_queries == 1:
        msg = "validation_fraction needs two queries or more, but there is one.\nHint: fit(eval_set=[(X, y, qid)])."
        raise InputError(msg)
    wanted = min(max(round(fraction * queries.n_queries), 1), queries.n_queries - 1)
    held = np.zeros(queries.n_queries, np.bool_)
    held[np.argsort(queries.id_hashes, kind="stable")[:wanted]] = True
    return held
