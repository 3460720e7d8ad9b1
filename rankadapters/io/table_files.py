"""Read named columns of CSV files, Parquet files and Parquet folders with pyarrow."""

from __future__ import annotations

import csv
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from io import TextIOWrapper
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

import numpy as np

from rankadapters.core.arrays import EXACT
from rankadapters.core.declaration.arguments import word
from rankadapters.core.errors import InputError
from rankadapters.io.judgments import SPLIT_QUERIES, Judgments, judgments_of
from rankadapters.io.rows import Names, id_array, locating, read_columns, require_pyarrow, score_role
from rankadapters.io.text import AnyPath, InexactError, as_path, copied, is_exact, is_pipe, open_text, readable
from rankadapters.progress import Step, steps

BATCH_ROWS = 200_000  # rows that are read at a time

_READ_AT_ONCE = 1 << 20  # bytes
_LONGEST_ROW = 1 << 22  # bytes of a row of CSV, and bytes that are read at once
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # what Spark and Hive write for a missing value
_CSV_ERROR = re.compile(r"(?:In CSV column #(\d+): |CSV parse error: )Row #(\d+): (.*)", re.DOTALL)
_QUOTES = "a field with quotes is quoted itself, and quotes within it are doubled"
_CSV_FORM = "a row per line, a comma or tab between fields as in the header, numbers with a decimal point, UTF-8"

_csv_limit = Lock()


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
    r"""Read a table with a row per document; the format is recognized by the content.

    Parameters
    ----------
    path : path
        A Parquet file, a folder of Parquet files, or text in UTF-8 with a header and commas or tabs, which may be
        compressed by gzip, bzip2 or zstd.
    label : str
        Column of finite numbers; integers must be within 2^53, and in CSV no number may have more digits than float64.
    score : str, optional
        Column of such numbers; float32 stays float32. None reads no scores.
    qid : str
        Column of the query of each row. In CSV it is text, so that 07 is not 7.
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
    Judgments
        The rows in the order of the file, with scores unless `score` is None.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing (the message lists those there are) or of the wrong type, a value
        is missing or not finite, a document is in a query twice, or a query weight changes within a query.
    MissingToolkitError
        pyarrow is not installed.

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
    word("split_queries", split_queries, SPLIT_QUERIES)
    scores = () if score is None else (score,)
    names = Names(
        label=label, scores=scores, qid=qid, query_weight=query_weight, row_weight=row_weight, docid=docid
    )  # fmt: skip
    require_pyarrow()
    reader = TableReader(names)
    with closing(file_batches(as_path(path), names, steps(progress=False))) as files:
        tables = [table for source, batches in files for table in reader.read(source, batches)]
    if not tables:
        raise _no_rows(path)
    import pyarrow as pa

    table = pa.concat_tables(tables)
    columns = {role: table.column(role) for role in table.column_names}
    weights = {role: columns[role].to_numpy() for role in ("query_weight", "row_weight") if role in columns}
    return judgments_of(
        columns["label"].to_numpy(), id_array(columns["qid"]),
        scores=columns[score_role(0)].to_numpy() if scores else None,
        docids=columns["docid"].to_pylist() if docid is not None else None,
        locate=reader.locate, split_queries=split_queries, weight_name=str(query_weight), **weights,
    )  # fmt: skip


class TableReader:
    """Reads tables in one form, source after source, and numbers their rows to say later where one came from."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._n_rows = 0
        self._sources: list[str] = []
        self._starts: list[int] = []  # number of each source's first row
        self._schema: Any = None

    def read(self, source: str, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the checked columns of each batch of a source, with the numbers of its rows in the column `row`.

        Raises
        ------
        InputError
            A value is wrong, or the type of a column changes.
        """
        import pyarrow as pa

        self._sources.append(source)
        self._starts.append(self._n_rows)
        for batch in self._counting(batches):
            numbers = np.arange(self._n_rows, self._n_rows + batch.num_rows)
            with locating(numbers, self.locate, source=source):
                table = read_columns(batch, self.names)
            self._check_types(table.schema)
            self._n_rows += batch.num_rows
            yield table.append_column("row", pa.array(numbers))

    def _counting(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches with rows; make an error of reading them count the rows of all sources."""
        try:
            yield from (batch for batch in batches if batch.num_rows)
        except InputError as error:
            if error.row is not None:
                error.row += self._starts[-1]
            raise

    def _check_types(self, schema: Any) -> None:
        self._schema = schema if self._schema is None else self._schema
        for field, first in zip(schema, self._schema, strict=True):
            if field.type != first.type:
                name = self.names.by_role[field.name]
                msg = f"{self.locate(self._n_rows)}: {name} has type {field.type}, but {first.type} in earlier rows."
                raise InputError(msg, hint="convert it to one type in all batches")

    def locate(self, number: int) -> str:
        """Return the source of a row, and the row's number in the source, from 1."""
        index = bisect_right(self._starts, number) - 1
        return f"{self._sources[index]}, row {number - self._starts[index] + 1}"


def columns_of(path: AnyPath) -> list[str]:
    """Return the names of a table's columns, without its rows.

    Raises
    ------
    InputError
        The file cannot be read.
    MissingToolkitError
        pyarrow is not installed.
    """
    require_pyarrow()
    from pyarrow import parquet

    first, constants = Path(path), list[str]()
    if first.is_dir():
        part = _parts(path)[0]
        first, constants = first / part, re.findall(r"([^/=]+)=[^/]*/", part.as_posix())
    with readable(first), first.open("rb") as file:
        is_parquet = file.read(4) == b"PAR1"
    if is_parquet:
        with arrow_errors(first):
            return [*parquet.read_schema(first).names, *constants]
    with open_text(path) as file:
        line = _Text(file).first_line()
    with readable(path):
        return next(csv.reader([line.decode()], delimiter="," if b"," in line else "\t"), [])


def file_batches(path: AnyPath, names: Names, step: Step) -> Generator[tuple[str, Iterator[Any]]]:
    """Yield each file of a path, and its batches with the named columns; `step` is called while they are read.

    Closing the generator removes the copy of a pipe.

    Raises
    ------
    InputError
        A file cannot be read, lacks a column, or has no rows.
    """
    if os.path.isdir(path):  # noqa: PTH112 - False for an empty or too long text, for which open() has an error
        yield from _folder_batches(path, names, step)
        return
    if is_pipe(path):
        with copied(path) as copy:
            for _, batches in file_batches(copy, names, step):
                yield str(path), _renamed(batches, copy, path)
        return
    with readable(path), Path(path).open("rb") as file:
        begin = file.peek(1)
    read = next(read for first_bytes, read in FORMATS.values() if begin.startswith(first_bytes))
    yield str(path), read(path, names, step)


def _renamed(batches: Iterator[Any], copy: Path, path: AnyPath) -> Iterator[Any]:
    """Yield the batches of a copy; its errors name the path that was copied."""
    try:
        yield from batches
    except InputError as error:
        raise InputError(str(error).replace(str(copy), str(path)), row=error.row) from None


def _parquet_batches(
    path: AnyPath, names: Names, step: Step, constants: Mapping[str, str] | None = None
) -> Iterator[Any]:
    """Read a Parquet file; `constants` has the columns that folder names give, and then it may have no rows."""
    import pyarrow as pa
    from pyarrow import parquet

    same = constants or {}
    # Pre-buffering would hold a whole row group in memory, which may be the whole file.
    options: dict[str, Any] = {"pre_buffer": False, "buffer_size": _READ_AT_ONCE, "page_checksum_verification": True}
    with arrow_errors(path), parquet.ParquetFile(str(path), **options) as file:
        names.check(str(path), [*file.schema_arrow.names, *same])
        n_rows, n_read = file.metadata.num_rows, 0
        if not n_rows and constants is None:
            raise _no_rows(path)
        for batch in file.iter_batches(BATCH_ROWS, columns=[name for name in names.all if name not in same]):
            n_read += batch.num_rows
            step(n_read, n_rows)
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            for name, value in same.items():
                text = None if value == _NO_VALUE else value
                columns[name] = pa.repeat(pa.scalar(text, pa.string()), batch.num_rows)
            yield pa.table(columns)
        if n_read != n_rows:
            msg = f"{path} says that it holds {n_rows} rows, but {n_read} can be read."
            raise InputError(msg, hint="write it again")


def _folder_batches(path: AnyPath, names: Names, step: Step) -> Iterator[tuple[str, Iterator[Any]]]:
    """Read a folder of Parquet files in the order of their paths, in which `country=se` is a column of texts."""
    folder, files = Path(path), _parts(path)
    for number, part in enumerate(files):
        step(number, len(files))
        pairs = re.findall(r"([^/=]+)=([^/]*)/", part.as_posix())
        constants = {key: value for key, value in pairs if key in names.all}
        yield str(folder / part), _parquet_batches(folder / part, names, steps(progress=False), constants)


def _parts(path: AnyPath) -> list[Path]:
    """Return the files of a folder, relative to it and in the order of their paths."""
    folder = Path(path)
    parts = sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    files = [part for part in parts if not any(name.startswith(("_", ".")) for name in part.parts)]
    if not files:
        raise InputError(f"{path} is a folder without Parquet files.", hint="name the file or files")
    return files


def _csv_batches(path: AnyPath, names: Names, step: Step) -> Iterator[Any]:
    import pyarrow as pa

    kinds = dict.fromkeys(names.ids.values(), pa.string()) | dict.fromkeys(names.numbers.values(), pa.float64())
    n_rows, has_large = 0, False
    with open_text(path, step) as file:
        text = _Text(file)
        header, delimiter = _header(path, text.first_line(), names)
        with arrow_errors(path, header):
            for batch in _open_csv(text, header, delimiter, kinds):
                n_rows += batch.num_rows
                has_large = has_large or any(_beyond_exact(batch.column(name)) for name in names.numbers.values())
                yield batch
    if not n_rows:
        raise _no_rows(path)
    if text.has_quotes:
        _check_quotes(path, delimiter, n_rows)
    if has_large:
        _check_digits(path, header, delimiter, list(dict.fromkeys(names.numbers.values())))


def _open_csv(text: _Text, header: Sequence[str], delimiter: str, kinds: Mapping[str, Any]) -> Any:
    """Return pyarrow's reader of the columns for which `kinds` has a type, after the header."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    return arrow_csv.open_csv(
        pa.PythonFile(text, "r"),
        read_options=arrow_csv.ReadOptions(use_threads=False, column_names=header, block_size=_LONGEST_ROW),
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=[*kinds], column_types=kinds, null_values=[""], strings_can_be_null=True
        ),
    )


def _beyond_exact(column: Any) -> bool:
    return bool((np.abs(column.to_numpy(zero_copy_only=False)) >= EXACT).any())


def _check_digits(path: AnyPath, header: Sequence[str], delimiter: str, columns: Sequence[str]) -> None:
    """Read a file with large numbers again, as texts, and refuse a number that is not exact as float64."""
    import pyarrow as pa

    n_rows = 0
    with open_text(path) as file, arrow_errors(path, header):
        text = _Text(file)
        text.first_line()
        for batch in _open_csv(text, header, delimiter, dict.fromkeys(columns, pa.string())):
            for name in columns:
                numbers = batch.column(name).to_pylist()
                row = next((row for row, number in enumerate(numbers) if number and not is_exact(number)), -1)
                if row >= 0:
                    msg = f"{path}, row {n_rows + row + 1}, column {name!r}: {numbers[row]!r:.60} {InexactError()}"
                    raise InputError(msg, row=n_rows + row)
            n_rows += batch.num_rows


class _Text:
    """Gives pyarrow the text of a file, and notes whether it has quotes."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._rest = file, b""
        self.has_quotes = False

    def first_line(self) -> bytes:
        """Return the first line that is not blank, which `read` leaves out; carriage returns end lines too."""
        text = next((line.lstrip(b"\r\n") for line in self._file if line.strip()), b"")
        line, _, rest = text.partition(b"\r")
        self._rest = b"\n" + rest  # pyarrow would drop a byte order mark at the beginning
        return line

    def read(self, n_bytes: int) -> bytes:
        """Return about as many bytes, or none at the end of the file."""
        block, self._rest = self._rest or self._file.read(n_bytes), b""
        self.has_quotes = self.has_quotes or b'"' in block
        return block

    def close(self) -> None:
        """Leave the file open: the `with` of the caller closes it."""


def _header(path: AnyPath, line: bytes, names: Names) -> tuple[list[str], str]:
    """Return the names of the columns and the delimiter, which is a tab if commas do not give the wanted names."""
    if not line:
        raise InputError(f"{path} is empty.", hint="a header, and a row per document")
    problem: Exception | None = None
    header, delimiter = list[str](), ","
    for delimiter in ",\t":  # a tab if commas do not give the wanted names
        try:
            header = next(csv.reader([line.decode()], delimiter=delimiter, strict=True))
        except (UnicodeDecodeError, csv.Error) as error:
            problem = problem or error
        if set(names.all) <= set(header) or b"\t" not in line:
            break
    if not header:
        raise InputError(f"{path}, header: {problem}.", hint=_CSV_FORM)
    names.check(str(path), header)
    return header, delimiter


def _check_quotes(path: AnyPath, delimiter: str, n_rows: int) -> None:
    """Read a file with quotes again, strictly: to pyarrow, a quote that is not closed hides the rows after it.

    Fields between tabs are seldom quoted, so there a field of several lines is a mistake too.
    """
    n_strict, n_blank = -1, 0  # without the header
    with open_text(path) as file, _long_fields():
        # Columns that are not read need not be UTF-8; pyarrow has checked the others.
        text = TextIOWrapper(file, "utf-8", errors="surrogateescape", newline="")
        rows = csv.reader(text, delimiter=delimiter, strict=True)
        try:
            for row in rows:
                n_strict, n_blank = n_strict + bool(row), n_blank + (not row)
                if delimiter == "\t" and rows.line_num > n_strict + 1 + n_blank:
                    raise InputError(f"{path}, line {rows.line_num} is within quotes.", hint=_QUOTES)
        except csv.Error as error:
            raise InputError(f"{path}, line {rows.line_num}: {error}.", hint=_QUOTES) from None
    if n_strict != n_rows:
        raise InputError(f"{path} has {n_rows} rows or {n_strict}, depending on how its quotes are read.", hint=_QUOTES)


@contextmanager
def _long_fields() -> Iterator[None]:
    """Raise the limit of Python's csv module, which all threads share, and restore it."""
    with _csv_limit:
        limit = csv.field_size_limit(4 * _LONGEST_ROW)
        try:
            yield
        finally:
            csv.field_size_limit(limit)


@contextmanager
def arrow_errors(
    path: AnyPath, header: Sequence[str] = (), *, hint: str = "give the path of a readable file"
) -> Iterator[None]:
    """Turn an error of pyarrow into an InputError that names the file and, in CSV, the row and the column."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if str(error) == "Empty CSV file":
            raise _no_rows(path) from None
        if "straddling object" in str(error):
            msg = f"{path}: a row or a field is longer than {_LONGEST_ROW} bytes."
            raise InputError(msg, hint="write the columns that are needed to a file of their own") from None
        if match := _CSV_ERROR.match(str(error)):
            column, row, problem = match.groups()
            where = f", column {header[int(column)]!r}" if column else ""
            msg = f"{path}, row {row}{where}: {problem.splitlines()[0]:.200}."
            raise InputError(msg, hint=_CSV_FORM, row=int(row) - 1) from None
        problem = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InputError(f"{path}: {problem}.", hint=hint) from None


def _no_rows(path: AnyPath) -> InputError:
    return InputError(f"{path} holds no rows.", hint="at least one row is needed")


# The first bytes of a file of each format, and what reads it; a file that begins with none of them is CSV.
FORMATS: Mapping[str, tuple[bytes, Callable[[AnyPath, Names, Step], Iterator[Any]]]] = {
    "Parquet": (b"PAR1", _parquet_batches),
    "CSV": (b"", _csv_batches),
}
