"""CSV files through pyarrow, and line by line where something is wrong, so that the line can be named.

A quote that begins a field ends it too, and any other quote is a character.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from io import TextIOWrapper
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import EXACT_INT
from rankadapters.core.errors import InputError
from rankadapters.io.line_blocks import BLOCK, line_blocks, opened
from rankadapters.io.text import AnyPath, HeldFile, Name, bad_line, bad_number, is_finite, readable

_QUOTE = b'"'
_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bz2"}

_OPEN = rb'"[^"]*+(?:""[^"]*+)*+'
_UNCLOSED = re.compile(_OPEN)
_FITTING = re.compile(rb'(?:[^"]++|(?<![^,\r\n])%s"(?=[,\r\n]|\Z)|(?<=[^,\r\n])")*+' % _OPEN)
_FORM = "a row per line, fields with commas between them, numbers with a decimal point"


def stream_csv(
    path: AnyPath, numbers: Sequence[str], texts: Sequence[str], step: Callable[[int, int], None]
) -> Iterator[Any]:
    """Read columns of finite numbers and of text from a CSV file with a header, as record batches.

    The text is checked once before, so that bytes that are not text are reported first, and it is known whether values
    may hold line ends. `step` is called with how many bytes of how many were read the second time.

    Raises
    ------
    InputError
        The file cannot be read, lacks a column, or a line is malformed.
    """
    from pyarrow import csv as arrow

    quoted = _quoted(path, line_blocks(path))
    header = _header(path, [*numbers, *texts])
    options = {"read_options": arrow.ReadOptions(block_size=BLOCK), **_options(numbers, texts, quoted=quoted)}
    n_rows = 0
    with (
        readable(path),
        _named_lines(path, header, numbers),
        _opened(path) as (raw, text),
        arrow.open_csv(text, **options) as batches,
    ):
        for batch in batches:
            _refuse_merged(path, header, numbers, batch)
            step(raw.tell(), raw.size())
            n_rows += batch.num_rows
            yield batch
    if not n_rows:
        raise _no_rows(path)


@contextmanager
def _opened(path: AnyPath) -> Iterator[tuple[Any, Any]]:
    """Open a file by pyarrow itself, whose threads would wait for Python's lock; also decompressed."""
    import pyarrow as pa

    with pa.BufferReader(path.data) if isinstance(path, HeldFile) else pa.OSFile(str(path)) as raw:
        start = raw.read(max(map(len, _COMPRESSED)))
        raw.seek(0)
        codec = next((name for magic, name in _COMPRESSED.items() if start.startswith(magic)), None)
        yield raw, raw if codec is None else pa.CompressedInputStream(raw, codec)


def _quoted(path: AnyPath, blocks: Iterable[bytes]) -> bool:
    """Tell whether anything is quoted in a text, and refuse quotes that do not enclose a field."""
    quoted = False

    def noted() -> Iterator[bytes]:
        nonlocal quoted
        for block in blocks:
            quoted = quoted or _QUOTE in block
            yield block

    if not quotes_fit(noted()):
        for _ in _rows(path):  # which names the line
            pass
        msg = f"{path}: a quote that begins a field does not end it.\nHint: double a quote within a quoted field."
        raise InputError(msg)
    return quoted


def quotes_fit(blocks: Iterable[bytes]) -> bool:
    r"""Tell whether every quoted field is closed, and ends there; blocks are of whole lines, which fields may span.

    pyarrow and Python read the text after a closing quote as more of the field, and all the rest of a file as one field
    whose quote is not closed.

    Examples
    --------
    >>> quotes_fit([b'a,"b ""c"" \n', b'",5" disk\n']), quotes_fit([b'"a"b\n']), quotes_fit([b'a\n"b\n'])
    (True, False, False)
    """
    rest = b""
    for block in blocks:
        if not rest and _QUOTE not in block:
            continue
        text = rest + block
        fitting = _FITTING.match(text)
        rest = text[fitting.end() :] if fitting else text
        if rest and (len(rest) > BLOCK or not _UNCLOSED.fullmatch(rest)):
            return False
    return not rest


def _header(path: AnyPath, wanted: Sequence[str]) -> list[str]:
    _, header = next(_rows(path))
    check_columns(path, wanted, header)
    return header


def _options(numbers: Sequence[str], texts: Sequence[str], *, quoted: bool) -> dict[str, Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow

    types = {**dict.fromkeys(numbers, pa.float64()), **dict.fromkeys(texts, pa.string())}
    return {
        "parse_options": arrow.ParseOptions(newlines_in_values=quoted),  # where none can be, parts are read at once
        "convert_options": arrow.ConvertOptions(column_types=types, include_columns=list(types), null_values=[]),
    }


@contextmanager
def _named_lines(path: AnyPath, header: list[str], numbers: Sequence[str]) -> Iterator[None]:
    """Name the line of what pyarrow refuses."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException as error:
        if not _refuse_first_bad(path, header, numbers):
            raise _no_rows(path) from None
        msg = f"{path}: {str(error).splitlines()[0]}.\nHint: comma-separated values with a header."
        raise InputError(msg) from None


def _refuse_merged(path: AnyPath, header: list[str], numbers: Sequence[str], columns: Any) -> None:
    """Refuse integers beyond 2^53, which are told by their text alone."""
    if any(_may_be_merged(columns.column(name).to_numpy()) for name in numbers):
        _refuse_first_bad(path, header, numbers)


def _no_rows(path: AnyPath) -> InputError:
    return InputError(f"{path} holds no rows below its header.\nHint: at least one row is needed.")


def _may_be_merged(column: NDArray[np.float64]) -> bool:
    large = ~(np.abs(column) < EXACT_INT)
    return bool(large.any() and np.isfinite(column[large]).any())


def check_columns(path: AnyPath, names: Sequence[Name], there: Sequence[Name]) -> None:
    """Refuse a column that is missing, or there more than once."""
    for name in names:
        if list(there).count(name) != 1:
            what = "no column" if name not in there else "more than one column"
            raise InputError(f"{path} has {what} {name!r}.\nHint: {_about_columns(name, there)}.")


def _about_columns(name: Name, there: Sequence[Name]) -> str:
    hint = f"its columns are {', '.join(map(repr, there))}"
    folded = {str(each).strip().casefold(): each for each in there}
    if near := get_close_matches(str(name).casefold(), folded, 1):
        return f"did you mean {folded[near[0]]!r}? {hint[0].upper()}{hint[1:]}"
    return f"{hint}; a CSV begins with a line of names, with commas between them"


def row_line(path: AnyPath, row: int) -> int:
    """Line on which a row ends, counted from 0 below the header."""
    return next(number for i, (number, _) in enumerate(_rows(path)) if i == row + 1)


def _rows(path: AnyPath) -> Iterator[tuple[int, list[str]]]:
    """Rows that hold anything, with the number of the line that each ends on."""
    with readable(path), opened(path) as file:
        reader = csv.reader(TextIOWrapper(file.data, encoding="utf-8", newline=""), strict=True)
        try:
            for fields in reader:
                if fields:
                    yield reader.line_num, fields
        except csv.Error as error:
            msg = (
                f"{path}, line {reader.line_num}: {error}.\n"
                "Hint: comma-separated values with a header; a quote within a quoted field is doubled."
            )
            raise InputError(msg) from None


def _refuse_first_bad(path: AnyPath, header: list[str], numbers: Sequence[str]) -> bool:
    """Name the first line that is not as it should be; where none is, tell whether there are any below the header."""
    places = [header.index(name) for name in numbers]
    rows, row = _rows(path), -1
    next(rows)
    for row, (at, fields) in enumerate(rows):
        if len(fields) != len(header):
            raise bad_line(path, at, ",".join(fields), f"{len(header)} fields as in the header", hint=_FORM, row=row)
        for place in places:
            if not is_finite(fields[place]):
                expected = f"a finite number in column {header[place]!r}"
                raise bad_number(path, at, ",".join(fields), fields[place], expected, hint=_FORM, row=row)
    return row >= 0
