"""Queries: labels, and the rows of each query, all checked once; queries are in the order of first appearance."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Never, Unpack

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Array, Flags, Floats, Ints
from rankadapters.core.classes import lazy_property
from rankadapters.core.data.columns import (
    ROWS,
    Columns,
    as_flags,
    as_numbers,
    as_weights,
    frozen,
    index_dtype,
    pandas_index,
    refuse_non_finite,
    refuse_other_names,
    same_index,
    same_length,
    shared_index,
)
from rankadapters.core.data.grades import Grades, as_grades, counts_of_grades
from rankadapters.core.data.grouping import grouped
from rankadapters.core.data.ids import hash_ids, hash_sums, mixed
from rankadapters.core.data.optional_columns import Pairs, as_docids, as_pairs, as_query_weights, pairs_of_queries
from rankadapters.core.docstrings import describes
from rankadapters.core.errors import InputError
from rankadapters.core.ranking.offsets import offsets, positions_within

UNJUDGED, UNRETRIEVED = np.uint64(0x7FF8_0000_0000_0001), np.uint64(0x5555_5555_5555_5555)  # in hashes of rows


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows, query by query.

    Attributes
    ----------
    order : int array or None
        Row numbers in the caller's arrays; None for 0, 1, 2, ...
    indptr : int64 array, shape (n_queries + 1,)
        The rows of query i are `order[indptr[i]:indptr[i + 1]]`.
    """

    order: NDArray[np.signedinteger[Any]] | None
    indptr: Ints

    @property
    def n_docs(self) -> int:
        """Number of rows."""
        return int(self.indptr[-1] - self.indptr[0])

    @lazy_property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.indptr.size - 1

    @lazy_property
    def sizes(self) -> Ints:
        """Number of rows of each query."""
        return self.indptr[1:] - self.indptr[:-1]

    @lazy_property
    def longest(self) -> int:
        """Number of rows of the longest query; 0 without queries."""
        return int(self.sizes.max(initial=0))

    def take(self, column: Array) -> Array:
        """Return the entries of a caller's column for these rows, in their order.

        >>> from rankadapters import Queries
        >>> Queries([1, 0, 2], qid=["b", "a", "b"]).take(np.array([5, 6, 7])).tolist()
        [5, 7, 6]
        """
        return column if self.order is None else column[self.order]

    def reordered(self, positions: NDArray[np.signedinteger[Any]]) -> Rows:
        """Return the rows in a new order of the rows within each query."""
        inner = positions.astype(index_dtype(positions.size), copy=False)
        return Rows(inner if self.order is None else self.order[inner], self.indptr)


def mirrored(rows: Rows) -> Ints:
    """Return indexes that reverse the order of rows within each query."""
    return np.repeat(rows.indptr[1:] + rows.indptr[:-1] - 1, rows.sizes) - np.arange(rows.indptr[-1])


def backwards(rows: Rows) -> Rows:
    """Return the rows with the order within each query reversed."""
    return rows.reordered(mirrored(rows))


def rows_of(queries: Queries, mask: Flags | None) -> Rows:
    """Return the rows of the queries for which the mask is True; all rows without a mask."""
    if mask is None:
        return queries
    order = np.arange(queries.n_docs, dtype=index_dtype(queries.n_docs)) if queries.order is None else queries.order
    inside = mask[order]
    return Rows(order[inside], offsets(inside)[queries.indptr])


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Queries(Rows):
    """Judged queries: labels, the rows of each query, and optional columns such as weights.

    Parameters
    ----------
    labels : array-like, shape (n_docs,)
        Relevance labels, finite numbers. They are ignored in rows where `judged` is False.
    qid : array-like, shape (n_docs,), optional
        Query of each row: integers, floats, bools, strings, bytes, dates, times (`datetime`, `numpy.datetime64` or
        `pandas.Timestamp`), or tuples of these. Rows of one query need not be contiguous. Ids compare by value: 7 and
        7.0 are the same query, as are equal times in any unit or zone. Ids of several types, such as 7 and "7", are an
        error.
    group_sizes : array-like of int, shape (n_queries,), optional
        Rows per query, in order, each at least 1. Exactly one of `qid` and `group_sizes` is needed.
    query_weight : array-like, shape (n_queries,), optional
        Weight of each query in the order of first appearance, >= 0; at least one scored query needs a weight above 0.
    row_weight : array-like, shape (n_docs,), optional
        Weight of each row, >= 0; for measures with `average="row"`.
    pairs : tuple of array-like, shape (n_pairs,), optional
        `(winner, loser)` or `(winner, loser, weight)`: numbers of two rows of one query, where the winner should rank
        above the loser, and weights >= 0; for measures with `pairs="given"`.
    docid : array-like of str, shape (n_docs,), optional
        Document identifiers, unique within a query; needed by `ties="docid-*"`.
    retrieved : array-like of bool, shape (n_docs,), optional
        Rows that the ranking contains; the remaining rows (judged but not retrieved) count in the ideal list only.
    judged : array-like of bool, shape (n_docs,), optional
        Rows that have a label; the convention's `unjudged` decides what the remaining rows count.

    Attributes
    ----------
    query_ids : array, shape (n_queries,)
        Query identifiers in order of first appearance (0, 1, ... under `group_sizes`).
    indptr : int64 array, shape (n_queries + 1,)
        Query i is rows `indptr[i]:indptr[i + 1]` of the row order.
    order : int array, shape (n_docs,), or None
        Row order that makes the queries contiguous; None when they already are.
    docid_rank : int array, shape (n_docs,), or None
        Ranks of the documents of a query by the bytes of their identifiers.
    own_docid : bool array, shape (n_docs,), or None
        Rows whose docid is the id of their query; None where no row has such a docid.
    no_results : bool array, shape (n_docs,), or None
        Rows of queries with an empty list of results, which a convention with `missing="skip"` counts 0; None if no
        query is known to have one.
    index : pandas.Index or None
        Index of the columns that came from pandas; scores from pandas must have the same index.

    Raises
    ------
    InputError
        A column has the wrong length or type, has a NaN, or contradicts a second column.

    Examples
    --------
    >>> queries = Queries([1, 0, 2], qid=["b", "a", "b"])
    >>> queries.query_ids.tolist(), queries.indptr.tolist(), queries.order.tolist()
    (['b', 'a'], [0, 2, 3], [0, 2, 1])
    """

    query_ids: Array
    labels: Floats
    query_weight: Floats | None
    row_weight: Floats | None
    pairs: Pairs | None
    docid_rank: Array | None
    own_docid: Flags | None
    retrieved: Flags | None
    judged: Flags | None
    index: Any
    no_results: Flags | None = None

    def __init__(
        self,
        labels: object,
        *,
        qid: object = None,
        group_sizes: object = None,
        query_weight: object = None,
        row_weight: object = None,
        pairs: object = None,
        docid: object = None,
        retrieved: object = None,
        judged: object = None,
        **other: Never,
    ) -> None:
        if other:
            refuse_other_names(other)
        values = as_numbers("labels", labels)
        n_docs = values.size
        columns = dict(zip(ROWS, (qid, row_weight, docid, retrieved, judged), strict=True))
        _set(
            self, labels=np.array(values, np.float64), index=shared_index({"labels": labels, **columns}),
            retrieved=None if retrieved is None else as_flags("retrieved", retrieved, n_docs),
            judged=None if judged is None else as_flags("judged", judged, n_docs),
            row_weight=None if row_weight is None else as_weights("row_weight", row_weight, n_docs, "row"),
            query_weight=None, pairs=None, docid_rank=None, own_docid=None, **grouped(qid, group_sizes, n_docs),
        )  # fmt: skip
        if self.grades is None:
            refuse_non_finite("labels", values, self.judged)
        if query_weight is not None:
            shared_index({"group_sizes": group_sizes, "query_weight": query_weight})
            _set(self, query_weight=as_query_weights(query_weight, self.query_ids))
        if docid is not None:
            rank, own = as_docids(docid, self)
            _set(self, docid_rank=rank, own_docid=None if qid is None else own)
        if pairs is not None:
            _set(self, pairs=as_pairs(pairs, self))
        if self.retrieved is None or self.judged is None:  # every row is retrieved or judged
            return
        idle = np.flatnonzero(~self.retrieved & ~self.judged)
        if idle.size:
            msg = f"row {idle[0]} is neither retrieved nor judged, so it says nothing."
            raise InputError(msg, hint="drop such rows", row=int(idle[0]))

    def __repr__(self) -> str:
        """Return the number of queries and rows."""
        return f"Queries({self.n_queries} queries, {self.n_docs} rows)"

    @property
    def group_sizes(self) -> Ints:
        """Rows of each query in the order of the rows, as LightGBM and XGBoost take them; shape (n_queries,).

        Counts by `numpy.unique`, and by `groupby("qid")` and `size()` of pandas, are in the order of the sorted ids.
        If the ids do not ascend, toolkits then cut the queries at the wrong rows, and none of them notices.

        Raises
        ------
        InputError
            The rows of a query are not contiguous, so that sizes cannot describe them.

        >>> ids = ["q10", "q10", "q10", "q9", "q2", "q2"]
        >>> Queries([1, 0, 2, 0, 1, 0], qid=ids).group_sizes.tolist()
        [3, 1, 2]
        >>> np.unique(ids, return_counts=True)[1].tolist()  # of q10, q2 and q9
        [3, 2, 1]
        """
        if self.order is not None and (moved := np.flatnonzero(self.order != np.arange(self.n_docs))).size:
            row = int(moved[0])
            query, other = self.query_ids[[np.searchsorted(self.indptr, row, side="right") - 1, self.query_of_row[row]]]
            raise InputError(
                f"the rows of query {query} are not contiguous: row {row} is of query {other}.",
                hint="sort every column by query first: rows = ra.Queries(labels, qid=qid).rows, then X[rows], ...",
                row=row,
            )
        return np.diff(self.indptr)

    @lazy_property
    def query_of_row(self) -> NDArray[np.intp]:
        """Index of each row's query, in the caller's order of rows; shape (n_docs,).

        >>> Queries([1, 0, 2], qid=["b", "a", "b"]).query_of_row.tolist()
        [0, 1, 0]
        """
        return self.per_row(np.arange(self.n_queries))

    @property
    def judged_share(self) -> float:
        """Share of the retrieved rows that are judged; 1 if every row is judged, or if none is retrieved.

        >>> Queries([1, 0, 0], qid=[7, 7, 7], judged=[True, True, False]).judged_share
        0.6666666666666666
        """
        if self.judged is None:
            return 1.0
        judged = self.judged if self.retrieved is None else self.judged[self.retrieved]
        return float(judged.mean()) if judged.size else 1.0

    @property
    def rows(self) -> Array:
        """Row numbers in the caller's order, query by query; shape (n_docs,).

        >>> Queries([1, 0, 2], qid=["b", "a", "b"]).rows.tolist()
        [0, 2, 1]
        """
        return np.arange(self.n_docs) if self.order is None else self.order

    def per_row(self, values: Array) -> Array:
        """Return for each row, in the caller's order, the value of its query."""
        by_row = np.repeat(values, self.sizes)
        if self.order is not None:
            by_row[self.order] = by_row.copy()
        return by_row

    def per_query(self, column: Array) -> tuple[Array, int]:
        """Return the value of each query's first row, and the first query whose rows disagree (-1 if none does).

        >>> Queries([1, 0, 2], qid=["b", "a", "b"]).per_query(np.array([5, 6, 5]))
        (array([5, 6]), -1)
        """
        ordered = self.take(column)
        first = ordered[self.indptr[:-1]]
        varies = np.flatnonzero(ordered != np.repeat(first, self.sizes))
        return first, int(np.searchsorted(self.indptr, varies[0], side="right")) - 1 if varies.size else -1

    def weights_per_query(
        self, name: str, weights: Array, *, hint: str = "one weight for all rows of a query"
    ) -> Array:
        """Return the weight of each query, from weights by row; refuse weights that vary within a query."""
        first, varies = self.per_query(weights)
        if varies >= 0:
            row = int(np.argmax(weights != self.per_row(first)))
            values = f"one row has {first[self.query_of_row[row]]:g}, another {weights[row]:g}"
            raise InputError(f"{name} varies within query {self.query_ids[varies]}: {values}.", hint=hint, row=row)
        return first

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the optional columns that are present: docid, retrieved, judged, pairs, and weights."""
        optional = {"docid": self.docid_rank, "retrieved": self.retrieved, "judged": self.judged, "pairs": self.pairs}
        return (*(name for name, column in optional.items() if column is not None), *self.weights)

    @property
    def weights(self) -> tuple[str, ...]:
        """Names of the weights that are present: query_weight, row_weight, pair_weight."""
        pair_weight = None if self.pairs is None else self.pairs.weight
        weights = {"query_weight": self.query_weight, "row_weight": self.row_weight, "pair_weight": pair_weight}
        return tuple(name for name, column in weights.items() if column is not None)

    def with_weights(self, query_weight: object = None, *, row_weight: object = None) -> Queries:
        """Return the same queries with new weights per query and per row; None removes them.

        The weights of pairs stay.
        """
        same_index("row_weight", pandas_index(row_weight), self.index)
        return self.with_columns(
            query_weight=None if query_weight is None else as_query_weights(query_weight, self.query_ids),
            row_weight=None if row_weight is None else as_weights("row_weight", row_weight, self.n_docs, "row"),
        )

    def weighed_by(self, column: str | None) -> Queries:
        """Return the same queries with only one kind of weights.

        `column` is one of `weights`; None removes all of them.
        """
        pairs = self.pairs
        return self.with_columns(
            query_weight=self.query_weight if column == "query_weight" else None,
            row_weight=self.row_weight if column == "row_weight" else None,
            pairs=pairs if pairs is None or column == "pair_weight" else pairs._replace(weight=None),
        )

    def with_labels(self, labels: object) -> Queries:
        """Return the same queries with new labels, one per row."""
        values = as_numbers("labels", labels)
        same_length("labels", values, self.n_docs)
        same_index("labels", pandas_index(labels), self.index)
        refuse_non_finite("labels", values, self.judged)
        return self.with_columns(labels=frozen(values.astype(np.float64, copy=False)))

    def subset(self, numbers: NDArray[np.integer[Any]]) -> tuple[Queries, NDArray[np.intp]]:
        """Return the queries with these indexes, in this order, and their row numbers in the caller's order.

        Raises
        ------
        InputError
            There is no query with one of the numbers, or a number is repeated.
        """
        numbers = np.asarray(numbers)
        exist = numbers.dtype.kind in "iu" and numbers.size and numbers.min() >= 0 and numbers.max() < self.n_queries
        if not exist or np.unique(numbers).size < numbers.size:
            allowed = f"different whole numbers from 0 to {self.n_queries - 1}"
            raise InputError(f"numbers={numbers!r:.60}; allowed are {allowed}.", hint="numpy.flatnonzero of a mask")
        starts, sizes = self.indptr[numbers], self.sizes[numbers]
        inner = positions_within(offsets(sizes)) + np.repeat(starts, sizes)
        rows = inner if self.order is None else self.order[inner]
        queries = self.with_columns(
            query_ids=self.query_ids[numbers], indptr=offsets(sizes), order=None, index=None,
            query_weight=None if self.query_weight is None else self.query_weight[numbers],
            pairs=None if self.pairs is None else pairs_of_queries(self.pairs, rows, numbers),
            **{name: column[rows] for name, column in self.row_columns()},
        )  # fmt: skip
        return queries, rows

    def select(self, numbers: NDArray[np.integer[Any]]) -> tuple[Queries, NDArray[np.intp]]:
        """Return the same as `subset`, but with the rows in the caller's order."""
        queries, rows = self.subset(numbers)
        if self.order is None:
            return queries, rows
        positions = np.argsort(rows)
        order = np.argsort(positions)  # the new position of each row
        columns: dict[str, Any] = {name: column[positions] for name, column in queries.row_columns()}
        if queries.pairs is not None:
            columns["pairs"] = queries.pairs._replace(
                winner=order[queries.pairs.winner], loser=order[queries.pairs.loser]
            )
        return queries.with_columns(**columns, order=order.astype(index_dtype(order.size))), rows[positions]

    def as_one(self, *, row_weight: Array | None = None) -> Queries:
        """Return all rows, in the caller's order, as a single query with id 0 and without query weights."""
        return self.with_columns(
            query_ids=np.zeros(1, np.int64), indptr=np.array([0, self.n_docs]), order=None,
            query_weight=None, row_weight=row_weight,
            pairs=None if self.pairs is None else self.pairs._replace(indptr=self.pairs.indptr[[0, -1]]),
        )  # fmt: skip

    def row_columns(self) -> list[tuple[str, Array]]:
        """Return the names and entries of the columns that have one entry per row."""
        names = ("labels", "row_weight", "docid_rank", "own_docid", "retrieved", "judged", "no_results")
        return [(name, column) for name in names if (column := getattr(self, name)) is not None]

    def with_columns(self, **fields: Any) -> Queries:
        """Return the same queries with changed attributes, which are not checked again."""
        changed = copy.copy(self)
        outdated = ["digest", "fingerprints"]
        if "query_ids" in fields:
            outdated.append("id_hashes")
        if "order" in fields:
            outdated += ["sizes", "longest", "n_queries", "query_of_row", "grade_counts"]
        if "labels" in fields or "judged" in fields:
            outdated += ["grades", "grade_counts"]
        for name in outdated:
            changed.__dict__.pop(name, None)
        _set(changed, **fields)
        return changed

    @lazy_property
    def grades(self) -> Grades | None:
        """Label of each row as a byte, 0 for unjudged rows; None unless all are whole numbers from 0 to 255.

        >>> Queries([1, 0, 2], qid=[7, 7, 7]).grades
        array([1, 0, 2], dtype=uint8)
        """
        return as_grades(self.labels, self.judged)

    @lazy_property
    def grade_counts(self) -> Array | None:
        """Number of each query's judged rows with each grade, shape (n_queries, n_grades); None for many numbers.

        >>> Queries([1, 0, 2, 0], qid=["b", "a", "b", "b"]).grade_counts.tolist()
        [[1, 1, 1], [1, 0, 0]]
        """
        return None if self.grades is None else counts_of_grades(self.grades, self.judged, self.order, self.indptr)

    @lazy_property
    def id_hashes(self) -> NDArray[np.uint64]:
        """One hash per query id, shape (n_queries,)."""
        return hash_ids(self.query_ids)

    @lazy_property
    def fingerprints(self) -> NDArray[np.uint64]:
        """One hash per query: its id, weight (1 by default), labels, flags, row weights and pairs; shape (n_queries,).

        Hashes of rows are added, so that the order of the rows does not matter.
        """
        sums = self._hashes_of_rows()
        weights = np.ones(sums.size) if self.query_weight is None else self.query_weight + 0.0
        return mixed(mixed(sums ^ self.id_hashes) ^ weights.view(np.uint64))

    def _hashes_of_rows(self) -> NDArray[np.uint64]:
        """Return for each query the hash of its rows and pairs."""
        only_labels = self.judged is None and self.retrieved is None and self.row_weight is None and self.pairs is None
        counts = self.grade_counts if only_labels else None
        if counts is not None:  # hashing each grade is faster than hashing each row
            grades = np.arange(counts.shape[1], dtype=np.float64)
            return counts.astype(np.uint64) @ mixed(grades.view(np.uint64))
        words = (self.labels + 0.0).view(np.uint64)  # + 0.0 makes -0.0 and 0.0 one label
        if self.judged is not None:
            words = np.where(self.judged, words, UNJUDGED)
        if self.retrieved is not None:
            words = np.where(self.retrieved, words, words ^ UNRETRIEVED)
        if self.no_results is not None:
            words = np.where(self.no_results, ~words, words)
        if self.row_weight is not None:
            words = mixed(words) ^ (self.row_weight + 0.0).view(np.uint64)
        sums = hash_sums(mixed(self.take(words)), self.indptr)
        return sums if self.pairs is None else sums + self.pairs.hashes(words)

    @lazy_property
    def digest(self) -> int:
        """Sum of the fingerprints: equal for the same queries in any order."""
        return int(self.fingerprints.sum(dtype=np.uint64))

    def check_scores(self, scores: object) -> Array:
        """Return the scores as a float32 or float64 array, one per row; ranking checks that they are finite."""
        array = as_numbers("scores", scores)
        if array.size != self.labels.size:
            msg = f"scores has {array.size} rows but the queries cover {self.n_docs}."
            raise InputError(msg, hint="pass one score for each label, in the order of the labels")
        if self.index is not None:
            same_index("scores", pandas_index(scores), self.index)
        return array


def _set(queries: Queries, **fields: Any) -> None:
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(queries, name, value)


def as_queries(labels: object, **columns: Unpack[Columns]) -> Queries:
    """Return the queries of labels and columns; if `labels` is already a Queries, no columns are allowed.

    Raises
    ------
    InputError
        A keyword is not the name of a column, or is passed together with a Queries.
    """
    if not isinstance(labels, Queries):
        return Queries(labels, **columns)
    refuse_other_names(columns)
    for name, column in columns.items():
        if column is not None:
            msg = f"{name} was passed together with a Queries, which already holds it."
            raise InputError(msg, hint=f"drop {name}=, or pass labels")
    return labels


describes_columns = describes(Queries)
