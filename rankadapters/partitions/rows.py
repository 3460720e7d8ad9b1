"""Rows of a partition: whole queries, and the queries at its ends, of which other partitions may hold rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from rankadapters.arrow_columns import ArrowColumns
from rankadapters.core.data.columns import Array, Ints, as_numbers, text_column
from rankadapters.core.data.grouping import stable_order
from rankadapters.core.data.ids import id_kind
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.partitions.asked import Asked

FEW = 4  # rows in a run of one query, from which on it is worth asking whether each query has one run

Span = tuple[Any, Any]  # first and last qid of sorted rows


@dataclass(frozen=True, eq=False)
class FrameRows:
    """Checked columns of rows.

    Attributes
    ----------
    held : dict of str to array, shape (n_rows,)
        Columns by role: `label`, `score` and, where they were named, `query_weight`, `row_weight`, `docid`, `by`,
        `order`.
    query : int array, shape (n_rows,)
        Query of each row; an index into `names` where there are any.
    names : str array, or None
    """

    held: dict[str, Array]
    query: Array
    names: Array | None

    @classmethod
    def of(cls, columns: Mapping[str, Any], asked: Asked) -> Self:
        """Read columns of pandas or Arrow, by role.

        Raises
        ------
        InputError
            An entry is missing or not finite, or a column has the wrong type.
        """
        import pyarrow as pa

        names = asked.columns
        table = pa.table({names[role]: _arrow(names[role], column) for role, column in columns.items()})
        checked = ArrowColumns(table, "", "row {}".format)
        query, texts = checked.codes(names["qid"])
        numbers = ("label", "score", "query_weight", "row_weight")
        arrays = {role: as_numbers(names[role], checked.numbers(names[role])) for role in numbers if role in names}
        if "docid" in names:
            arrays["docid"] = text_column(checked.docids(names["docid"]))
        if "by" in names:
            segments, starts = checked.queries(names["by"])
            arrays["by"] = np.repeat(segments, np.diff(starts, append=query.size))
        if "order" in names:
            arrays["order"] = checked.sort_keys(names["order"])
        return cls(arrays, query, texts)

    @property
    def ids(self) -> Array:
        """Query of each row, as it was given."""
        return self._ids_of(self.query)

    @property
    def kind(self) -> str:
        """What queries are named by."""
        return "text" if self.names is not None else id_kind(self.query)

    @property
    def starts(self) -> Ints:
        """First row of each stretch of rows with one query."""
        return np.flatnonzero(np.concatenate([[True], self.query[1:] != self.query[:-1]]))

    @property
    def distinct_ids(self) -> Array:
        """Each query once, as it was given."""
        return self._ids_of(np.unique(self.query[self.starts]))

    def ids_at(self, rows: Ints) -> Array:
        """Query of some rows, as it was given."""
        return self._ids_of(self.query[rows])

    def _ids_of(self, query: Array) -> Array:
        return query if self.names is None else self.names[query]

    def columns(self) -> dict[str, Array]:
        """Return the columns by role, as `of` reads them."""
        return {**self.held, "qid": self.ids}

    def take(self, rows: Array | slice) -> FrameRows:
        """Pick rows by their places."""
        return FrameRows({role: column[rows] for role, column in self.held.items()}, self.query[rows], self.names)

    @classmethod
    def joined(cls, parts: Sequence[FrameRows], asked: Asked) -> Self:
        """Join the rows of several partitions, in that order."""
        columns = [rows.columns() for rows in parts]
        return cls.of({role: np.concatenate([part[role] for part in columns]) for role in columns[0]}, asked)

    def queries(self, *, as_given: bool = False) -> tuple[Queries, Array]:
        """Give these rows as queries, and their scores; query by query, or where they stand."""
        queries, rows = self.arranged(as_given=as_given)
        return queries, rows.held["score"]

    def arranged(self, *, as_given: bool = False) -> tuple[Queries, FrameRows]:
        """Return these rows as queries, and the rows themselves; query by query, or in the order given.

        Raises
        ------
        InputError
            A weight varies in its query, a document stands there twice, or `order` does not tell its rows apart.
        """
        rows = self if as_given else self._together()
        held = rows.held
        queries = Queries(held["label"], qid=rows.query, docid=held.get("docid"), row_weight=held.get("row_weight"))
        if self.names is not None:
            queries = queries.with_query_ids(self.names[queries.query_ids])
        if "order" in held and not as_given:
            _refuse_equal(queries, queries.by_query(held["order"]))
        return (_weighed(queries, held["query_weight"]) if "query_weight" in held else queries), rows

    def _together(self) -> FrameRows:
        """Rows query by query, those of a query in their order."""
        rows = self.take(np.argsort(self.held["order"], kind="stable")) if "order" in self.held else self
        runs = rows.query[rows.starts]
        if runs.size * FEW <= rows.query.size and np.unique(runs).size == runs.size:
            return rows
        return rows.take(stable_order(rows.query))


def _arrow(name: str, column: Any) -> Any:
    """Return a column of pandas or Arrow as Arrow's; missing entries of pandas become null."""
    import pyarrow as pa

    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        why = str(error).splitlines()[0]
        msg = f"{name} holds values of several types, but one is needed ({why}).\nHint: convert the column first."
        raise InputError(msg) from None


def _weighed(queries: Queries, weight: Array) -> Queries:
    first, varies = queries.per_query(weight)
    if varies >= 0:
        who = f"query {queries.query_ids[varies]} has rows of different weights"
        raise InputError(f"{who}.\nHint: a weight is the query's, so its rows must agree.")
    return queries.with_weights(first, row_weight=queries.row_weight)


def _refuse_equal(queries: Queries, order: Array) -> None:
    same = order[1:] == order[:-1]
    same[queries.indptr[1:-1] - 1] = False
    if same.any():
        place = int(np.argmax(same))
        query = queries.query_ids[np.searchsorted(queries.indptr, place, side="right") - 1]
        msg = f"two rows of query {query} have order {order[place]}, so that neither comes first."
        raise InputError(f"{msg}\nHint: a column that differs within a query, such as a row number.")


class Split(NamedTuple):
    """Rows of a partition: queries that it holds whole, and those that others may hold a part of."""

    inner: FrameRows | None
    edges: FrameRows | None
    span: Span | None


def split(rows: FrameRows) -> Split:
    """Take the first and the last query of sorted rows for cut, and what lies between for whole.

    Raises
    ------
    InputError
        The rows are not sorted by qid.
    """
    starts = rows.starts
    ids = rows.ids_at(starts)
    falls = np.flatnonzero((ids[1:] < ids[:-1]).astype(np.bool_))
    if falls.size:
        msg = f"the rows are not sorted by qid: query {ids[falls[0] + 1]} is after query {ids[falls[0]]}."
        raise InputError(f"{msg}\nHint: partitions='shuffle', or 'whole' where no query is cut.")
    span = (ids[:1].tolist()[0], ids[-1:].tolist()[0])
    if ids.size <= 2:  # noqa: PLR2004 - both ends
        return Split(None, rows, span)
    begin, end = int(starts[1]), int(starts[-1])
    ends = np.concatenate([np.arange(begin), np.arange(end, rows.query.size)])
    return Split(rows.take(slice(begin, end)), rows.take(ends), span)
