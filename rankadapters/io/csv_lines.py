"""CSV files through pyarrow, and line by line where something is wrong, so that the line can be named."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from io import TextIOWrapper
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import EXACT_INT
from rankadapters.core.errors import InputError
from rankadapters.io.blocks import BLOCK
from rankadapters.io.csv_quotes import QUOTE, quotes_fit
from rankadapters.io.line_blocks import line_blocks, opened
from rankadapters.io.text import AnyPath, HeldFile, Name, bad_line, bad_number, is_finite, read_text, readable

_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bz2"}

_FORM = "a row per line, fields with commas between them, numbers with a decimal point"


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
    quoted = _quoted(path, [data])
    header = _header(path, [*numbers, *texts])
    with _named_lines(path, header, numbers):
        table = arrow.read_csv(pa.BufferReader(data), **_options(numbers, texts, quoted=quoted))
    if not table.num_rows:
        raise _no_rows(path)
    _refuse_merged(path, header, numbers, table)
    return table


def stream_csv(
    path: AnyPath, numbers: Sequence[str], texts: Sequence[str], step: Callable[[int, int], None]
) -> Iterator[Any]:
    """Read columns as `read_csv` does, into record batches of some ten thousand rows.

    The text is looked through once before, so that what is not text is told first, and it is known whether line ends
    may stand in values. `step` is called with how many bytes of how many were read the second time.
    """
    from pyarrow import csv as arrow

    quoted = _quoted(path, line_blocks(path))
    header = _header(path, [*numbers, *texts])
    options = {"read_options": arrow.ReadOptions(block_size=BLOCK), **_options(numbers, texts, quoted=quoted)}
    n_rows = 0
    with (
        readable(path),
        _named_lines(path, header, numbers),
        _raw(path) as raw,
        arrow.open_csv(_text(raw), **options) as batches,
    ):
        for batch in batches:
            _refuse_merged(path, header, numbers, batch)
            step(raw.tell(), raw.size())
            n_rows += batch.num_rows
            yield batch
    if not n_rows:
        raise _no_rows(path)


def _raw(path: AnyPath) -> Any:
    """Open a file by pyarrow itself, whose threads would wait for Python's lock to read from one of Python's."""
    import pyarrow as pa

    return pa.BufferReader(path.data) if isinstance(path, HeldFile) else pa.OSFile(str(path))


def _text(raw: Any) -> Any:
    """Decompress."""
    import pyarrow as pa

    start = raw.read(max(map(len, _COMPRESSED)))
    raw.seek(0)
    found = next((name for magic, name in _COMPRESSED.items() if start.startswith(magic)), None)
    return raw if found is None else pa.CompressedInputStream(raw, found)


def _quoted(path: AnyPath, blocks: Iterable[bytes]) -> bool:
    """Tell whether anything is quoted in a text, and refuse quotes that do not enclose a field."""
    quoted = False

    def looked_at() -> Iterator[bytes]:
        nonlocal quoted
        for block in blocks:
            quoted = quoted or QUOTE in block
            yield block

    if not quotes_fit(looked_at()):
        for _ in _rows(path):  # which names the line
            pass
        msg = f"{path}: a quote that begins a field does not end it.\nHint: double a quote within a quoted field."
        raise InputError(msg)
    return quoted


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


def check_columns(path: AnyPath, wanted: Sequence[Name], there: Sequence[Name]) -> None:
    """Refuse a column that is missing, or there more than once."""
    for name in wanted:
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
