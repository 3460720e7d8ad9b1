"""Lines of TREC qrels and runs as columns: through pyarrow where it is installed and the file is regular."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.io.docids import Texts
from rankadapters.io.text import AnyPath, bad_line, finite, lines, read_text


class Layout(NamedTuple):
    """What a line holds."""

    expected: str
    fields: int
    number: int  # place of the label or the score; query and document stand first and third in both


QRELS = Layout("'query iteration document label', the label a finite number", 4, 3)
RUN = Layout("'query Q0 document rank score tag', the score a finite number", 6, 4)


class Lines(NamedTuple):
    """A parsed file."""

    path: AnyPath
    queries: list[str]  # in order of first appearance
    query: NDArray[np.int32]  # place of each line's query in `queries`
    docids: list[Texts]
    numbers: NDArray[np.float64]  # labels or scores


def line_of(path: AnyPath, row: int) -> tuple[int, bytes]:
    """Line that a row came from, with its number."""
    return next(line for i, line in enumerate(lines(read_text(path))) if i == row)


def read_lines(path: AnyPath, layout: Layout) -> Lines:
    """Read qrels or a run.

    Raises
    ------
    InputError
        The file cannot be read, or a line is not as the layout says.
    """
    data = read_text(path)
    columns = _regular(data, layout) or _any(path, data, layout)
    return Lines(path, *columns)


_Columns = tuple[list[str], NDArray[np.int32], list[Texts], NDArray[np.float64]]


def _any(path: AnyPath, data: bytes, layout: Layout) -> _Columns:
    """Read line by line; this is what decides whether a line is right."""
    seen: dict[bytes, int] = {}
    query: list[int] = []
    docids: list[bytes] = []
    numbers: list[float] = []
    for at, line in lines(data):
        fields = line.split()
        try:
            numbers.append(finite(fields[layout.number]))
        except (ValueError, IndexError):
            raise bad_line(path, at, line, layout.expected) from None
        if len(fields) != layout.fields:
            raise bad_line(path, at, line, layout.expected)
        query.append(seen.setdefault(fields[0], len(seen)))
        docids.append(fields[2])
    return [name.decode() for name in seen], np.asarray(query, np.int32), [Texts.of(docids)], np.asarray(numbers)


def _regular(data: bytes, layout: Layout) -> _Columns | None:
    """Read in columns where one blank, or else one tab, stands between all fields; None where that is not so."""
    try:
        import pyarrow as pa
    except ImportError:
        return None
    if not _single_delimiters(data):
        return None
    try:
        queries, documents, numbers = _parsed(data, layout)
    except pa.ArrowException:
        return None
    docids = [_texts(chunk) for chunk in documents.chunks if len(chunk)]
    coded = queries.combine_chunks().dictionary_encode()
    names = coded.dictionary.to_pylist()
    values = numbers.to_numpy()
    return (names, coded.indices.to_numpy(), docids, values) if _plain(names, docids, values) else None


def _parsed(data: bytes, layout: Layout) -> tuple[Any, Any, Any]:
    """Queries, documents and numbers as pyarrow columns."""
    import pyarrow as pa
    from pyarrow import csv

    names = [str(place) for place in range(layout.fields)]
    types = {"0": pa.string(), "2": pa.string(), str(layout.number): pa.float64()}
    table = csv.read_csv(
        pa.BufferReader(data),
        read_options=csv.ReadOptions(column_names=names),
        parse_options=csv.ParseOptions(delimiter="\t" if b"\t" in data else " ", quote_char=False),
        convert_options=csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[]),
    )
    return table.column(0), table.column(1), table.column(2)


def _single_delimiters(data: bytes) -> bool:
    """Tell whether no two white spaces stand beside each other, and all within lines are blanks or all are tabs."""
    unusual = (b"\x0b", b"\x0c", *([b" "] if b"\t" in data else []))
    if any(white in data for white in unusual) or data.endswith((b" ", b"\t")):
        return False
    blank = np.frombuffer(data, np.uint8) <= ord(" ")
    beside = int(np.count_nonzero(blank[1:] & blank[:-1]))
    n_returns = data.count(b"\r\n") if b"\r" in data else 0
    return beside == n_returns == data.count(b"\r")


def _texts(column: Any) -> Texts:
    """Look at a pyarrow string array without copying its text."""
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    return Texts(np.frombuffer(data or b"", np.uint8), bounds[:-1], np.diff(bounds))


def _plain(queries: Iterable[str], docids: Iterable[Texts], numbers: NDArray[np.float64]) -> bool:
    """Tell whether no field is empty or holds white space, and every number is finite."""
    if not numbers.size or not np.isfinite(numbers).all() or any(query.split() != [query] for query in queries):
        return False
    # White space has lower bytes than any other text, so one look at all of them is enough.
    return all(part.lengths.all() and part.used().min() > ord(" ") for part in docids)
