"""Rows of a stream sorted by query, on disk where they are many: DuckDB does it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from contextvars import copy_context
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rankadapters.arrow_columns import text_stretches
from rankadapters.core.data.grouping import stretches
from rankadapters.core.data.ids import id_kind
from rankadapters.core.errors import InputError, MissingToolkitError
from rankadapters.io.stream_rows import Origin, StreamRows
from rankadapters.io.table import BATCH_ROWS

# With more DuckDB is hardly faster: 22 s with 300 MB and 27 s with 200 MB for 50 million rows in no order.
MEMORY = "200MB"
PREFIX = "rankadapters-scratch-"  # of the folder of temporary files
_SORTED = {"integer", "unsigned integer", "float", "bool", "text"}  # ids that come back from DuckDB as they went


def sorted_by_query(parts: Iterator[StreamRows]) -> Generator[StreamRows]:
    """Give the rows query by query; those of a query stay in their order.

    Raises
    ------
    InputError
        Ids are neither numbers nor text, or the disk is full.
    MissingToolkitError
        DuckDB or pyarrow is not installed.
    """
    try:
        import duckdb
        import pyarrow as pa  # noqa: F401 - so that its absence is told before what is wrong in the data
    except ImportError as error:
        raise MissingToolkitError.of(str(error.name), "stream") from error
    first = next(parts, None)
    if first is None:
        return
    given = _Given(first, parts)
    with TemporaryDirectory(prefix=PREFIX) as folder, closing(duckdb.connect(config=_settings(folder))) as connection:
        with given.failures(duckdb.Error):
            batches = _sorted(connection, given)
        while True:
            with given.failures(duckdb.Error):
                batch = next(batches, None)
            if batch is None:
                return
            yield given.as_rows(batch)


def _settings(folder: str) -> dict[str, str | bool | int | float | list[str]]:
    return {"memory_limit": MEMORY, "temp_directory": folder, "preserve_insertion_order": False}


def _sorted(connection: Any, given: _Given) -> Iterator[Any]:
    """Sort in another thread, so that Ctrl-C and SIGTERM reach this one, and end it."""

    def run() -> Any:
        connection.execute("SET enable_progress_bar = false")  # which would stand among what the command prints
        connection.register("given", given.reader())
        return connection.sql("SELECT * FROM given ORDER BY qid, row").to_arrow_reader(BATCH_ROWS)

    with ThreadPoolExecutor(1) as pool:
        sorting = pool.submit(run)
        try:
            return iter(sorting.result())
        except BaseException:
            given.stopped = True  # an interrupt between two of DuckDB's steps is lost
            connection.interrupt()
            raise


class _Given:
    """Rows as Arrow batches, with their number in the stream, and back."""

    def __init__(self, first: StreamRows, others: Iterator[StreamRows]) -> None:
        self._first, self._others = first, others
        self._context = copy_context()  # in which a bar is shown; DuckDB asks for batches in threads of its own
        self._starts: list[int] = []
        self._parts: list[tuple[Origin, ...]] = []
        self._n_rows = 0
        self._failed: Exception | None = None
        self.stopped = False

    def reader(self) -> Any:
        """Batches as DuckDB takes them."""
        import pyarrow as pa

        batch = self._batch(self._first)
        return pa.RecordBatchReader.from_batches(batch.schema, self._until_stopped(self._batches(batch)))

    def as_rows(self, batch: Any) -> StreamRows:
        """Read a sorted batch."""
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        qid = columns.pop("qid")
        if str(qid.type) == "string":
            ids, starts = text_stretches(qid)
        else:
            numbers = qid.to_numpy(zero_copy_only=False)
            starts = stretches(numbers)
            ids = numbers[starts]
        found = {name: column.to_numpy(zero_copy_only=False) for name, column in columns.items()}
        labels = found.pop("label")
        scores = tuple(found.pop(f"score {model}") for model in range(len(self._first.scores)))
        return StreamRows(labels, scores, ids, starts, found, (Origin(0, 0, self._place),))

    @contextmanager
    def failures(self, kind: type[Exception]) -> Iterator[None]:
        """Raise what went wrong where the rows come from, of which DuckDB gives the text alone."""
        try:
            yield
        except kind as error:
            if self._failed is not None:
                raise self._failed from None
            msg = (
                f"sorting failed: {str(error).splitlines()[0]}\nHint: TMPDIR names a folder that has room for the rows."
            )
            raise InputError(msg) from None

    def _until_stopped(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            if self.stopped:
                raise InterruptedError
            yield batch

    def _batches(self, first: Any) -> Iterator[Any]:
        yield first
        try:
            while (rows := self._context.run(next, self._others, None)) is not None:
                yield self._batch(rows)
        except Exception as error:
            self._failed = error
            raise

    def _batch(self, rows: StreamRows) -> Any:
        import pyarrow as pa

        kind = id_kind(rows.ids)
        if kind not in _SORTED:
            msg = f"{rows.place(0)}: queries of type {kind} cannot be sorted.\nHint: numbers, or text."
            raise InputError(msg)
        self._starts.append(self._n_rows)
        self._parts.append(rows.origins)
        numbers = np.arange(self._n_rows, self._n_rows + rows.n_rows)
        self._n_rows += rows.n_rows
        columns = {
            "label": rows.labels,
            **{f"score {model}": scores for model, scores in enumerate(rows.scores)},
            **rows.more,
            "row": numbers,
        }
        arrays = {name: pa.array(column) for name, column in columns.items()}
        arrays["qid"] = pa.array(rows.ids).take(pa.array(np.repeat(np.arange(rows.ids.size), rows.sizes)))
        return pa.RecordBatch.from_pydict(arrays)

    def _place(self, number: int) -> str:
        part = bisect_right(self._starts, number) - 1
        row, origins = number - self._starts[part], self._parts[part]
        origin = origins[bisect_right(origins, row, key=lambda each: each.start) - 1]
        return origin.place(row - origin.before)
