"""Rows of a stream: what every batch is brought to, whatever it came from."""

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

Place = Callable[[int], str]


class StreamColumns(NamedTuple):
    """Names of the columns of a batch; indices, where a batch is a tuple."""

    label: Name
    scores: tuple[Name, ...]  # of each model
    qid: Name
    query_weight: Name | None = None
    row_weight: Name | None = None
    docid: Name | None = None
    by: Name | None = None

    def checked(self) -> StreamColumns:
        """Return the same names; refuse what names no column."""
        for role, names in self._asdict().items():
            for name in names if isinstance(names, tuple) else [names]:
                optional = name is None and role not in {"label", "qid"}
                if not (optional or (isinstance(name, (str, int)) and not isinstance(name, bool))):
                    raise refusal("score" if role == "scores" else role, name, "names of columns")
        return self

    @property
    def weights(self) -> dict[str, Name]:
        """Columns of weights by role."""
        columns = {"query_weight": self.query_weight, "row_weight": self.row_weight}
        return {role: name for role, name in columns.items() if name is not None}

    @property
    def numbers(self) -> list[Name]:
        """Columns of numbers."""
        return [self.label, *self.scores, *self.weights.values()]

    @property
    def texts(self) -> list[Name]:
        """Columns of ids."""
        return [self.qid, *(name for name in (self.docid, self.by) if name is not None)]

    @property
    def names(self) -> list[Name]:
        """All columns, each once."""
        return list(dict.fromkeys([*self.numbers, *self.texts]))


class Origin(NamedTuple):
    """Where some rows came from."""

    start: int  # the first of them
    before: int  # what to subtract from the number of a row here, to get its number there
    place: Place

    def moved(self, n_rows: int) -> Origin:
        """Return the origin of the same rows where so many more stand before them."""
        return Origin(self.start + n_rows, self.before + n_rows, self.place)


def place_of(row: int, origins: Sequence[Origin]) -> str:
    """Say where a row came from, which is one of the rows of these origins."""
    origin = origins[bisect_right(origins, row, key=lambda each: each.start) - 1]
    return origin.place(row - origin.before)


class StreamRows(NamedTuple):
    """Rows that follow each other in a stream."""

    labels: Floats
    scores: tuple[Array, ...]  # of each model
    ids: Array  # query of each stretch of rows
    starts: NDArray[np.int64]  # first row of each
    # query_weight, row_weight, docid, by and, of rows that were sorted, their number in the stream: row
    more: dict[str, Array]
    origins: tuple[Origin, ...]
    goes_on: bool = True  # whether the first query may have begun in the rows before, as it cannot in another file

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.labels.size

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each stretch."""
        return np.diff(self.starts, append=self.n_rows)

    def place(self, row: int) -> str:
        """Say where a row stands in what was given."""
        if "row" in self.more:  # rows that were sorted have one origin, which knows them by their numbers
            return self.origins[0].place(int(self.more["row"][row]))
        return place_of(row, self.origins)

    def number(self, row: int, before: int) -> int:
        """Number of a row in the stream, of which so many rows stand before these."""
        return int(self.more["row"][row]) if "row" in self.more else before + row

    def follows(self, before: StreamRows) -> bool:
        """Tell whether the first query began in the rows before."""
        return self.goes_on and bool(self.ids[0] == before.ids[-1])

    def parted(self) -> tuple[StreamRows, StreamRows]:
        """Part the rows of the last query from those before."""
        return self._part(0, self.ids.size - 1), self._part(self.ids.size - 1, self.ids.size)

    def _part(self, first: int, last: int) -> StreamRows:
        """Rows of some stretches; what they do not hold of the memory of the others is let go."""
        bounds = np.append(self.starts, self.n_rows)
        start, stop = int(bounds[first]), int(bounds[last])
        rows, origins = slice(start, stop), []
        for origin, end in zip(self.origins, [*(each.start for each in self.origins[1:]), self.n_rows], strict=True):
            if end > start and origin.start < stop:
                origins.append(Origin(max(origin.start - start, 0), origin.before - start, origin.place))
        kept = np.copy if first else np.asarray  # a copy of a few rows, where a view would hold all
        return StreamRows(
            kept(self.labels[rows]), tuple(kept(scores[rows]) for scores in self.scores), self.ids[first:last],
            self.starts[first:last] - start, {name: kept(column[rows]) for name, column in self.more.items()},
            tuple(origins), self.goes_on or bool(first),
        )  # fmt: skip


class ColumnsOfRows(Protocol):
    """Columns that are checked as they are read."""

    def numbers(self, name: Name) -> Array:
        """Return finite numbers."""

    def queries(self, name: Name) -> tuple[Array, NDArray[np.int64]]:
        """Return the query, or the segment, of each stretch of rows, and its first row."""

    def docids(self, name: Name) -> Sequence[str]:
        """Return the document of each row."""


def read_columns(table: ColumnsOfRows, columns: StreamColumns, origin: Origin) -> StreamRows:
    """Read the rows of a table."""
    labels = table.numbers(columns.label).astype(np.float64, copy=False)
    scores = tuple(as_numbers("scores", table.numbers(name)) for name in columns.scores)
    ids, starts = table.queries(columns.qid)
    more: dict[str, Array] = {
        role: table.numbers(name).astype(np.float64, copy=False) for role, name in columns.weights.items()
    }
    if columns.docid is not None:
        more["docid"] = as_objects(table.docids(columns.docid))
    if columns.by is not None:
        segments, first = table.queries(columns.by)
        more["by"] = np.repeat(segments, np.diff(first, append=labels.size))
    return StreamRows(labels, scores, ids, starts, more, (origin,))


def as_objects(items: Sequence[str]) -> NDArray[np.object_]:
    """Hold docids in a column."""
    found = np.empty(len(items), np.object_)
    found[:] = items
    return found


def joined(parts: Sequence[StreamRows]) -> StreamRows:
    """Join rows that follow each other; a query that goes on from part to part becomes one stretch."""
    if len(parts) == 1:
        return parts[0]
    ids, starts, origins, n_rows = [], [], [], 0
    for number, part in enumerate(parts):
        new = int(number > 0 and part.follows(parts[number - 1]))
        ids.append(part.ids[new:])
        starts.append(part.starts[new:] + n_rows)
        origins += [each.moved(n_rows) for each in part.origins]
        n_rows += part.n_rows
    names = [name for name in parts[0].more if all(name in part.more for part in parts)]  # a line may have no docid
    return StreamRows(
        np.concatenate([part.labels for part in parts]),
        tuple(np.concatenate(scores) for scores in zip(*(part.scores for part in parts), strict=True)),
        np.concatenate(ids), np.concatenate(starts),
        {name: np.concatenate([part.more[name] for part in parts]) for name in names},
        tuple(origins), parts[0].goes_on,
    )  # fmt: skip


def of_one_type(parts: Iterator[StreamRows]) -> Generator[StreamRows]:
    """Give ids the widest type of their kind, and refuse queries of another kind and scores of another type."""
    first: dict[str, Any] = {}
    for part in parts:
        rows = part._replace(ids=id_column(part.ids))
        found = {"qid": id_kind(rows.ids), "scores": ", ".join(str(column.dtype) for column in rows.scores)}
        first = first or found
        for name, kind in found.items():
            if kind != first[name]:
                msg = (
                    f"{rows.place(0)}: {name} has type {kind}, but {first[name]} in the batches before.\n"
                    "Hint: convert it to one type in all batches."
                )
                raise InputError(msg)
        yield rows
