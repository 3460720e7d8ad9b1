"""Read the batches of a stream, which may be tables of any library, and check their values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from rankadapters.core.data.columns import Array, as_column, as_numbers, refuse_non_finite, same_length, shared_index
from rankadapters.core.data.optional_columns import docid_texts
from rankadapters.core.data.queries import stretches
from rankadapters.core.errors import InputError
from rankadapters.io.csv_lines import check_columns
from rankadapters.io.letor import LetorFiles
from rankadapters.io.stream_rows import Origin, StreamColumns, StreamRows, as_objects
from rankadapters.io.table import BATCH_ROWS, arrow_rows, stream_table
from rankadapters.io.text import shift_error_rows
from rankadapters.progress import step_of_file

_FORMS = "a path, a table, an Arrow dataset, or an iterable of frames, record batches, mappings or tuples of arrays"

_COLLECT = "collect() of polars, to_arrow_table() of DuckDB; a Spark DataFrame goes to ra.spark.evaluate"


def stream_rows(batches: object, columns: StreamColumns) -> Iterator[StreamRows]:
    """Read a table or an iterable of batches as StreamRows; skip batches without rows.

    Raises
    ------
    InputError
        There are no batches, or a batch is malformed; the message names file and row or line, or the batch.
    """
    n_rows = 0
    for source in _sources(batches, columns):
        first = n_rows
        with shift_error_rows(first):
            for rows in source:
                if rows.n_rows:
                    yield rows
                n_rows += rows.n_rows


def _sources(batches: object, columns: StreamColumns) -> Iterator[Iterable[StreamRows]]:
    if isinstance(batches, LetorFiles):
        if columns.weights or columns.by is not None:
            what = "query_weight or row_weight" if columns.weights else "by"
            msg = f"{what} was given, but LETOR files have no such column.\nHint: drop it."
            raise InputError(msg)
        yield batches
        return
    parts = [batches] if isinstance(batches, (str, os.PathLike)) else _batches_of(batches, columns)
    n_files = len(parts) if isinstance(parts, Sequence) else 0
    for number, batch in enumerate(parts):
        if isinstance(batch, (str, os.PathLike)):
            yield stream_table(batch, columns, step_of_file(number, n_files))
        else:
            yield _rows(batch, columns, number + 1)


def _batches_of(batches: Any, columns: StreamColumns) -> Iterable[Any]:
    names = columns.names
    if hasattr(batches, "iter_batches"):  # pyarrow's ParquetFile
        check_columns("the Parquet file", names, batches.schema_arrow.names)
        return cast("Iterable[Any]", batches.iter_batches(BATCH_ROWS, columns=names))
    if hasattr(batches, "to_batches") and hasattr(batches, "get_fragments"):  # a Dataset; limit the read-ahead
        check_columns("the dataset", names, batches.schema.names)
        ahead = {"batch_readahead": 2, "fragment_readahead": 1}
        return cast("Iterable[Any]", batches.to_batches(columns=names, batch_size=BATCH_ROWS, **ahead))
    if _is_arrow(batches) and hasattr(batches, "to_batches"):
        return cast("Iterable[Any]", batches.to_batches(max_chunksize=BATCH_ROWS))
    if not _is_lazy(batches):
        if isinstance(batches, (Mapping, np.ndarray)) or _is_frame(batches) or hasattr(batches, "num_columns"):
            return [batches]
        if isinstance(batches, Iterable):
            return batches
    hint = _COLLECT if _is_lazy(batches) else "pandas.DataFrame({'label': ..., 'score': ..., 'qid': ...})"
    msg = f"batches is of type {type(batches).__name__}, but {_FORMS} is needed.\nHint: {hint}."
    raise InputError(msg)


def _is_arrow(value: object) -> bool:
    return type(value).__module__.partition(".")[0] == "pyarrow" and hasattr(value, "schema")


def _is_lazy(value: object) -> bool:
    """Return whether a frame is not computed yet: polars and Spark have `collect`, DuckDB has `fetchall`."""
    return hasattr(value, "collect") or hasattr(value, "fetchall")


def _is_frame(value: object) -> bool:
    return hasattr(value, "columns") and hasattr(value, "dtypes")


def _rows(batch: Any, columns: StreamColumns, number: int) -> Iterator[StreamRows]:
    where = f"batch {number}"
    locate = partial(_location, where)
    if _is_arrow(batch) and hasattr(batch, "num_columns"):
        check_columns(where, columns.names, batch.schema.names)
        yield from arrow_rows(batch, columns, where, locate)
        return
    try:
        yield from _array_rows(batch, columns, locate)
    except InputError as error:
        raise error.about(where) from None


def _location(where: str, row: int) -> str:
    return f"{where}, row {row + 1}"


def _array_rows(batch: Any, columns: StreamColumns, locate: Callable[[int], str]) -> Iterator[StreamRows]:
    """Read a batch of numpy arrays or lists, or a frame of pandas or polars."""
    if _is_lazy(batch):
        msg = f"it is of type {type(batch).__name__}, which has not computed its rows yet.\nHint: {_COLLECT}."
        raise InputError(msg)
    check_columns("it", columns.names, _names(batch))
    arrays = {name: batch[name] for name in columns.names}
    if not any(len(column) for column in arrays.values()):
        return
    shared_index({str(name): column for name, column in arrays.items()})
    labels = as_numbers("labels", arrays[columns.label]).astype(np.float64, copy=False)

    def read_column(name: str, column: Any, read: Callable[[str, object], Array] = as_numbers) -> Array:
        array = read(name, column)
        same_length(name, array, labels.size)
        return array

    scores = tuple(read_column("scores", arrays[name]) for name in columns.scores)
    for name, numbers in (("labels", labels), *(("scores", column) for column in scores)):
        refuse_non_finite(name, numbers)
    qid = read_column("qid", arrays[columns.qid], as_column)
    starts = stretches(qid)
    extra = {role: read_column(role, arrays[n]).astype(np.float64, copy=False) for role, n in columns.weights.items()}
    if columns.docid is not None:
        extra["docid"] = read_column("docid", arrays[columns.docid], _encoded)
    if columns.by is not None:
        extra["by"] = read_column("by", arrays[columns.by], as_column)
    yield StreamRows(labels, scores, qid[starts], starts, extra, (Origin(0, 0, locate),))


def _encoded(name: str, column: object) -> Array:
    texts = docid_texts(as_column(name, column))
    return as_objects(texts.tolist())


def _names(batch: Any) -> Sequence[Any]:
    if isinstance(batch, Mapping):
        return list(batch)
    if isinstance(batch, (tuple, list)):
        return range(len(batch))
    if _is_frame(batch):
        return list(batch.columns)
    if isinstance(batch, np.ndarray) and batch.dtype.names:
        return list(batch.dtype.names)
    msg = f"it is of type {type(batch).__name__}, which has no columns.\nHint: batches is {_FORMS}."
    raise InputError(msg)
