"""Batches of a stream, in any form of a table, as checked rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from rankadapters.core.data.columns import Array, as_column, as_numbers, refuse_non_finite, same_length, shared_index
from rankadapters.core.data.grouping import stretches
from rankadapters.core.data.query_columns import docid_texts
from rankadapters.core.errors import InputError
from rankadapters.io.csv_lines import check_columns
from rankadapters.io.letor import LetorFiles
from rankadapters.io.stream_rows import Origin, StreamColumns, StreamRows, as_objects
from rankadapters.io.table import BATCH_ROWS, arrow_rows, stream_table
from rankadapters.io.text import after_rows
from rankadapters.progress import step_of_file

_FORMS = "a path, a table, an Arrow dataset, or an iterable of frames, record batches, mappings or tuples of arrays"

_COLLECT = "collect() of polars, to_arrow_table() of DuckDB; a Spark DataFrame goes to ra.spark.evaluate"


def stream_rows(batches: object, columns: StreamColumns) -> Iterator[StreamRows]:
    """Read a table or batches as rows; batches without rows are left out.

    Raises
    ------
    InputError
        There are no batches, or something in a batch is wrong; the message names file and row or line, or the batch.
    """
    n_rows = 0
    for source in _sources(batches, columns):
        first = n_rows
        with after_rows(first):
            for rows in source:
                if rows.n_rows:
                    yield rows
                n_rows += rows.n_rows


def _sources(batches: object, columns: StreamColumns) -> Iterator[Iterable[StreamRows]]:
    """Yield the rows of each file or batch."""
    if isinstance(batches, LetorFiles):
        if columns.weights or columns.by is not None:
            what = "query_weight or row_weight" if columns.weights else "by"
            msg = f"{what} was given, but LETOR files have no such column.\nHint: drop it."
            raise InputError(msg)
        yield batches
        return
    several = [batches] if isinstance(batches, (str, os.PathLike)) else _each(batches, columns)
    n_files = len(several) if isinstance(several, Sequence) else 0
    for number, batch in enumerate(several):
        if isinstance(batch, (str, os.PathLike)):
            yield stream_table(batch, columns, step_of_file(number, n_files))
        else:
            yield _rows(batch, columns, number + 1)


def _each(batches: Any, columns: StreamColumns) -> Iterable[Any]:
    """Return the batches of a table, or of what holds several."""
    names = columns.names
    if hasattr(batches, "iter_batches"):  # pyarrow's ParquetFile
        check_columns("the Parquet file", names, batches.schema_arrow.names)
        return cast("Iterable[Any]", batches.iter_batches(BATCH_ROWS, columns=names))
    if hasattr(batches, "to_batches") and hasattr(batches, "get_fragments"):  # its Dataset, read only a little ahead
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
    """Tell frames that are not computed yet: those of polars and Spark have `collect`, those of DuckDB `fetchall`."""
    return hasattr(value, "collect") or hasattr(value, "fetchall")


def _is_frame(value: object) -> bool:
    return hasattr(value, "columns") and hasattr(value, "dtypes")


def _rows(batch: Any, columns: StreamColumns, number: int) -> Iterator[StreamRows]:
    where = f"batch {number}"
    place = partial(_place, where)
    if _is_arrow(batch) and hasattr(batch, "num_columns"):
        check_columns(where, columns.names, batch.schema.names)
        yield from arrow_rows(batch, columns, where, place)
        return
    try:
        yield from _array_rows(batch, columns, place)
    except InputError as error:
        raise error.about(where) from None


def _place(where: str, row: int) -> str:
    return f"{where}, row {row + 1}"


def _array_rows(batch: Any, columns: StreamColumns, place: Callable[[int], str]) -> Iterator[StreamRows]:
    """Read columns of numpy, pandas, polars, or lists."""
    if _is_lazy(batch):
        msg = f"it is of type {type(batch).__name__}, which has not computed its rows yet.\nHint: {_COLLECT}."
        raise InputError(msg)
    check_columns("it", columns.names, _names(batch))
    given = {name: batch[name] for name in columns.names}
    if not any(len(column) for column in given.values()):
        return
    shared_index({str(name): column for name, column in given.items()})
    labels = as_numbers("labels", given[columns.label]).astype(np.float64, copy=False)

    def of_rows(name: str, column: Any, read: Callable[[str, object], Array] = as_numbers) -> Array:
        array = read(name, column)
        same_length(name, array, labels.size)
        return array

    scores = tuple(of_rows("scores", given[name]) for name in columns.scores)
    for name, numbers in (("labels", labels), *(("scores", column) for column in scores)):
        refuse_non_finite(name, numbers)
    qid = of_rows("qid", given[columns.qid], as_column)
    starts = stretches(qid)
    more = {role: of_rows(role, given[name]).astype(np.float64, copy=False) for role, name in columns.weights.items()}
    if columns.docid is not None:
        more["docid"] = of_rows("docid", given[columns.docid], _encoded)
    if columns.by is not None:
        more["by"] = of_rows("by", given[columns.by], as_column)
    yield StreamRows(labels, scores, qid[starts], starts, more, (Origin(0, 0, place),))


def _encoded(name: str, column: object) -> Array:
    texts = docid_texts(as_column(name, column))
    return as_objects(texts.tolist())


def _names(batch: Any) -> Sequence[Any]:
    """Names of the columns of a batch; indices of a tuple."""
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
