"""CSV files through pyarrow, and line by line where something is wrong, so that the line can be named."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from io import BytesIO, TextIOWrapper
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.columns import EXACT_INT
from rankadapters.core.errors import InputError
from rankadapters.io.text import AnyPath, bad_line, bad_number, is_finite, read_text

_WHITE = re.compile(rb"\s*+")


def read_csv(path: AnyPath, numbers: Sequence[str], texts: Sequence[str]) -> Any:
    """Read columns of finite numbers and of text from a CSV file with a header into a pyarrow table.

    Raises
    ------
    InputError
        The file cannot be read, lacks a column, or a line is malformed.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow

    data = read_text(path)
    _, header = next(_rows(path, data))
    check_columns(path, [*numbers, *texts], header)
    if not _has_rows(data):
        msg = f"{path} holds no rows below its header.\nHint: at least one row is needed."
        raise InputError(msg)
    types = {**dict.fromkeys(numbers, pa.float64()), **dict.fromkeys(texts, pa.string())}
    try:
        table = arrow.read_csv(
            pa.BufferReader(data),
            parse_options=arrow.ParseOptions(
                newlines_in_values=b'"' in data
            ),  # where none can be, parts are read at once
            convert_options=arrow.ConvertOptions(column_types=types, include_columns=list(types), null_values=[]),
        )
    except pa.ArrowException as error:
        _refuse_first_bad(path, data, header, numbers)
        msg = f"{path}: {str(error).splitlines()[0]}.\nHint: comma-separated values with a header."
        raise InputError(msg) from None
    if any(_may_be_merged(table.column(name).to_numpy()) for name in numbers):
        _refuse_first_bad(path, data, header, numbers)  # integers beyond 2^53 are told by their text alone
    return table


def _may_be_merged(column: NDArray[np.float64]) -> bool:
    large = ~(np.abs(column) < EXACT_INT)
    return bool(large.any() and np.isfinite(column[large]).any())


def _has_rows(data: bytes) -> bool:
    """Tell whether anything stands below the first line; the text is not copied for it."""
    end = data.find(b"\n")
    below = _WHITE.match(data, end)
    return end >= 0 and below is not None and below.end() < len(data)


def check_columns(path: AnyPath, wanted: Sequence[str], there: Sequence[str]) -> None:
    """Refuse a column that is missing, or there more than once."""
    for name in wanted:
        if list(there).count(name) != 1:
            what = "no column" if name not in there else "more than one column"
            msg = f"{path} has {what} {name!r}.\nHint: its columns are {', '.join(map(repr, there))}."
            raise InputError(msg)


def row_line(path: AnyPath, row: int) -> int:
    """Line on which a row ends, counted from 0 below the header."""
    return next(number for i, (number, _) in enumerate(_rows(path, read_text(path))) if i == row + 1)


def _rows(path: AnyPath, data: bytes) -> Iterator[tuple[int, list[str]]]:
    """Rows that hold anything, with the number of the line that each ends on."""
    reader = csv.reader(TextIOWrapper(BytesIO(data), encoding="utf-8", newline=""))
    try:
        for fields in reader:
            if fields:
                yield reader.line_num, fields
    except csv.Error as error:
        msg = f"{path}, line {reader.line_num}: {error}.\nHint: comma-separated values with a header."
        raise InputError(msg) from None


def _refuse_first_bad(path: AnyPath, data: bytes, header: list[str], numbers: Sequence[str]) -> None:
    places = [header.index(name) for name in numbers]
    rows = _rows(path, data)
    next(rows)
    for row, (at, fields) in enumerate(rows):
        if len(fields) != len(header):
            raise bad_line(path, at, ",".join(fields), f"{len(header)} fields as in the header", row=row)
        for place in places:
            if not is_finite(fields[place]):
                expected = f"a finite number in column {header[place]!r}"
                raise bad_number(path, at, ",".join(fields), fields[place], expected, row=row)
