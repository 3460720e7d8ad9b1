"""CSV and Parquet tables with named columns, through pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, overload

import numpy as np

from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError, MissingToolkitError
from rankadapters.core.kernels import dispatch
from rankadapters.io import splitting
from rankadapters.io.arrow_columns import ArrowColumns
from rankadapters.io.csv_lines import check_columns, read_csv, row_line, stream_csv
from rankadapters.io.judgments import Judgments, ScoredJudgments
from rankadapters.io.row_columns import docid_ranks, query_weights
from rankadapters.io.text import AnyPath, HeldFile

BATCH_ROWS = 200_000  # that a stream reads at once
_READ_AT_ONCE = 1 << 20  # bytes
_PARQUET = b"PAR1"


@overload
def read_table(
    path: AnyPath,
    *,
    label: str,
    score: None = ...,
    qid: str,
    docid: str | None = ...,
    weight: str | None = ...,
    split_queries: str = ...,
) -> Judgments: ...


@overload
def read_table(
    path: AnyPath,
    *,
    label: str,
    score: str,
    qid: str,
    docid: str | None = ...,
    weight: str | None = ...,
    split_queries: str = ...,
) -> ScoredJudgments: ...


def read_table(
    path: AnyPath,
    *,
    label: str,
    score: str | None = None,
    qid: str,
    docid: str | None = None,
    weight: str | None = None,
    split_queries: str = "error",
) -> Judgments:
    r"""Read a CSV or Parquet file with a row per document; which of the two it is, its content says.

    Parameters
    ----------
    path : path
        Parquet, or CSV in UTF-8 with commas and a header, which may be compressed by gzip or bzip2.
    label : str
        Column of finite numbers, of which integers are within 2^53.
    score : str, optional
        Another such column; float32 stays float32. Without it no scores are read.
    qid : str
        Column of the query of each row, not nested. In CSV it is text, so that 07 is not 7.
    docid : str, optional
        Column of strings, or of integers, which are taken as their decimal digits.
    weight : str, optional
        Column of row weights, equal within a query, as the weight of the query.
    split_queries : str
        What a query is that returns after another one: `error`, `merge` (one query) or `separate` (a query of its own).

    Returns
    -------
    Judgments or ScoredJudgments
        In the order of the file; with scores where their column was given.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing (the message lists those there are) or of the wrong type, a value
        is missing or not finite, a document stands twice in a query, or a weight changes within one.
    MissingToolkitError
        pyarrow is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name, "scored.csv")
    >>> _ = file.write_text("query,grade,model\n7,2,0.5\n7,0,0.75\n")
    >>> found = read_table(file, label="grade", score="model", qid="query")
    >>> found.queries, found.queries.query_ids.tolist(), found.scores.tolist()
    (Queries(1 queries, 2 rows), ['7'], [0.5, 0.75])
    >>> read_table(file, label="grade", qid="query").queries
    Queries(1 queries, 2 rows)
    >>> folder.cleanup()
    """
    splitting.check(split_queries)
    numbers = [name for name in (label, score, weight) if name is not None]
    file = TableFile.at(path)
    table = file.read(numbers, [name for name in (qid, docid) if name is not None])
    ids, starts = table.queries(qid)
    each = np.repeat(ids, np.diff(starts, append=table.columns.num_rows))
    query = splitting.split(each, starts, split_queries, file.place)
    queries = Queries(table.numbers(label), qid=query)
    if weight is not None:
        weights = query_weights(weight, table.numbers(weight), queries, file.place)
        queries = Queries(queries.labels, qid=query, query_weight=weights)
    if docid is not None:
        queries = queries.with_docid_ranks(docid_ranks(table.docids(docid), queries, file.place))
    judged = Judgments(queries=queries, place=file.place)
    return judged if score is None else judged.with_scores(table.numbers(score))


class TableFile(NamedTuple):
    """A file with named columns."""

    path: AnyPath
    is_parquet: bool

    @classmethod
    def at(cls, path: AnyPath) -> TableFile:
        """Look which kind of file it is."""
        try:
            import pyarrow as pa  # noqa: F401 - so that its absence is told before what is wrong in the file
        except ImportError as error:
            raise MissingToolkitError.of("pyarrow", "files") from error
        return cls(path, _is_parquet(path))

    def read(self, numbers: Sequence[str], texts: Sequence[str]) -> ArrowColumns:
        """Read the columns."""
        read = _read_parquet(self.path, [*numbers, *texts]) if self.is_parquet else read_csv(self.path, numbers, texts)
        return ArrowColumns(read, str(self.path), self.place)

    def batches(self, numbers: Sequence[str], texts: Sequence[str], step: Callable[[int, int], None]) -> Iterator[Any]:
        """Read the columns a few rows at a time; `step` is called with how much of how much was read."""
        if self.is_parquet:
            return _stream_parquet(self.path, [*numbers, *texts], step)
        return stream_csv(self.path, numbers, texts, step)

    def place(self, row: int) -> str:
        """File and line of a row, or in Parquet its number from 1."""
        return f"{self.path}, row {row + 1}" if self.is_parquet else f"{self.path}, line {row_line(self.path, row)}"


def _open(path: AnyPath) -> BinaryIO:
    return BytesIO(path.data) if isinstance(path, HeldFile) else Path(path).open("rb")


def _is_parquet(path: AnyPath) -> bool:
    try:
        with _open(path) as file:
            return file.read(len(_PARQUET)) == _PARQUET
    except OSError:
        return False  # reading it as text will say why


def _read_parquet(path: AnyPath, names: Sequence[str]) -> Any:
    with _parquet(path, names) as file:
        table = file.read(columns=list(dict.fromkeys(names)))
        _refuse_other_rows(path, file, table.num_rows)
        return table


def _stream_parquet(path: AnyPath, names: Sequence[str], step: Callable[[int, int], None]) -> Iterator[Any]:
    # Reading ahead would hold the columns of a row group, which may be the whole file.
    with _parquet(path, names, pre_buffer=False, buffer_size=_READ_AT_ONCE) as file:
        dispatch.expect_rows(file.metadata.num_rows)
        done = 0
        for batch in file.iter_batches(BATCH_ROWS, columns=list(dict.fromkeys(names))):
            done += batch.num_rows
            step(done, file.metadata.num_rows)
            yield batch
        _refuse_other_rows(path, file, done)


def _refuse_other_rows(path: AnyPath, file: Any, n_rows: int) -> None:
    """Refuse a broken file, of which pyarrow reads fewer rows than it says to hold, or more."""
    if n_rows != file.metadata.num_rows:
        msg = (
            f"{path} says that it holds {file.metadata.num_rows} rows, but {n_rows} can be read.\nHint: write it anew."
        )
        raise InputError(msg)


@contextmanager
def _parquet(path: AnyPath, names: Sequence[str], **options: Any) -> Iterator[Any]:
    """Open a file that has these columns, and rows."""
    import pyarrow as pa
    from pyarrow import parquet

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
