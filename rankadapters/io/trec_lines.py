"""Read the lines of TREC qrels and runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import EXACT_INT
from rankadapters.core.errors import InputError
from rankadapters.io.line_blocks import row_blocks
from rankadapters.io.run_metadata import Header, read_header
from rankadapters.io.text import NEWLINE, AnyPath, bad_line, bad_number, finite, is_finite

_BLANK = np.isin(np.arange(256), list(b" \t\r\n"))  # bytes that separate words


class Layout(NamedTuple):
    """The format of a line: the number of words, and which word is the label or score."""

    name: str
    expected: str
    fields: int
    number: int  # index of the label or score; in both formats word 0 is the query and word 2 the document


QRELS = Layout("qrels", "'query iteration document label', the label a finite number", 4, 3)
RUN = Layout("run", "'query Q0 document rank score tag', the score a finite number", 6, 4)
_SWAPPED = "judgments (qrels) have four words a line, runs have six; perhaps the files are swapped"
_WORDS = "blanks and tabs separate words, no name has a blank in it, and there is no header"
_COLUMNS_OF_OTHERS = 3  # in BEIR's judgments and in MS MARCO's runs


class Lines(NamedTuple):
    """The parsed lines of qrels or a run."""

    path: AnyPath
    queries: list[str]  # in order of first appearance
    query: NDArray[np.int32]  # index of each line's query in `queries`
    docids: list[bytes]
    numbers: NDArray[np.float64]  # labels or scores
    notes: tuple[str, ...]  # lines and words that were not read
    header: Header


def line_of(path: AnyPath, row: int) -> tuple[int, bytes]:
    """Return the number and the text of the line that a row was read from."""
    lines = ((number, line) for number, line in _lines(path) if not _is_comment(line))
    return next(line for i, line in enumerate(lines) if i == row)


def read_lines(path: AnyPath, layout: Layout) -> Lines:
    """Read qrels or a run.

    As in trec_eval, lines that begin with `#` are comments, and words after the tag of a run are not read.

    Raises
    ------
    InputError
        The file cannot be read, or a line does not fit the layout.

    References
    ----------
    trec_eval, get_qrels.c and get_trec_results.c ("Any field following run_id is ignored").
    """
    rows = _RowReader(path, layout)
    for block in row_blocks(path):
        rows.add(block)
    if not rows.query_index:
        msg = f"{path}: every line begins with #.\nHint: {layout.expected}."
        raise InputError(msg)
    header = read_header(path, rows.first_comments) if layout is RUN else Header()
    notes = tuple(filter(None, [*_notes(layout, rows.n_comments - header.n_lines, rows.n_longer), header.note]))
    queries = [name.decode() for name in rows.query_index]
    return Lines(path, queries, np.asarray(rows.query, np.int32), rows.docids, np.asarray(rows.numbers), notes, header)


def numbering() -> defaultdict[bytes, int]:
    """Return a dictionary that numbers its keys in the order in which they are first looked up."""
    return defaultdict(count().__next__)


class _RowReader:
    """Collect the rows of a file, block by block."""

    def __init__(self, path: AnyPath, layout: Layout) -> None:
        self.path, self.layout = path, layout
        self.query_index = numbering()
        self.query: list[int] = []
        self.docids: list[bytes] = []
        self.numbers: list[float] = []
        self.first_comments: list[tuple[int, bytes]] = []  # comments before the first row
        self.n_lines = self.n_comments = self.n_longer = 0

    def add(self, block: bytes) -> None:
        """Add the rows of a block of whole lines: all at once if every line is a plain row, otherwise line by line."""
        block = block.removesuffix(NEWLINE)
        columns = _plain_columns(block, self.layout)
        if columns is None:
            self._add_lines(block.split(NEWLINE))
        else:
            names, docids, numbers = columns
            self.query += map(self.query_index.__getitem__, names)
            self.docids += docids
            self.numbers += numbers
        self.n_lines += block.count(NEWLINE) + 1

    def _add_lines(self, lines: list[bytes]) -> None:
        for line_number, line in _numbered(lines, self.n_lines):
            if _is_comment(line):
                self.n_comments += 1
                if not self.query_index:
                    self.first_comments.append((line_number, line))
                continue
            fields, number = _fields(self.path, line_number, line, self.layout, row=len(self.query))
            self.n_longer += len(fields) > self.layout.fields
            self.query.append(self.query_index[fields[0]])
            self.docids.append(fields[2])
            self.numbers.append(number)


def _plain_columns(block: bytes, layout: Layout) -> tuple[list[bytes], list[bytes], list[float]] | None:
    """Return queries, documents and numbers; None if a line is blank, a comment, or not exactly in the layout."""
    if b"\v" in block or b"\f" in block or not (_words_by_line(block) == layout.fields).all():
        return None
    words = block.split()
    queries, docids, texts = words[:: layout.fields], words[2 :: layout.fields], words[layout.number :: layout.fields]
    if b"#" in block and any(name.startswith(b"#") for name in queries):
        return None
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return None
    if b"_" in b"".join(texts) or not (np.abs(numbers) < EXACT_INT).all():
        return None
    if layout is RUN and any(map(is_finite, set(words[5::6]))) and not all(map(is_finite, set(words[3::6]))):
        return None
    return queries, docids, numbers


def _words_by_line(block: bytes) -> NDArray[np.int64]:
    r"""Count the words of each line.

    >>> _words_by_line(b"a  b\n\nc\n").tolist()
    [2, 0, 1, 0]
    """
    codes = np.frombuffer(block + NEWLINE, np.uint8)
    is_blank = _BLANK[codes]
    starts_word = ~is_blank
    starts_word[1:] &= is_blank[:-1]
    line_ends = np.flatnonzero(codes == ord(NEWLINE))
    return np.diff(np.cumsum(starts_word)[line_ends], prepend=0)


def _lines(path: AnyPath) -> Iterator[tuple[int, bytes]]:
    """Yield each line that is not blank, with its line number, counted from 1."""
    n_lines = 0
    for block in row_blocks(path):
        lines = block.removesuffix(NEWLINE).split(NEWLINE)
        yield from _numbered(lines, n_lines)
        n_lines += len(lines)


def _numbered(lines: list[bytes], n_before: int) -> Iterator[tuple[int, bytes]]:
    """Yield each line that is not blank, with its line number; `n_before` lines precede the first line."""
    return ((number, line) for number, line in enumerate(lines, start=n_before + 1) if line and not line.isspace())


def _is_comment(line: bytes) -> bool:
    return line.lstrip().startswith(b"#")


def _fields(path: AnyPath, line_number: int, line: bytes, layout: Layout, *, row: int) -> tuple[list[bytes], float]:
    fields = line.split()
    if b"\v" in line or b"\f" in line:  # Python's split() splits at these, other programs do not
        raise bad_line(path, line_number, line, layout.expected, hint=_WORDS, row=row)
    if not _has_layout(fields, layout):
        expected = f"{layout.expected}, and one row on each line"
        raise bad_line(path, line_number, line, expected, hint=_hint(fields, layout), row=row)
    try:
        return fields, finite(fields[layout.number])
    except ValueError:
        number = fields[layout.number]
        raise bad_number(path, line_number, line, number, layout.expected, hint=_WORDS, row=row) from None


def _has_layout(fields: list[bytes], layout: Layout) -> bool:
    """Return whether a line has the right number of words; in a run, no space in the docid may have shifted them."""
    if layout is QRELS or len(fields) < layout.fields:
        return len(fields) == layout.fields
    rank, tag = fields[3], fields[5]
    return is_finite(rank) >= is_finite(tag) and fields[6:7] != fields[1:2]  # words after the tag may be a second row


def _hint(fields: list[bytes], layout: Layout) -> str:
    """Suggest how to mend a line with the wrong words."""
    if len(fields) == (QRELS if layout is RUN else RUN).fields:
        return _SWAPPED
    if len(fields) != _COLUMNS_OF_OTHERS:
        return _WORDS
    if layout is RUN:
        return 'a run of MS MARCO has no scores; awk \'{print $1, "Q0", $2, $3, -$3, "tag"}\' makes them'
    rows = "" if is_finite(fields[-1]) else "NR > 1 "  # skips the header
    return f"a qrels.tsv of BEIR has no iterations; awk '{rows}{{print $1, 0, $2, $3}}' adds them"


def _notes(layout: Layout, n_comments: int, n_longer: int) -> Iterator[str]:
    if n_comments:
        verbs = ("line", "begins", "was") if n_comments == 1 else ("lines", "begin", "were")
        yield "{1} {2} of the {0} {3} with # and {4} left out".format(layout.name, n_comments, *verbs)
    if n_longer:
        lines = "1 line of the run has" if n_longer == 1 else f"{n_longer} lines of the run have"
        yield f"{lines} words after the tag, which were not read"
