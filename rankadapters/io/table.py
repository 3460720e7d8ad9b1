"""CSV tables by Python's own reader and Parquet tables through pyarrow, with named columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, overload

import numpy as np

from rankadapters.arrow_columns import ArrowColumns
from rankadapters.core.data.columns import Array, as_numbers
from rankadapters.core.errors import InputError, MissingToolkitError
from rankadapters.core.kernels import dispatch
from rankadapters.io import splitting
from rankadapters.io.csv_lines import check_columns, stream_csv
from rankadapters.io.judgments import Judgments, ScoredJudgments, judgments_of
from rankadapters.io.stream_rows import Origin, StreamColumns, StreamRows, as_objects, joined
from rankadapters.io.text import AnyPath, HeldFile, after_rows, as_paths

BATCH_ROWS = 200_000  # that a stream reads at once
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
    r"""Read a CSV or Parquet file with a row per document; its content says which of the two it is.

    Parameters
    ----------
    path : path
        Parquet, or CSV in UTF-8 with commas and a header, which may be compressed by gzip or bzip2.
    label : str
        Column of finite numbers, of which integers are within 2^53.
    score : str, optional
        Another such column; float32 stays float32. None reads no scores.
    qid : str
        Column of the query of each row, not nested. In CSV it is text, so that 07 is not 7.
    query_weight : str, optional
        Column of query weights, equal within a query.
    row_weight : str, optional
        Column of row weights.
    docid : str, optional
        Column of strings, or of integers, which become their decimal digits.
    split_queries : str
        What a query is that returns after another one: `error`, `merge` (one query) or `separate` (a query of its own).

    Returns
    -------
    Judgments or ScoredJudgments
        In the order of the file; with scores unless `score` is None.

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
    >>> read = read_table(file, label="grade", score="model")
    >>> read.queries, read.queries.query_ids.tolist(), read.scores.tolist()
    (Queries(1 queries, 2 rows), ['7'], [0.5, 0.75])
    >>> read_table(file, label="grade", score=None).queries
    Queries(1 queries, 2 rows)
    >>> folder.cleanup()
    """
    splitting.check(split_queries)
    scores = () if score is None else (score,)
    columns = StreamColumns(label, scores, qid, query_weight, row_weight, docid)
    [file] = as_paths([path])
    rows = joined([rows for rows in stream_table(file, columns, lambda _done, _total: None) if rows.n_rows])
    return judgments_of(rows, split_queries, query_weight)


def stream_table(path: AnyPath, columns: StreamColumns, step: Callable[[int, int], None]) -> Iterator[StreamRows]:
    """Read a table batch by batch; `step` is called with how much of how much was read."""
    if not _is_parquet(path):
        yield from stream_csv(path, columns, step)
        return
    n_rows = 0
    for batch in _stream_parquet(path, [str(name) for name in columns.names], step):
        with after_rows(n_rows):
            yield from arrow_rows(batch, columns, str(path), partial(_place, path, n_rows))
        n_rows += batch.num_rows


def arrow_rows(batch: Any, columns: StreamColumns, where: str, place: Callable[[int], str]) -> Iterator[StreamRows]:
    """Check the columns of a record batch or a table, unless it has no rows."""
    import pyarrow as pa

    if not batch.num_rows:
        return
    table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
    checked = ArrowColumns(table, where, place)
    ids, starts = checked.queries(columns.qid)
    labels = checked.numbers(columns.label).astype(np.float64, copy=False)
    more: dict[str, Array] = {
        role: checked.numbers(name).astype(np.float64, copy=False) for role, name in columns.weights.items()
    }
    if columns.docid is not None:
        more["docid"] = as_objects(checked.docids(columns.docid))
    scores = tuple(as_numbers("scores", checked.numbers(name)) for name in columns.scores)
    yield StreamRows(labels, scores, ids, starts, more, (Origin(0, 0, place),))


def _place(path: AnyPath, first: int, row: int) -> str:
    return f"{path}, row {first + row + 1}"


def _open(path: AnyPath) -> BinaryIO:
    return BytesIO(path.data) if isinstance(path, HeldFile) else Path(path).open("rb")


def _is_parquet(path: AnyPath) -> bool:
    try:
        with _open(path) as file:
            return file.read(len(_PARQUET)) == _PARQUET
    except OSError:
        return False  # reading it as text will say why


def _stream_parquet(path: AnyPath, names: Sequence[str], step: Callable[[int, int], None]) -> Iterator[Any]:
    # Reading ahead would hold the columns of a row group, which may be the whole file.
    with _parquet(path, names, pre_buffer=False, buffer_size=_READ_AT_ONCE) as file:
        dispatch.expect_rows(file.metadata.num_rows)
        done = 0
        for batch in file.iter_batches(BATCH_ROWS, columns=list(dict.fromkeys(names))):
            done += batch.num_rows
            step(done, file.metadata.num_rows)
            yield batch
        if done != file.metadata.num_rows:  # a broken file
            stated = file.metadata.num_rows
            msg = f"{path} says that it holds {stated} rows, but {done} can be read.\nHint: write it anew."
            raise InputError(msg)


@contextmanager
def _parquet(path: AnyPath, names: Sequence[str], **options: Any) -> Iterator[Any]:
    """Open a file that has these columns, and rows."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingToolkitError.of("pyarrow", "files") from error
    try:
        # pyarrow opens a file itself, since it would read one of Python's in one thread at a time.
        source = pa.BufferReader(path.data) if isinstance(path, HeldFile) else str(path)
        with parquet.ParquetFile(source, **options) as file:
            check_columns(path, names, file.schema_arrow.names)
            if not file.metadata.num_rows:
                msg = f"{path} holds no rows.\nHint: at least one row is needed."
                raise InputError(msg)
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        msg = f"{path}: {str(error).splitlines()[0].rstrip('.')}.\nHint: give the path of a readable file."
        raise InputError(msg) from None
