"""Read CSV files with Python's csv module, and check their values; errors name the line."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from io import StringIO
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import EXACT_INT, Array, Floats, text_column
from rankadapters.core.errors import InputError
from rankadapters.io.line_blocks import line_blocks
from rankadapters.io.stream_rows import Origin, StreamColumns, StreamRows, read_columns
from rankadapters.io.text import AnyPath, Name, bad_line, bad_number, is_finite

ROWS_AT_ONCE = 20_000

_FORM = "a row per line, fields with commas between them, numbers with a decimal point"
_NOT_FINITE = {"nan", "inf", "-inf"}
_NUMBERS = re.compile(r"[0-9eE+\-., \t]*+")  # text of only number characters and separators


def stream_csv(path: AnyPath, columns: StreamColumns, step: Callable[[int, int], None]) -> Iterator[StreamRows]:
    """Read columns of finite numbers and of text from a CSV file with a header.

    Parameters
    ----------
    path : path
        Text in UTF-8, which may be compressed by gzip or bzip2.
    columns : StreamColumns
        Names of the columns.
    step : callable
        Called with the number of bytes read so far and the file's size.

    Raises
    ------
    InputError
        The file cannot be read, lacks a column, or a line is malformed.
    """
    reader = _Reader(path, step)
    [header] = reader.take(1)
    check_columns(path, [str(name) for name in columns.names], header)
    n_rows = 0
    while fields := reader.take(ROWS_AT_ONCE):
        yield _Batch(path, header, fields, n_rows).rows(columns)
        n_rows += len(fields)
    if not n_rows:
        raise InputError(f"{path} holds no rows below its header.\nHint: at least one row is needed.")


def row_line(path: AnyPath, row: int) -> int:
    """Return the number of the line on which a row ends; the row after the header is row 0."""
    reader = _Reader(path)
    reader.take(row + 2)
    return reader.line


class _Reader:
    """The rows of a file, the header first, without empty lines."""

    def __init__(self, path: AnyPath, step: Callable[[int, int], None] | None = None) -> None:
        self._path = path
        blocks = (StringIO(block.decode(), newline="") for block in line_blocks(path, step))
        self._reader = csv.reader(chain.from_iterable(blocks), strict=True)
        self._rows = filter(None, self._reader)

    @property
    def line(self) -> int:
        """The number of the line on which the most recently read row ends."""
        return self._reader.line_num

    def take(self, n: int) -> list[list[str]]:
        """Return the fields of the next n rows, or of fewer at the end of the file."""
        try:
            return list(islice(self._rows, n))
        except csv.Error as error:
            msg = (
                f"{self._path}, line {self.line}: {error}.\n"
                "Hint: comma-separated values with a header; a quote within a quoted field is doubled."
            )
            raise InputError(msg) from None


class _Batch(NamedTuple):
    """Consecutive rows of a file."""

    path: AnyPath
    header: list[str]
    fields: list[list[str]]  # fields of each row
    n_before: int  # number of earlier rows in the file

    def rows(self, columns: StreamColumns) -> StreamRows:
        """Check the number of fields in each row, and read the requested columns."""
        for index, fields in enumerate(self.fields):
            if len(fields) != len(self.header):
                raise self._bad_line(index, f"{len(self.header)} fields as in the header")
        return read_columns(self, columns, Origin(0, -self.n_before, partial(_location, self.path)))

    def queries(self, name: Name) -> tuple[Array, NDArray[np.int64]]:
        """Return the query of each run of consecutive rows with the same query, and the first row of each run."""
        qid = self.docids(name)
        starts = [0, *(row for row in range(1, len(qid)) if qid[row] != qid[row - 1])]
        return text_column([qid[row] for row in starts]), np.asarray(starts)

    def _column(self, name: Name) -> list[str]:
        index = self.header.index(str(name))
        return [fields[index] for fields in self.fields]

    def numbers(self, name: Name) -> Floats:
        """Return a column of finite numbers."""
        texts = self._column(name)
        try:
            numbers = np.asarray(list(map(float, texts)))
            is_valid = bool(_NUMBERS.fullmatch(",".join(texts))) and bool((np.abs(numbers) < EXACT_INT).all())
        except ValueError:
            is_valid = False
        if is_valid:
            return numbers
        for index, text in enumerate(texts):
            row = self.n_before + index
            if text in _NOT_FINITE:
                problem = f"{name} is {float(text)}; expected a finite number"
                msg = f"{_location(self.path, row)}: {problem}.\nHint: fix or drop the row."
                raise InputError(msg, row=row)
            if not (_NUMBERS.fullmatch(text) and is_finite(text)):
                raise self._bad_line(index, f"a finite number in column {str(name)!r}", text)
        return numbers

    def docids(self, name: Name) -> list[str]:
        """Return a column of texts; raise an error if one is empty."""
        texts = self._column(name)
        if "" in texts:
            row = self.n_before + texts.index("")
            msg = f"{_location(self.path, row)}: {name} is missing.\nHint: fix or drop the row."
            raise InputError(msg, row=row)
        return texts

    def _bad_line(self, index: int, expected: str, number: str | None = None) -> InputError:
        text, row = ",".join(self.fields[index]), self.n_before + index
        line = row_line(self.path, row)
        if number is None:
            return bad_line(self.path, line, text, expected, hint=_FORM, row=row)
        return bad_number(self.path, line, text, number, expected, hint=_FORM, row=row)


def _location(path: AnyPath, row: int) -> str:
    return f"{path}, line {row_line(path, row)}"


def check_columns(path: AnyPath, names: Sequence[Name], columns: Sequence[Name]) -> None:
    """Refuse a column that is missing or occurs more than once."""
    for name in names:
        if list(columns).count(name) != 1:
            count = "no column" if name not in columns else "more than one column"
            raise InputError(f"{path} has {count} {name!r}.\nHint: {_column_hint(name, columns)}.")


def _column_hint(name: Name, columns: Sequence[Name]) -> str:
    hint = f"its columns are {', '.join(map(repr, columns))}"
    by_folded_name = {str(column).strip().casefold(): column for column in columns}
    if matches := get_close_matches(str(name).casefold(), by_folded_name, 1):
        return f"did you mean {by_folded_name[matches[0]]!r}? {hint[0].upper()}{hint[1:]}"
    return f"{hint}; a CSV begins with a line of names, with commas between them"
