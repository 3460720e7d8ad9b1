"""CSV and Parquet tables as a stream of checked rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from rankadapters.core.data.columns import Array, as_numbers
from rankadapters.io.arrow_columns import ArrowColumns
from rankadapters.io.stream_rows import Origin, StreamColumns, StreamRows, as_objects
from rankadapters.io.table import TableFile
from rankadapters.io.text import AnyPath, after_rows


def stream_table(path: AnyPath, columns: StreamColumns, step: Callable[[int, int], None]) -> Iterator[StreamRows]:
    """Read a table as `read_table` does, a few rows at a time.

    Raises
    ------
    InputError
        As `read_table`, where it comes to what is wrong.
    """
    file, n_rows = TableFile.at(path), 0
    for batch in file.batches([str(name) for name in columns.numbers], [str(name) for name in columns.texts], step):
        first = n_rows
        with after_rows(first):
            yield from arrow_rows(batch, columns, str(path), partial(_place, file, first))
        n_rows += batch.num_rows


def arrow_rows(batch: Any, columns: StreamColumns, where: str, place: Callable[[int], str]) -> Iterator[StreamRows]:
    """Check the columns of a record batch or a table, unless it has no rows."""
    import pyarrow as pa

    if not batch.num_rows:
        return
    table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
    found = ArrowColumns(table, where, place)
    ids, starts = found.queries(columns.qid)
    labels = found.numbers(columns.label).astype(np.float64, copy=False)
    more: dict[str, Array] = {
        role: found.numbers(name).astype(np.float64, copy=False)
        for role in ("weight", "row_weight")
        if (name := getattr(columns, role)) is not None
    }
    if columns.docid is not None:
        more["docid"] = as_objects(found.docids(columns.docid))
    scores = tuple(as_numbers("scores", found.numbers(name)) for name in columns.scores)
    yield StreamRows(labels, scores, ids, starts, more, (Origin(0, 0, place),))


def _place(file: TableFile, first: int, row: int) -> str:
    return file.place(first + row)
