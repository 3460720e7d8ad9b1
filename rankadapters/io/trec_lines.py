"""Lines of TREC qrels and runs as columns: through pyarrow where it is installed and the file is regular."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import EXACT_INT
from rankadapters.core.errors import InputError
from rankadapters.io.docids import Texts
from rankadapters.io.text import AnyPath, bad_line, bad_number, finite, is_finite, lines, read_rows_of_text


class Layout(NamedTuple):
    """What a line holds."""

    name: str
    expected: str
    fields: int
    number: int  # place of the label or the score; query and document stand first and third in both


QRELS = Layout("qrels", "'query iteration document label', the label a finite number", 4, 3)
RUN = Layout("run", "'query Q0 document rank score tag', the score a finite number", 6, 4)
_SWAPPED = "judgments (qrels) have four words a line, runs have six; perhaps the files are swapped"


class Lines(NamedTuple):
    """A parsed file."""

    path: AnyPath
    queries: list[str]  # in order of first appearance
    query: NDArray[np.int32]  # place of each line's query in `queries`
    docids: list[Texts]
    numbers: NDArray[np.float64]  # labels or scores
    notes: tuple[str, ...]  # what was passed over


def line_of(path: AnyPath, row: int) -> tuple[int, bytes]:
    """Line that a row came from, with its number."""
    return next(line for i, line in enumerate(_rows(read_rows_of_text(path))) if i == row)


def read_lines(path: AnyPath, layout: Layout) -> Lines:
    """Read qrels or a run.

    As in trec_eval, lines that begin with `#` are comments, and words after the tag of a run are not read.

    Raises
    ------
    InputError
        The file cannot be read, or a line is not as the layout says.

    References
    ----------
    trec_eval, get_qrels.c and get_trec_results.c ("Any field following run_id is ignored").
    """
    data = read_rows_of_text(path)
    return Lines(path, *(_regular(data, layout) or _any(path, data, layout)))


_Columns = tuple[list[str], NDArray[np.int32], list[Texts], NDArray[np.float64], tuple[str, ...]]


def _rows(data: bytes) -> Iterator[tuple[int, bytes]]:
    every = lines(data)
    return ((at, line) for at, line in every if not line.lstrip().startswith(b"#")) if b"#" in data else every


def _any(path: AnyPath, data: bytes, layout: Layout) -> _Columns:
    """Read line by line; this is what decides whether a line is right."""
    seen: dict[bytes, int] = {}
    query: list[int] = []
    docids: list[bytes] = []
    numbers: list[float] = []
    n_longer = 0
    _refuse_other_white(path, data, layout)
    for at, line in _rows(data):
        fields, number = _fields(path, at, line, layout, row=len(query))
        n_longer += len(fields) > layout.fields
        query.append(seen.setdefault(fields[0], len(seen)))
        docids.append(fields[2])
        numbers.append(number)
    if not seen:
        msg = f"{path}: every line begins with #.\nHint: {layout.expected}."
        raise InputError(msg)
    notes = tuple(_notes(layout, sum(1 for _ in lines(data)) - len(query), n_longer))
    names = [name.decode() for name in seen]
    return names, np.asarray(query, np.int32), [Texts.of(docids)], np.asarray(numbers), notes


def _refuse_other_white(path: AnyPath, data: bytes, layout: Layout) -> None:
    """Refuse vertical tabs and form feeds, at which Python would split a line into words."""
    if b"\v" in data or b"\f" in data:
        for row, (at, line) in enumerate(_rows(data)):
            if b"\v" in line or b"\f" in line:
                raise bad_line(path, at, line, layout.expected, hint=_SWAPPED, row=row)


def _fields(path: AnyPath, at: int, line: bytes, layout: Layout, *, row: int) -> tuple[list[bytes], float]:
    """Words of a line, and its label or score."""
    fields = line.split()
    if len(fields) != layout.fields and not _is_longer(fields, layout):
        raise bad_line(path, at, line, f"{layout.expected}, and one row on each line", hint=_SWAPPED, row=row)
    try:
        return fields, finite(fields[layout.number])
    except ValueError:
        raise bad_number(path, at, line, fields[layout.number], layout.expected, hint=_SWAPPED, row=row) from None


def _is_longer(fields: list[bytes], layout: Layout) -> bool:
    """Tell whether a line of a run has words after its tag, and neither a second row nor a document of two words."""
    if layout is not RUN or len(fields) < layout.fields:
        return False
    rank, tag = fields[3], fields[5]
    return is_finite(rank) >= is_finite(tag) and fields[6:7] != fields[1:2]


def _notes(layout: Layout, n_comments: int, n_longer: int) -> Iterator[str]:
    if n_comments:
        verbs = ("line", "begins", "was") if n_comments == 1 else ("lines", "begin", "were")
        yield "{1} {2} of the {0} {3} with # and {4} left out".format(layout.name, n_comments, *verbs)
    if n_longer:
        have = "1 line of the run has" if n_longer == 1 else f"{n_longer} lines of the run have"
        yield f"{have} words after the tag, which were not read"


def _regular(data: bytes, layout: Layout) -> _Columns | None:
    """Read in columns where one blank, or else one tab, stands between all fields; None where that is not so."""
    try:
        import pyarrow as pa
    except ImportError:
        return None
    if not _single_delimiters(data) or data.startswith(b"#") or b"\n#" in data:
        return None
    try:
        queries, documents, numbers = _parsed(data, layout)
    except pa.ArrowException:
        return None
    docids = [_texts(chunk) for chunk in documents.chunks if len(chunk)]
    coded = queries.combine_chunks().dictionary_encode()
    names = coded.dictionary.to_pylist()
    values = numbers.to_numpy()
    return (names, coded.indices.to_numpy(), docids, values, ()) if _plain(names, docids, values) else None


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
    return not (blank[1:] & blank[:-1]).any()


def _texts(column: Any) -> Texts:
    """Look at a pyarrow string array without copying its text."""
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    return Texts(np.frombuffer(data or b"", np.uint8), bounds[:-1], np.diff(bounds))


def _plain(queries: Iterable[str], docids: Iterable[Texts], numbers: NDArray[np.float64]) -> bool:
    """Tell whether no field is empty or holds white space, and no number is infinite or may be a merged integer."""
    if not numbers.size or not (np.abs(numbers) < EXACT_INT).all():
        return False
    if any(query.split() != [query] for query in queries):
        return False
    # White space has lower bytes than any other text, so one look at all of them is enough.
    return all(part.lengths.all() and part.used().min() > ord(" ") for part in docids)
