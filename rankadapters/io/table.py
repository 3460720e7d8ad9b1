"""Read named columns of CSV tables (with Python's csv module) and of Parquet tables (with pyarrow)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, overload

from rankadapters.arrow_columns import ArrowColumns
from rankadapters.core.data.columns import as_weights
from rankadapters.core.errors import InputError, MissingToolkitError
from rankadapters.io.csv_lines import check_columns, stream_csv
from rankadapters.io.judgments import Judgments, ScoredJudgments, check_split_queries, judgments_of
from rankadapters.io.stream_rows import Origin, StreamColumns, StreamRows, joined, read_columns
from rankadapters.io.text import AnyPath, LoadedFile, as_paths, shift_error_rows

BATCH_ROWS = 200_000  # rows that are read at a time
_READ_AT_ONCE = 1 << 20  # bytes
_PARQUET = b"PAR1"


@overload
def read_table(
    path: AnyPath, *, label: str = ..., score: None, qid: str = ..., query_weight: str | None = ...,
    row_weight: str | None = ..., docid: str | None = ..., split_queries: str = ...,
) -> Judgments: ...  # fmt: skip
@overload
def read_table(
    path: AnyPath, *, label: str = ..., score: str = ..., qid: str = ..., query_weight: str | None = ...,
    row_weight: str | None = ..., docid: str | None = ..., split_queries: str = ...,
) -> ScoredJudgments: ...  # fmt: skip
def read_table(
    path: AnyPath,
    *,
    label: str = "label",
    score: str | None = "score",
    qid: str = "qid",
    query_weight: str | None = None,
    row_weight: str | None = None,
    docid: str | None = None,
    split_queries: str = "error",
) -> Judgments:
    r"""Read a CSV or Parquet file with a row per document; the format is recognized by the content.

    Parameters
    ----------
    path : path
        Parquet, or CSV in UTF-8 with commas and a header, which may be compressed by gzip or bzip2.
    label : str
        Column of finite numbers; integers must be within 2^53.
    score : str, optional
        Column of such numbers; float32 stays float32. None reads no scores.
    qid : str
        Column of the query of each row, not nested. In CSV it is text, so that 07 is not 7.
    query_weight : str, optional
        Column of query weights, equal within a query.
    row_weight : str, optional
        Column of row weights.
    docid : str, optional
        Column of strings, or of integers, which become their decimal digits.
    split_queries : str
        What to do with a query that returns after other queries: `error`, `merge` (into one query) or `separate` (make
        it a new query).

    Returns
    -------
    Judgments or ScoredJudgments
        The rows in the order of the file, with scores unless `score` is None.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing (the message lists those there are) or of the wrong type, a value
        is missing or not finite, a document is in a query twice, or a query weight changes within a query.
    MissingToolkitError
        The file is Parquet, and pyarrow is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name, "scored.csv")
    >>> _ = file.write_text("qid,grade,model\n7,2,0.5\n7,0,0.75\n")
    >>> judgments = read_table(file, label="grade", score="model")
    >>> judgments.queries, judgments.queries.query_ids.tolist(), judgments.scores.tolist()
    (Queries(1 queries, 2 rows), ['7'], [0.5, 0.75])
    >>> read_table(file, label="grade", score=None).queries
    Queries(1 queries, 2 rows)
    >>> folder.cleanup()
    """
    check_split_queries(split_queries)
    scores = () if score is None else (score,)
    columns = StreamColumns(label, scores, qid, query_weight, row_weight, docid).checked()
    [file] = as_paths([path])
    rows = joined([rows for rows in stream_table(file, columns, lambda _done, _total: None) if rows.n_rows])
    return judgments_of(rows, split_queries, query_weight)


def stream_table(path: AnyPath, columns: StreamColumns, step: Callable[[int, int], None]) -> Iterator[StreamRows]:
    """Read a table batch by batch; `step` is called with the amount read so far and the total."""
    n_rows = 0
    for rows in (_parquet_rows if _is_parquet(path) else stream_csv)(path, columns, step):
        for role in columns.weights:
            try:
                as_weights(role, rows.columns[role], rows.n_rows, "row")
            except InputError as error:
                raise error.counted_on(n_rows, n_rows).about(rows.locate(error.row or 0)) from None
        yield rows
        n_rows += rows.n_rows


def _parquet_rows(path: AnyPath, columns: StreamColumns, step: Callable[[int, int], None]) -> Iterator[StreamRows]:
    n_rows = 0
    for batch in _stream_parquet(path, [str(name) for name in columns.names], step):
        with shift_error_rows(n_rows):
            yield from arrow_rows(batch, columns, str(path), partial(_location, path, n_rows))
        n_rows += batch.num_rows


def arrow_rows(batch: Any, columns: StreamColumns, where: str, locate: Callable[[int], str]) -> Iterator[StreamRows]:
    """Yield the checked rows of a record batch or table; yield nothing if it is empty."""
    import pyarrow as pa

    if not batch.num_rows:
        return
    table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
    yield read_columns(ArrowColumns(table, where, locate), columns, Origin(0, 0, locate))


def _location(path: AnyPath, first: int, row: int) -> str:
    return f"{path}, row {first + row + 1}"


def _open(path: AnyPath) -> BinaryIO:
    return BytesIO(path.data) if isinstance(path, LoadedFile) else Path(path).open("rb")


def _is_parquet(path: AnyPath) -> bool:
    try:
        with _open(path) as file:
            return file.read(len(_PARQUET)) == _PARQUET
    except OSError:
        return False  # reading the file as text then raises a clear error


def _stream_parquet(path: AnyPath, names: Sequence[str], step: Callable[[int, int], None]) -> Iterator[Any]:
    # Pre-buffering would hold a whole row group in memory, which may be the whole file.
    with _parquet(path, names, pre_buffer=False, buffer_size=_READ_AT_ONCE) as file:
        n_read = 0
        for batch in file.iter_batches(BATCH_ROWS, columns=list(dict.fromkeys(names))):
            n_read += batch.num_rows
            step(n_read, file.metadata.num_rows)
            yield batch
        if n_read != file.metadata.num_rows:  # the file is broken
            stated = file.metadata.num_rows
            msg = f"{path} says that it holds {stated} rows, but {n_read} can be read.\nHint: write it again."
            raise InputError(msg)


@contextmanager
def _parquet(path: AnyPath, names: Sequence[str], **options: Any) -> Iterator[Any]:
    """Open a Parquet file; refuse one that lacks these columns or has no rows."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingToolkitError.of("pyarrow", "files") from error
    try:
        # Let pyarrow open the path, since it reads Python's file objects in only one thread at a time.
        source = pa.BufferReader(path.data) if isinstance(path, LoadedFile) else str(path)
        with parquet.ParquetFile(source, **options) as file:
            check_columns(path, names, file.schema_arrow.names)
            if not file.metadata.num_rows:
                msg = f"{path} holds no rows.\nHint: at least one row is needed."
                raise InputError(msg)
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        msg = f"{path}: {str(error).splitlines()[0].rstrip('.')}.\nHint: give the path of a readable file."
        raise InputError(msg) from None
