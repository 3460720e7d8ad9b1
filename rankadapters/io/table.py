"""CSV and Parquet tables with named columns, through pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.columns import EXACT_INT, Array
from rankadapters.core.errors import InputError, MissingToolkitError
from rankadapters.core.queries import Queries
from rankadapters.io import splitting
from rankadapters.io.csv_lines import check_columns, read_csv, row_line
from rankadapters.io.docids import Texts, order_docids
from rankadapters.io.judgments import Judgments, ScoredJudgments
from rankadapters.io.text import MERGED, AnyPath, HeldFile

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
    table = _Table.read(path, numbers, [name for name in (qid, docid) if name is not None])
    query = table.queries(qid, split_queries)
    queries = Queries(table.numbers(label), qid=query)
    if weight is not None:
        queries = Queries(queries.labels, qid=query, query_weight=table.weights(weight, queries))
    if docid is not None:
        queries = queries.with_docid_ranks(table.docid_ranks(docid, queries))
    judged = Judgments(queries=queries, place=_Table(path, None, table.is_csv).place)
    return judged if score is None else judged.with_scores(table.numbers(score))


class _Table(NamedTuple):
    """Columns of a file; an error in a value names the file and the line or row."""

    path: AnyPath
    columns: Any  # a pyarrow table
    is_csv: bool

    @classmethod
    def read(cls, path: AnyPath, numbers: Sequence[str], texts: Sequence[str]) -> _Table:
        """Read the columns."""
        try:
            import pyarrow as pa  # noqa: F401 - so that its absence is told before what is wrong in the file
        except ImportError as error:
            raise MissingToolkitError.of("pyarrow", "files") from error
        if _is_parquet(path):
            return cls(path, _read_parquet(path, [*numbers, *texts]), is_csv=False)
        return cls(path, read_csv(path, numbers, texts), is_csv=True)

    def place(self, row: int) -> str:
        """File and line of a row, or in Parquet its number from 1."""
        return f"{self.path}, line {row_line(self.path, row)}" if self.is_csv else f"{self.path}, row {row + 1}"

    def numbers(self, name: str) -> Array:
        """Column of finite numbers."""
        from pyarrow import types

        column = self._column(name)
        exact = types.is_integer(column.type) or types.is_decimal(column.type)
        if not (exact or types.is_floating(column.type) or types.is_boolean(column.type)):
            raise self._wrong_type(name, column, "numbers are")
        values: Array = (column.cast("float64") if types.is_decimal(column.type) else column).to_numpy()
        if exact:
            self._refuse_merged(name, column, values)
            return values.astype(np.float64, copy=False)  # so that nobody looks again whether it merges any
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            msg = f"{self.place(row)}: {name} is {values[row]}; expected a finite number.\nHint: mend or drop the row."
            raise InputError(msg, row=row)
        return values

    def queries(self, name: str, split_queries: str) -> Array:
        """Query of each row, with those that return treated as said."""
        from pyarrow import types

        column = self._column(name)
        if types.is_nested(column.type):
            raise self._wrong_type(name, column, "one value per row is")
        qid, starts = _text_runs(column) if _is_text(column.type) else _runs(column.to_numpy())
        return splitting.split(qid, starts, split_queries, self.place)

    def weights(self, name: str, queries: Queries) -> Array:
        """Weight of each query."""
        weights = self.numbers(name)
        first, varies = queries.per_query(weights)
        if varies >= 0:
            row = int(np.flatnonzero(weights != queries.per_row(first))[0])
            msg = (
                f"{self.place(row)}: {name} is {weights[row]:g}, but another row of its query has another weight.\n"
                "Hint: a weight is the query's, so its rows must agree."
            )
            raise InputError(msg, row=row)
        return first

    def docid_ranks(self, name: str, queries: Queries) -> NDArray[np.int32]:
        """Order of the documents in each query."""
        from pyarrow import types

        column = self._column(name)
        if not (_is_text(column.type) or types.is_integer(column.type)):
            raise self._wrong_type(name, column, "strings or integers are")
        docids = [docid.encode() for docid in column.cast("string").to_pylist()]
        ordered = order_docids(queries.query_of_row, [Texts.of(docids)])
        if ordered.same.any():
            row = int(ordered.rows[1:][ordered.same].min())
            msg = f"{self.place(row)}: document {docids[row].decode()!r} stands in its query before.\nHint: drop one."
            raise InputError(msg, row=row)
        return ordered.ranks()

    def _refuse_merged(self, name: str, column: Any, values: Array) -> None:
        """Refuse integers and decimals that float64 need not tell from their neighbours."""
        if max(float(values.max()), -float(values.min())) < EXACT_INT:
            return
        for row in np.flatnonzero(np.abs(values.astype(np.float64)) >= EXACT_INT).tolist():
            exact = column[row].as_py()
            if abs(exact) > EXACT_INT:
                msg = f"{self.place(row)}: {name} is {exact}, which {MERGED}"
                raise InputError(msg, row=row)

    def _column(self, name: str) -> Any:
        column = self.columns.column(name)
        if hasattr(column.type, "value_type") and hasattr(column.type, "index_type"):
            column = column.cast(column.type.value_type)  # a dictionary, such as pandas' categories
        row = _missing(column)
        if row >= 0:
            msg = f"{self.place(row)}: {name} is missing.\nHint: mend or drop the row."
            raise InputError(msg, row=row)
        return column

    def _wrong_type(self, name: str, column: Any, needed: str) -> InputError:
        return InputError(
            f"{self.path}: column {name!r} has type {column.type}, but {needed} needed.\nHint: convert it first."
        )


def _missing(column: Any) -> int:
    """First row that is null, or empty text, which is how CSV writes it; -1 where there is none."""
    from pyarrow import compute

    if not (column.null_count or _is_text(column.type)):
        return -1
    missing = column.is_null()
    if _is_text(column.type):
        missing = compute.or_kleene(missing, compute.equal(column, ""))
    row: int = missing.index(True).as_py()
    return row


def _runs(qid: Array) -> tuple[Array, NDArray[np.int64]]:
    return qid, splitting.stretches_of(qid)


def _text_runs(column: Any) -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    """Text of each row, and the first row of each stretch with one text; Python sees a text once a stretch."""
    import pyarrow as pa
    from pyarrow import compute

    if str(column.type) == "string_view":
        column = column.cast("large_string")
    runs = compute.run_end_encode(column.combine_chunks(), run_end_type=pa.int64())
    ends = runs.run_ends.to_numpy()
    starts = np.append(0, ends[:-1])
    return np.repeat(np.asarray(runs.values.to_pylist(), dtype=np.str_), ends - starts), starts


def _is_text(kind: Any) -> bool:
    return str(kind) in {"string", "large_string", "string_view"}


def _open(path: AnyPath) -> BinaryIO:
    return BytesIO(path.data) if isinstance(path, HeldFile) else Path(path).open("rb")


def _is_parquet(path: AnyPath) -> bool:
    try:
        with _open(path) as file:
            return file.read(len(_PARQUET)) == _PARQUET
    except OSError:
        return False  # reading it as text will say why


def _read_parquet(path: AnyPath, names: Sequence[str]) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        # pyarrow opens a file itself, since it would read one of Python's in one thread at a time.
        with parquet.ParquetFile(BytesIO(path.data) if isinstance(path, HeldFile) else str(path)) as file:
            check_columns(path, names, file.schema_arrow.names)
            table = file.read(columns=list(dict.fromkeys(names)))
    except (pa.ArrowException, OSError) as error:
        msg = f"{path}: {str(error).splitlines()[0].rstrip('.')}.\nHint: give the path of a readable file."
        raise InputError(msg) from None
    if not table.num_rows:
        msg = f"{path} holds no rows.\nHint: at least one row is needed."
        raise InputError(msg)
    return table
