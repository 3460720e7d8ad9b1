"""The rows of a partition, and their division into whole queries and queries that other partitions may continue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from rankadapters.arrow_columns import ArrowColumns
from rankadapters.core.data.columns import Array, Ints, as_numbers, text_column
from rankadapters.core.data.ids import id_kind
from rankadapters.core.data.queries import Queries, stable_order
from rankadapters.core.errors import InputError
from rankadapters.partitions.request import FrameRequest

MIN_MEAN_RUN = 4  # mean rows per run from which it is worth checking whether rows are already grouped by query

Span = tuple[Any, Any]  # first and last qid of sorted rows


@dataclass(frozen=True, eq=False)
class FrameRows:
    """Rows of a frame as checked columns.

    Attributes
    ----------
    arrays : dict of str to array, shape (n_rows,)
        Columns by role: `label`, `score` and, if requested, `query_weight`, `row_weight`, `docid`, `by`, `order`.
    query : int array, shape (n_rows,)
        Query id of each row, or its index in `names`.
    names : str array, or None
        Query ids that are strings.
    """

    arrays: dict[str, Array]
    query: Array
    names: Array | None

    @classmethod
    def of(cls, columns: Mapping[str, Any], request: FrameRequest) -> Self:
        """Read and check pandas or Arrow columns, which are keyed by role.

        Raises
        ------
        InputError
            An entry is missing or not finite, or a column has the wrong type.
        """
        import pyarrow as pa

        names = request.columns
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
        """The query id of each row."""
        return self._ids_of(self.query)

    @property
    def kind(self) -> str:
        """The type of the query ids, in words."""
        return "text" if self.names is not None else id_kind(self.query)

    @property
    def starts(self) -> Ints:
        """First row of each run of consecutive rows of the same query."""
        return np.flatnonzero(np.concatenate([[True], self.query[1:] != self.query[:-1]]))

    @property
    def distinct_ids(self) -> Array:
        """The distinct query ids."""
        return self._ids_of(np.unique(self.query[self.starts]))

    def ids_at(self, rows: Ints) -> Array:
        """Return the query ids of some rows."""
        return self._ids_of(self.query[rows])

    def _ids_of(self, query: Array) -> Array:
        return query if self.names is None else self.names[query]

    def columns(self) -> dict[str, Array]:
        """Return the columns keyed by role, as `of` takes them."""
        return {**self.arrays, "qid": self.ids}

    def take(self, rows: Array | slice) -> FrameRows:
        """Select rows by index."""
        return FrameRows({role: column[rows] for role, column in self.arrays.items()}, self.query[rows], self.names)

    @classmethod
    def concatenate(cls, parts: Sequence[FrameRows], request: FrameRequest) -> Self:
        """Concatenate the rows of several partitions."""
        columns = [rows.columns() for rows in parts]
        return cls.of({role: np.concatenate([part[role] for part in columns]) for role in columns[0]}, request)

    def grouped(self, *, keep_order: bool = False) -> tuple[Queries, FrameRows]:
        """Return the queries, and the rows in the same order, which is grouped by query unless `keep_order` is True.

        Raises
        ------
        InputError
            A weight varies within a query, a query has a document twice, or two of its rows have the same `order`.
        """
        rows = self if keep_order else self._grouped_rows()
        arrays = rows.arrays
        queries = Queries(
            arrays["label"], qid=rows.query, docid=arrays.get("docid"), row_weight=arrays.get("row_weight")
        )
        if self.names is not None:
            queries = queries.with_columns(query_ids=self.names[queries.query_ids])
        if "order" in arrays and not keep_order:
            _refuse_equal(queries, queries.take(arrays["order"]))
        return (_with_weights(queries, arrays["query_weight"]) if "query_weight" in arrays else queries), rows

    def _grouped_rows(self) -> FrameRows:
        """Return the rows grouped by query, and sorted by `order` within a query."""
        rows = self.take(np.argsort(self.arrays["order"], kind="stable")) if "order" in self.arrays else self
        runs = rows.query[rows.starts]
        if runs.size * MIN_MEAN_RUN <= rows.query.size and np.unique(runs).size == runs.size:
            return rows
        return rows.take(stable_order(rows.query))


def _arrow(name: str, column: Any) -> Any:
    """Return a column of pandas or Arrow as an Arrow array; missing entries of pandas become null."""
    import pyarrow as pa

    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        reason = str(error).splitlines()[0]
        msg = f"{name} holds values of several types, but one is needed ({reason}).\nHint: convert the column first."
        raise InputError(msg) from None


def _with_weights(queries: Queries, weight: Array) -> Queries:
    first, bad_query = queries.per_query(weight)
    if bad_query >= 0:
        msg = f"query {queries.query_ids[bad_query]} has rows of different weights"
        raise InputError(f"{msg}.\nHint: query_weight must be equal in all rows of a query.")
    return queries.with_weights(first, row_weight=queries.row_weight)


def _refuse_equal(queries: Queries, order: Array) -> None:
    same = order[1:] == order[:-1]
    same[queries.indptr[1:-1] - 1] = False
    if same.any():
        row = int(np.argmax(same))
        query = queries.query_ids[np.searchsorted(queries.indptr, row, side="right") - 1]
        msg = f"two rows of query {query} have order {order[row]}, so neither comes first."
        raise InputError(f"{msg}\nHint: order needs a column that differs within a query, such as a row number.")


class Split(NamedTuple):
    """Rows of whole queries, rows of queries that other partitions may continue, and the first and last qid."""

    inner: FrameRows | None
    edges: FrameRows | None
    span: Span | None


def split(rows: FrameRows) -> Split:
    """Separate the first and the last query of sorted rows, which may be cut, from the whole queries in between.

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
    if ids.size <= 2:  # noqa: PLR2004 - first and last query
        return Split(None, rows, span)
    begin, end = int(starts[1]), int(starts[-1])
    ends = np.concatenate([np.arange(begin), np.arange(end, rows.query.size)])
    return Split(rows.take(slice(begin, end)), rows.take(ends), span)
