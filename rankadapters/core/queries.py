"""Queries: which rows belong together, validated once, in the order of first appearance."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.columns import (
    Array,
    as_column,
    as_flags,
    as_numbers,
    frozen,
    pandas_index,
    refuse_non_finite,
    same_index,
    same_length,
)
from rankadapters.core.docids import rank_docids
from rankadapters.core.errors import InputError, choices
from rankadapters.core.grouping import grouped

_COLUMNS = ("qid", "docid", "retrieved", "judged")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Queries:
    """Judged queries: labels, which rows form a query, and what else is known of them.

    Parameters
    ----------
    labels : array-like, shape (n_docs,)
        Relevance labels, finite numbers. Not read where `judged` is False.
    qid : array-like, shape (n_docs,), optional
        Query of each row: integers, strings or any hashables. Rows of one query need not be contiguous.
    group_sizes : array-like of int, shape (n_queries,), optional
        Rows per query, in order, each at least 1. Exactly one of `qid` and `group_sizes` is needed.
    query_weight : array-like, shape (n_queries,), optional
        Weight of each query in the order of first appearance, >= 0; some scored query needs one above 0.
    docid : array-like of str, shape (n_docs,), optional
        Document identifiers, unique within a query; needed by `ties="docid-*"`.
    retrieved : array-like of bool, shape (n_docs,), optional
        Rows that the ranking holds; the others (judged but not retrieved) count in the ideal list only.
    judged : array-like of bool, shape (n_docs,), optional
        Rows that have a label; what the others count is the convention's `unjudged`.

    Attributes
    ----------
    query_ids : array, shape (n_queries,)
        Query identifiers in order of first appearance (0, 1, ... under `group_sizes`).
    indptr : int64 array, shape (n_queries + 1,)
        Query i is rows `indptr[i]:indptr[i + 1]` of the row order.
    order : int array, shape (n_docs,), or None
        Row order that makes the queries contiguous; None when they already are.

    Raises
    ------
    InputError
        A column has another length, a NaN, the wrong type, or contradicts another.

    Examples
    --------
    >>> queries = Queries([1, 0, 2], qid=["b", "a", "b"])
    >>> queries.query_ids.tolist(), queries.indptr.tolist(), queries.order.tolist()
    (['b', 'a'], [0, 2, 3], [0, 2, 1])
    """

    labels: NDArray[np.float64]
    query_ids: Array
    indptr: NDArray[np.int64]
    order: NDArray[np.signedinteger[Any]] | None
    query_weight: NDArray[np.float64] | None
    docid_rank: Array | None
    retrieved: NDArray[np.bool_] | None
    judged: NDArray[np.bool_] | None
    index: Any

    def __init__(
        self,
        labels: object,
        *,
        qid: object = None,
        group_sizes: object = None,
        query_weight: object = None,
        docid: object = None,
        retrieved: object = None,
        judged: object = None,
    ) -> None:
        values = as_numbers("labels", labels)
        columns = dict(zip(_COLUMNS, (qid, docid, retrieved, judged), strict=True))
        index = pandas_index(labels)
        for name, column in columns.items():
            same_index(name, pandas_index(column), index)
            index = pandas_index(column) if index is None else index
        fields: dict[str, Any] = {
            "index": index,
            "retrieved": as_flags("retrieved", retrieved, values.size),
            "judged": as_flags("judged", judged, values.size),
        }
        refuse_non_finite("labels", values, fields["judged"])
        fields["labels"] = frozen(values.astype(np.float64, copy=False))
        fields.update(grouped(qid, group_sizes, values.size))
        n_queries = fields["indptr"].size - 1
        fields["query_weight"] = _as_weights(query_weight, n_queries, values.size)
        _refuse_other_order(pandas_index(query_weight), fields["query_ids"])
        fields["docid_rank"] = None if docid is None else _as_docids(docid, fields["indptr"], fields["order"])
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        self._refuse_idle_rows()

    def __repr__(self) -> str:
        """Show the size, not the data."""
        return f"Queries({self.n_queries} queries, {self.n_docs} rows)"

    @property
    def n_docs(self) -> int:
        """Number of rows."""
        return int(self.labels.size)

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return int(self.indptr.size - 1)

    @cached_property
    def id_hashes(self) -> NDArray[np.uint64]:
        """One hash per query id, shape (n_queries,)."""
        from rankadapters.core.fingerprint import hash_ids  # brings numba, which stays lazy

        return hash_ids(self.query_ids)

    @cached_property
    def fingerprints(self) -> NDArray[np.uint64]:
        """One hash per query of its id, weight and judgments, whatever the order of its rows; shape (n_queries,)."""
        from rankadapters.core.fingerprint import hash_queries  # as above

        return hash_queries(
            self.id_hashes,
            self.labels,
            self.order,
            self.indptr,
            query_weight=self.query_weight,
            judged=self.judged,
            retrieved=self.retrieved,
        )

    @cached_property
    def digest(self) -> int:
        """Sum of the fingerprints: equal for the same queries in any order."""
        return int(self.fingerprints.sum(dtype=np.uint64))

    def with_docid_ranks(self, ranks: NDArray[Any]) -> Queries:
        """Return these queries with an order of documents that is known: one rank per row, unique within its query."""
        other = copy.copy(self)
        object.__setattr__(other, "docid_rank", frozen(ranks))
        return other

    def check_scores(self, scores: object) -> Array:
        """Return the scores as a float32 or float64 array of one score per row; finiteness is the kernel's to check."""
        array = as_numbers("scores", scores)
        if array.size != self.n_docs:
            msg = (
                f"scores has {array.size} rows but the queries cover {self.n_docs}.\n"
                "Hint: pass the scores of the rows that the labels were given for, in that order."
            )
            raise InputError(msg)
        same_index("scores", pandas_index(scores), self.index)
        return array

    def inert(self, a: Any, b: Any, scores: object) -> tuple[str, ...]:
        """Name the fields in which two conventions differ that cannot matter on this data.

        Where there are no ties, `ties` cannot; where no query is empty, neither can `empty`; and so on, judged by
        evaluation: the fields named can be switched from either convention to the other's values without changing
        any query's value or its part in the mean. When they are all that differ, the conventions give one number.

        Parameters
        ----------
        a, b : Convention
            Each must have a value on this data; what is no convention is a ConventionError.
        scores : array-like, shape (n_docs,)
            Predicted scores, higher is better.

        Returns
        -------
        tuple of str
            Some of `a.diff(b)`, in the order of the signature.

        Raises
        ------
        InputError
            A convention has no value on this data.

        Examples
        --------
        >>> from rankadapters import presets
        >>> queries = Queries([1, 0, 0, 2], group_sizes=[2, 2])
        >>> a, b = presets.sklearn(10), presets.catboost(10)
        >>> queries.inert(a, b, [0.1, 0.2, 0.3, 0.4])
        ('ties', 'empty')
        >>> queries.inert(a, b, [0.1, 0.1, 0.3, 0.4])
        ('empty',)
        """
        from rankadapters.core.inert import inert_fields  # far above: see the contract's exception in pyproject.toml

        return inert_fields(self, a, b, scores)

    def _refuse_idle_rows(self) -> None:
        if self.retrieved is None or self.judged is None:
            return
        idle = np.flatnonzero(~self.retrieved & ~self.judged)
        if idle.size:
            msg = f"row {idle[0]} is neither retrieved nor judged, so it says nothing.\nHint: drop such rows."
            raise InputError(msg)


def as_queries(labels: object, **columns: object) -> Queries:
    """Take labels and columns, or a Queries in their place and then no columns."""
    unknown = set(columns) - {*_COLUMNS, "group_sizes", "query_weight"}
    if unknown:
        msg = f"{min(unknown)!r} is no column; allowed are {choices((*_COLUMNS, 'group_sizes', 'query_weight'))}."
        raise InputError(msg)
    if not isinstance(labels, Queries):
        return Queries(labels, **columns)
    given = [name for name, column in columns.items() if column is not None]
    if given:
        msg = f"{given[0]} was given beside a Queries, which already holds it.\nHint: drop {given[0]}=, or pass labels."
        raise InputError(msg)
    return labels


def _as_weights(query_weight: object, n_queries: int, n_docs: int) -> NDArray[np.float64] | None:
    if query_weight is None:
        return None
    weights = as_numbers("query_weight", query_weight).astype(np.float64, copy=False)
    if weights.size != n_queries:
        per_row = " (one per row)" if weights.size == n_docs else ""
        msg = (
            f"query_weight has {weights.size} entries{per_row} but there are {n_queries} queries.\n"
            "Hint: one weight per query, in order of first appearance."
        )
        raise InputError(msg)
    refuse_non_finite("query_weight", weights)
    if weights.min() < 0:
        query = int(np.argmin(weights))
        msg = f"query_weight[{query}] is {weights[query]}, but weights are >= 0.\nHint: mend or drop the query."
        raise InputError(msg)
    return frozen(weights)


def _refuse_other_order(index: Any, query_ids: Array) -> None:
    """Refuse weights that pandas grouped and sorted by query id: ours stand in the order of first appearance."""
    if index is None or list(index) == query_ids.tolist() or set(index) != set(query_ids.tolist()):
        return
    msg = (
        "query_weight is indexed by query id, in another order than the queries first appear in.\n"
        "Hint: query_weight.loc[ra.Queries(labels, qid=qid).query_ids], or .to_numpy() where the order is right."
    )
    raise InputError(msg)


def _as_docids(docid: object, indptr: NDArray[np.int64], order: NDArray[np.signedinteger[Any]] | None) -> Array:
    ids = as_column("docid", docid)
    same_length("docid", ids, int(indptr[-1]))
    if ids.dtype.kind != "U":
        for row, item in enumerate(ids):
            if not isinstance(item, str):
                msg = f"docid[{row}] is {item!r}, but docids are strings.\nHint: docid=[str(d) for d in docid]."
                raise InputError(msg)
    query = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    text = ids.astype(str, copy=False)
    ranks, twice = rank_docids(text if order is None else text[order], query)
    if twice >= 0:
        row = twice if order is None else int(order[twice])
        msg = f"docid[{row}] = {str(ids[row])!r} stands twice in its query.\nHint: drop duplicate documents first."
        raise InputError(msg)
    if order is not None:
        ranks[order] = ranks.copy()
    return frozen(ranks)
