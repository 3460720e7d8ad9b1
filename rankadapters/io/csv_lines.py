"""CSV files by Python's own reader, as checked rows: what is wrong is named by its line."""

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

from rankadapters.core.data.columns import EXACT_INT, Array, Floats, text_column
from rankadapters.core.errors import InputError
from rankadapters.io.line_blocks import line_blocks
from rankadapters.io.stream_rows import Origin, StreamColumns, StreamRows, as_objects
from rankadapters.io.text import AnyPath, Name, bad_line, bad_number, is_finite

ROWS_AT_ONCE = 20_000

_FORM = "a row per line, fields with commas between them, numbers with a decimal point"
_NOT_FINITE = {"nan", "inf", "-inf"}
_OF_NUMBERS = re.compile(r"[0-9eE+\-., \t]*+")  # characters of numbers with commas between them


def stream_csv(path: AnyPath, columns: StreamColumns, step: Callable[[int, int], None]) -> Iterator[StreamRows]:
    """Read columns of finite numbers and of text from a CSV file with a header.

    Parameters
    ----------
    path : path
        Text in UTF-8, which may be compressed by gzip or bzip2.
    columns : StreamColumns
        Names of the columns.
    step : callable
        Called with how many bytes of how many were read.

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
    """Return the line on which a row ends, counted from 0 below the header."""
    reader = _Reader(path)
    reader.take(row + 2)
    return reader.line


class _Reader:
    """The rows of a file, of which the header is the first; lines that hold nothing are left out."""

    def __init__(self, path: AnyPath, step: Callable[[int, int], None] | None = None) -> None:
        self._path = path
        blocks = (StringIO(block.decode(), newline="") for block in line_blocks(path, step))
        self._reader = csv.reader(chain.from_iterable(blocks), strict=True)
        self._rows = filter(None, self._reader)

    @property
    def line(self) -> int:
        """Line on which the last row ends."""
        return self._reader.line_num

    def take(self, n: int) -> list[list[str]]:
        """Return the fields of the next rows, fewer where the file ends."""
        try:
            return list(islice(self._rows, n))
        except csv.Error as error:
            msg = (
                f"{self._path}, line {self.line}: {error}.\n"
                "Hint: comma-separated values with a header; a quote within a quoted field is doubled."
            )
            raise InputError(msg) from None


class _Batch(NamedTuple):
    """Rows that follow each other."""

    path: AnyPath
    header: list[str]
    fields: list[list[str]]  # of each row
    n_before: int  # rows of the file before these

    def rows(self, columns: StreamColumns) -> StreamRows:
        """Read the columns."""
        for at, fields in enumerate(self.fields):
            if len(fields) != len(self.header):
                raise self._bad_line(at, f"{len(self.header)} fields as in the header")
        labels = self._numbers(columns.label)
        qid = self._texts(columns.qid)
        starts = [0, *(row for row in range(1, len(qid)) if qid[row] != qid[row - 1])]
        more: dict[str, Array] = {role: self._numbers(name) for role, name in columns.weights.items()}
        if columns.docid is not None:
            more["docid"] = as_objects(self._texts(columns.docid))
        scores = tuple(self._numbers(name) for name in columns.scores)
        ids = text_column([qid[row] for row in starts])
        origins = (Origin(0, -self.n_before, partial(_place, self.path)),)
        return StreamRows(labels, scores, ids, np.asarray(starts), more, origins)

    def _column(self, name: Name) -> list[str]:
        index = self.header.index(str(name))
        return [fields[index] for fields in self.fields]

    def _numbers(self, name: Name) -> Floats:
        texts = self._column(name)
        try:
            numbers = np.asarray(list(map(float, texts)))
            is_clear = bool(_OF_NUMBERS.fullmatch(",".join(texts))) and bool((np.abs(numbers) < EXACT_INT).all())
        except ValueError:
            is_clear = False
        if is_clear:
            return numbers
        for at, text in enumerate(texts):
            row = self.n_before + at
            if text in _NOT_FINITE:
                what = f"{name} is {float(text)}; expected a finite number"
                msg = f"{_place(self.path, row)}: {what}.\nHint: mend or drop the row."
                raise InputError(msg, row=row)
            if not (_OF_NUMBERS.fullmatch(text) and is_finite(text)):
                raise self._bad_line(at, f"a finite number in column {str(name)!r}", text)
        return numbers

    def _texts(self, name: Name) -> list[str]:
        texts = self._column(name)
        if "" in texts:
            row = self.n_before + texts.index("")
            msg = f"{_place(self.path, row)}: {name} is missing.\nHint: mend or drop the row."
            raise InputError(msg, row=row)
        return texts

    def _bad_line(self, at: int, expected: str, number: str | None = None) -> InputError:
        shown, row = ",".join(self.fields[at]), self.n_before + at
        line = row_line(self.path, row)
        if number is None:
            return bad_line(self.path, line, shown, expected, hint=_FORM, row=row)
        return bad_number(self.path, line, shown, number, expected, hint=_FORM, row=row)


def _place(path: AnyPath, row: int) -> str:
    return f"{path}, line {row_line(path, row)}"


def check_columns(path: AnyPath, names: Sequence[Name], there: Sequence[Name]) -> None:
    """Refuse a column that is missing, or there more than once."""
    for name in names:
        if list(there).count(name) != 1:
            what = "no column" if name not in there else "more than one column"
            raise InputError(f"{path} has {what} {name!r}.\nHint: {_about_columns(name, there)}.")


def _about_columns(name: Name, there: Sequence[Name]) -> str:
    hint = f"its columns are {', '.join(map(repr, there))}"
    folded = {str(column).strip().casefold(): column for column in there}
    if near := get_close_matches(str(name).casefold(), folded, 1):
        return f"did you mean {folded[near[0]]!r}? {hint[0].upper()}{hint[1:]}"
    return f"{hint}; a CSV begins with a line of names, with commas between them"
