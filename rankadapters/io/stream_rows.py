"""A common form for the rows of a stream, whatever files or batches they come from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, Floats, as_numbers
from rankadapters.core.data.ids import id_column, id_kind
from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.errors import InputError
from rankadapters.io.text import Name

Locate = Callable[[int], str]


class StreamColumns(NamedTuple):
    """Names of a batch's columns, or their indices if a batch is a tuple."""

    label: Name
    scores: tuple[Name, ...]  # one column per model
    qid: Name
    query_weight: Name | None = None
    row_weight: Name | None = None
    docid: Name | None = None
    by: Name | None = None

    def checked(self) -> StreamColumns:
        """Return these names; raise an error if a value cannot name a column."""
        for role, names in self._asdict().items():
            for name in names if isinstance(names, tuple) else [names]:
                optional = name is None and role not in {"label", "qid"}
                if not (optional or (isinstance(name, (str, int)) and not isinstance(name, bool))):
                    raise refusal("score" if role == "scores" else role, name, "names of columns")
        return self

    @property
    def weights(self) -> dict[str, Name]:
        """The names of the weight columns, by role."""
        columns = {"query_weight": self.query_weight, "row_weight": self.row_weight}
        return {role: name for role, name in columns.items() if name is not None}

    @property
    def numbers(self) -> list[Name]:
        """The names of the numeric columns."""
        return [self.label, *self.scores, *self.weights.values()]

    @property
    def texts(self) -> list[Name]:
        """The names of the columns of ids and segments."""
        return [self.qid, *(name for name in (self.docid, self.by) if name is not None)]

    @property
    def names(self) -> list[Name]:
        """The names of all columns, without repetition."""
        return list(dict.fromkeys([*self.numbers, *self.texts]))


class Origin(NamedTuple):
    """Where a range of rows came from, for error messages."""

    start: int  # index of the range's first row
    offset: int  # subtracted from a row's index to get its index in the source
    locate: Locate

    def moved(self, n_rows: int) -> Origin:
        """Return the origin after `n_rows` other rows are inserted before its rows."""
        return Origin(self.start + n_rows, self.offset + n_rows, self.locate)


def locate_row(row: int, origins: Sequence[Origin]) -> str:
    """Return where a row came from, such as a file and line."""
    origin = origins[bisect_right(origins, row, key=lambda origin: origin.start) - 1]
    return origin.locate(row - origin.offset)


class StreamRows(NamedTuple):
    """Consecutive rows of a stream."""

    labels: Floats
    scores: tuple[Array, ...]  # one array per model
    ids: Array  # query id of each run of consecutive rows with the same query
    starts: NDArray[np.int64]  # first row of each run
    # optional: query_weight, row_weight, docid, by, and after sorting `row`, each row's number in the stream
    columns: dict[str, Array]
    origins: tuple[Origin, ...]
    may_continue: bool = True  # False at the start of a file, whose first query is always a new one

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.labels.size

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows of each run."""
        return np.diff(self.starts, append=self.n_rows)

    def locate(self, row: int) -> str:
        """Return the location of a row in the caller's data."""
        if "row" in self.columns:  # sorted rows have a single origin, which locates rows by their number in the stream
            return self.origins[0].locate(int(self.columns["row"][row]))
        return locate_row(row, self.origins)

    def number(self, row: int, n_before: int) -> int:
        """Return a row's index in the whole stream; `n_before` rows come before the rows of this object."""
        return int(self.columns["row"][row]) if "row" in self.columns else n_before + row

    def continues(self, previous: StreamRows) -> bool:
        """Return whether the first query continues the last query of the previous rows."""
        return self.may_continue and bool(self.ids[0] == previous.ids[-1])

    def split_last_query(self) -> tuple[StreamRows, StreamRows]:
        """Return the rows before the last query, and the rows of the last query."""
        return self._part(0, self.ids.size - 1), self._part(self.ids.size - 1, self.ids.size)

    def _part(self, first: int, last: int) -> StreamRows:
        """Return the rows of the runs with indices `first` to `last` - 1."""
        boundaries = np.append(self.starts, self.n_rows)
        start, stop = int(boundaries[first]), int(boundaries[last])
        rows, origins = slice(start, stop), []
        ends = [*(origin.start for origin in self.origins[1:]), self.n_rows]
        for origin, end in zip(self.origins, ends, strict=True):
            if end > start and origin.start < stop:
                origins.append(Origin(max(origin.start - start, 0), origin.offset - start, origin.locate))
        copy = np.copy if first else np.asarray  # a view of the last query would keep all rows in memory
        return StreamRows(
            copy(self.labels[rows]), tuple(copy(scores[rows]) for scores in self.scores), self.ids[first:last],
            self.starts[first:last] - start, {name: copy(column[rows]) for name, column in self.columns.items()},
            tuple(origins), self.may_continue or bool(first),
        )  # fmt: skip


class ColumnsOfRows(Protocol):
    """A table that checks each column when it is read."""

    def numbers(self, name: Name) -> Array:
        """Return a column of finite numbers."""

    def queries(self, name: Name) -> tuple[Array, NDArray[np.int64]]:
        """Return the query or segment of each run of consecutive rows that share it, and the first row of each run."""

    def docids(self, name: Name) -> Sequence[str]:
        """Return the document of each row."""


def read_columns(table: ColumnsOfRows, names: StreamColumns, origin: Origin) -> StreamRows:
    """Read the named columns of a table as StreamRows."""
    labels = table.numbers(names.label).astype(np.float64, copy=False)
    scores = tuple(as_numbers("scores", table.numbers(name)) for name in names.scores)
    ids, starts = table.queries(names.qid)
    columns: dict[str, Array] = {
        role: table.numbers(name).astype(np.float64, copy=False) for role, name in names.weights.items()
    }
    if names.docid is not None:
        columns["docid"] = as_objects(table.docids(names.docid))
    if names.by is not None:
        segments, starts_of_segments = table.queries(names.by)
        columns["by"] = np.repeat(segments, np.diff(starts_of_segments, append=labels.size))
    return StreamRows(labels, scores, ids, starts, columns, (origin,))


def as_objects(items: Sequence[str]) -> NDArray[np.object_]:
    """Return the docids as an array of objects."""
    column = np.empty(len(items), np.object_)
    column[:] = items
    return column


def joined(parts: Sequence[StreamRows]) -> StreamRows:
    """Join consecutive rows; a query that continues from part to part becomes one run."""
    if len(parts) == 1:
        return parts[0]
    ids, starts, origins, n_rows = [], [], [], 0
    for number, part in enumerate(parts):
        n_continued = int(number > 0 and part.continues(parts[number - 1]))
        ids.append(part.ids[n_continued:])
        starts.append(part.starts[n_continued:] + n_rows)
        origins += [origin.moved(n_rows) for origin in part.origins]
        n_rows += part.n_rows
    names = [name for name in parts[0].columns if all(name in part.columns for part in parts)]  # a part may lack docids
    return StreamRows(
        np.concatenate([part.labels for part in parts]),
        tuple(np.concatenate(scores) for scores in zip(*(part.scores for part in parts), strict=True)),
        np.concatenate(ids), np.concatenate(starts),
        {name: np.concatenate([part.columns[name] for part in parts]) for name in names},
        tuple(origins), parts[0].may_continue,
    )  # fmt: skip


def require_one_type(parts: Iterator[StreamRows]) -> Generator[StreamRows]:
    """Yield the parts with normalized ids; raise an error if the type of ids or scores changes."""
    first: dict[str, Any] = {}
    for part in parts:
        rows = part._replace(ids=id_column(part.ids))
        types = {"qid": id_kind(rows.ids), "scores": ", ".join(str(column.dtype) for column in rows.scores)}
        first = first or types
        for name, type_ in types.items():
            if type_ != first[name]:
                msg = (
                    f"{rows.locate(0)}: {name} has type {type_}, but {first[name]} in the batches before.\n"
                    "Hint: convert it to one type in all batches."
                )
                raise InputError(msg)
        yield rows
