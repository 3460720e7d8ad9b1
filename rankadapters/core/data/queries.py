"""Queries: labels, and the rows of each query, all checked once; queries are in the order of first appearance."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any, Never, Unpack

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.classes import lazy_property
from rankadapters.core.data.columns import (
    ROWS,
    Array,
    Columns,
    Flags,
    Floats,
    Ints,
    as_column,
    as_flags,
    as_numbers,
    as_weights,
    frozen,
    index_dtype,
    is_missing,
    pandas_index,
    refuse_non_finite,
    refuse_other_names,
    refused_entry,
    same_index,
    same_length,
    shared_index,
)
from rankadapters.core.data.ids import ALLOWED_IDS, hash_ids, hash_sums, id_form, id_value, kind_of, mixed
from rankadapters.core.data.optional_columns import Pairs, as_docids, as_pairs, as_query_weights, pairs_of_queries
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

    def reordered(self, positions: Ints) -> Rows:
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


def retrieved_rows(unjudged: str, queries: Queries) -> Rows:
    """Return the rows to rank, given the value of the field `unjudged`."""
    if queries.judged is None and unjudged != "drop-negative":
        return rows_of(queries, queries.retrieved)
    judged = np.ones(queries.n_docs, np.bool_) if queries.judged is None else queries.judged
    retrieved = np.ones(queries.n_docs, np.bool_) if queries.retrieved is None else queries.retrieved
    without_label = retrieved & ~judged
    if unjudged == "error" and without_label.any():
        row = int(np.argmax(without_label))
        msg = f"row {row} was retrieved but not judged, and the convention says unjudged='error'."
        raise InputError(msg, hint="convention.replace(unjudged='zero') or 'drop'", row=row)
    if unjudged == "drop-negative":
        judged = judged & (queries.labels >= 0)
    return rows_of(queries, judged & retrieved if unjudged in {"drop", "drop-negative"} else queries.retrieved)


UNNAMED = "fill missing entries with a name such as 'unknown'"  # hint for a query without a segment


def grouped(qid: object, group_sizes: object, n_docs: int) -> dict[str, Any]:
    """Return `query_ids`, `indptr` and `order` of Queries, as new arrays.

    Raises
    ------
    InputError
        Both or none of the two is given, or it has the wrong length, a NaN, or a query without rows.
    """
    if (qid is None) == (group_sizes is None):
        problem = "neither was" if qid is None else "both were"
        msg = f"exactly one of qid and group_sizes is needed, but {problem} given."
        raise InputError(msg, hint="qid=one per row, or group_sizes=one per query")
    if qid is not None:
        return _from_qid(qid, n_docs)
    sizes = as_column("group_sizes", group_sizes)
    if sizes.dtype.kind not in "iu":
        msg = f"group_sizes has dtype {sizes.dtype}, but whole numbers are needed."
        raise InputError(msg, hint="rows per query, as integers")
    if sizes.size == n_docs and sizes.sum() != n_docs:
        msg = f"group_sizes has {n_docs} entries, one per row, but needs one per query."
        raise InputError(msg, hint="ids of rows go to qid=")
    if sizes.size > 1 and sizes[-1] == n_docs and (sizes[1:] > sizes[:-1]).all():
        msg = f"group_sizes rises to the {n_docs} rows, as offsets do, but the number of rows of each query is needed."
        raise InputError(msg, hint=f"numpy.diff(group_sizes{', prepend=0' if sizes[0] else ''})")
    if sizes.min() < 1:
        why = ", but a query has at least one row"
        raise refused_entry("group_sizes", sizes, int(sizes.argmin()), why, "drop such queries", unit="query")
    if (total := sum(sizes.tolist())) != n_docs:
        msg = f"group_sizes adds up to {total} but labels has {n_docs} rows."
        raise InputError(msg, hint="qid= takes one id per row instead")
    return {"query_ids": np.arange(sizes.size), "indptr": offsets(sizes), "order": None}


def _from_qid(qid: object, n_docs: int) -> dict[str, Any]:
    ids = as_column("qid", qid)
    if ids.size != n_docs and ids.dtype.kind in "iu" and ids.sum() == n_docs:
        msg = f"qid has {ids.size} entries that add up to the {n_docs} rows."
        raise InputError(msg, hint="rows per query go to group_sizes=")
    same_length("qid", ids, n_docs)
    keys = comparable_keys(ids)
    starts = _starts(keys)
    first, codes = _distinct(keys[starts])
    lengths = np.diff(starts, append=n_docs)
    if first.size == starts.size:
        return {"query_ids": ids[starts], "indptr": offsets(lengths), "order": None}
    appearance = np.argsort(first)
    query_of_code = np.empty_like(appearance)
    query_of_code[appearance] = np.arange(appearance.size)
    query_of_row = np.repeat(query_of_code[codes], lengths)
    return {
        "query_ids": ids[starts[first[appearance]]],
        "indptr": offsets(np.bincount(query_of_row)),
        "order": stable_order(query_of_row).astype(index_dtype(n_docs)),
    }


def _distinct(keys: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first index of each distinct key, sorted by key, and for each entry the number of its key."""
    if keys.dtype.kind not in "iu":
        _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
        return first, codes.ravel()
    order = stable_order(keys)
    ordered = keys[order]
    rises = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    codes = np.empty(keys.size, np.intp)
    codes[order] = np.cumsum(rises) - 1
    return order[rises], codes


def stable_order(numbers: Array) -> NDArray[np.intp]:
    """Return a stable argsort of integers; sorting by 16-bit digits takes a quarter of the time of numpy's argsort.

    Examples
    --------
    >>> stable_order(np.array([2**20, -1, 2**20, 5])).tolist()
    [1, 3, 0, 2]
    """
    if int(numbers.max()) - int(numbers.min()) >= 2**32:
        return np.argsort(numbers, kind="stable")
    wide = numbers.astype(np.int64, copy=False)  # large uint64 numbers become negative, but differences stay right
    digits = wide - wide[np.argmin(numbers)]
    order = np.argsort(digits.astype(np.uint16), kind="stable")  # fast, since numpy sorts 16-bit integers by radix
    upper = (digits >> 16).astype(np.uint16)
    return order[np.argsort(upper[order], kind="stable")] if upper.any() else order


def stretches(ids: Array) -> Ints:
    """Return the first row of each run of equal ids.

    Raises
    ------
    InputError
        An id is missing or has a type that is not allowed.

    Examples
    --------
    >>> stretches(np.array([7, 7, 9, 7])).tolist()
    [0, 2, 3]
    """
    return _starts(comparable_keys(ids))


def _starts(keys: Array) -> Ints:
    return np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1])


def comparable_keys(ids: Array, name: str = "qid") -> Array:
    """Return a key for each id, equal for equal ids, that numpy can compare.

    A missing id raises InputError, and so do ids of several types, which may look or be equal, such as 1, "1" and True.
    If the ids are of queries (`name` is "qid"), so does a type that is not allowed.
    """
    if ids.dtype == object:
        return _codes_of_objects(ids, name)
    missing = ids != ids if ids.dtype.kind in "fcmM" else None  # noqa: PLR0124 - true for NaN and NaT alone
    if missing is not None and missing.any():
        raise _missing(name, ids, missing)
    if name == "qid" and not kind_of(ids[0]):
        raise _not_an_id(ids, 0)
    return ids


def _codes_of_objects(ids: Array, name: str) -> Array:
    items: list[object] = ids.tolist()
    rows: dict[object, int] = {}
    try:
        first_rows = [rows.setdefault(item, row) for row, item in enumerate(items)]
    except TypeError as error:
        if name == "qid":  # what is not hashable is not an id either
            raise _not_an_id(ids, next(row for row, item in enumerate(ids) if not kind_of(item))) from None
        raise InputError(f"{name} holds a value that is not hashable ({error}).", hint="integers or strings") from None
    keys, values = np.arange(ids.size), dict[object, int]()
    for item, row in rows.items():
        if is_missing(item):
            raise _missing(name, ids, row)
        if name == "qid" and not kind_of(item):
            raise _not_an_id(ids, row)
        keys[row] = values.setdefault(id_value(item), row)
    _refuse_mixed(name, ids, items, rows.values())
    return keys[first_rows]


def _refuse_mixed(name: str, ids: Array, items: list[Any], distinct: Iterable[int]) -> None:
    """Raise InputError for ids of several types, given rows of all distinct ids; of segments, if they are equal."""
    types = set(map(type, items))
    if types == {tuple}:
        types |= set(map(type, chain.from_iterable(items)))
    if len(types) == 1:
        return
    examples: dict[object, int] = {}
    if not types.isdisjoint({bool, np.bool_}):  # True equals 1, so that a distinct id may have several types
        for row, item in enumerate(items):
            examples.setdefault(tuple(map(type, item)) if isinstance(item, tuple) else type(item), row)
    first: dict[str, tuple[int, str]] = {}
    for row in sorted({*distinct, *examples.values()}):
        form = id_form(ids[row])
        group = "" if name == "qid" else form.replace("bool", "number")
        earlier, expected = first.setdefault(group, (row, form))
        if form != expected:
            msg = f"{name}[{row}] is {ids[row]!r} ({form}), but {name}[{earlier}] is {ids[earlier]!r} ({expected})."
            hint = f"one type in the column, such as {name}=[str(item) for item in {name}]"
            raise InputError(msg, hint=hint, row=row)


def _missing(name: str, ids: Array, missing: Flags | int) -> InputError:
    if name == "qid":
        return refused_entry(name, ids, missing, ", but every row belongs to a query", "drop rows without a query")
    return refused_entry(name, ids, missing, ", but every query belongs to a segment", UNNAMED)


def _not_an_id(ids: Array, row: int) -> InputError:
    why = f" ({type(ids[row]).__name__}); allowed are {ALLOWED_IDS}"
    return refused_entry("qid", ids, row, why, "qid=[str(query) for query in qid]")


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
        names = ("labels", "row_weight", "docid_rank", "own_docid", "retrieved", "judged")
        return [(name, column) for name in names if (column := getattr(self, name)) is not None]

    def with_columns(self, **fields: Any) -> Queries:
        """Return the same queries with changed attributes, which are not checked again."""
        changed = copy.copy(self)
        outdated = ["digest", "fingerprints"]
        if "query_ids" in fields:
            outdated.append("id_hashes")
        if "order" in fields:
            outdated += ["sizes", "longest", "n_queries", "query_of_row"]
        for name in outdated:
            changed.__dict__.pop(name, None)
        _set(changed, **fields)
        return changed

    @lazy_property
    def id_hashes(self) -> NDArray[np.uint64]:
        """One hash per query id, shape (n_queries,)."""
        return hash_ids(self.query_ids)

    @lazy_property
    def fingerprints(self) -> NDArray[np.uint64]:
        """One hash per query: its id, weight (1 by default), labels, flags, row weights and pairs; shape (n_queries,).

        Hashes of rows are added, so that the order of the rows does not matter.
        """
        words = (self.labels + 0.0).view(np.uint64)  # + 0.0 makes -0.0 and 0.0 one label
        if self.judged is not None:
            words = np.where(self.judged, words, UNJUDGED)
        if self.retrieved is not None:
            words = np.where(self.retrieved, words, words ^ UNRETRIEVED)
        if self.row_weight is not None:
            words = mixed(words) ^ (self.row_weight + 0.0).view(np.uint64)
        sums = hash_sums(mixed(self.take(words)), self.indptr)
        if self.pairs is not None:
            sums += self.pairs.hashes(words)
        weights = np.ones(sums.size) if self.query_weight is None else self.query_weight + 0.0
        return mixed(mixed(sums ^ self.id_hashes) ^ weights.view(np.uint64))

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
