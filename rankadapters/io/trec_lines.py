"""Lines of TREC qrels and runs as columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError
from rankadapters.io.line_blocks import row_blocks
from rankadapters.io.text import NEWLINE, AnyPath, bad_line, bad_number, finite, is_finite


class Layout(NamedTuple):
    """The words of a line."""

    name: str
    expected: str
    fields: int
    number: int  # index of the label or the score; query and document are first and third in both


QRELS = Layout("qrels", "'query iteration document label', the label a finite number", 4, 3)
RUN = Layout("run", "'query Q0 document rank score tag', the score a finite number", 6, 4)
_SWAPPED = "judgments (qrels) have four words a line, runs have six; perhaps the files are swapped"


class Lines(NamedTuple):
    """A parsed file."""

    path: AnyPath
    queries: list[str]  # in order of first appearance
    query: NDArray[np.int32]  # index of each line's query in `queries`
    docids: list[bytes]
    numbers: NDArray[np.float64]  # labels or scores
    notes: tuple[str, ...]  # lines and words that were not read


def line_of(path: AnyPath, row: int) -> tuple[int, bytes]:
    """Return the line that a row came from, with its number."""
    kept = ((at, line) for at, line in _lines(path) if not _is_comment(line))
    return next(line for i, line in enumerate(kept) if i == row)


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
    index: dict[bytes, int] = {}
    query: list[int] = []
    docids: list[bytes] = []
    numbers: list[float] = []
    n_comments = n_longer = 0
    for at, line in _lines(path):
        if _is_comment(line):
            n_comments += 1
            continue
        fields, number = _fields(path, at, line, layout, row=len(query))
        n_longer += len(fields) > layout.fields
        query.append(index.setdefault(fields[0], len(index)))
        docids.append(fields[2])
        numbers.append(number)
    if not index:
        msg = f"{path}: every line begins with #.\nHint: {layout.expected}."
        raise InputError(msg)
    queries, notes = [name.decode() for name in index], tuple(_notes(layout, n_comments, n_longer))
    return Lines(path, queries, np.asarray(query, np.int32), docids, np.asarray(numbers), notes)


def _lines(path: AnyPath) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that hold anything, numbered from 1."""
    number = 0
    for block in row_blocks(path):
        for number, line in enumerate(block.removesuffix(NEWLINE).split(NEWLINE), start=number + 1):  # noqa: B020 - goes on
            if line and not line.isspace():
                yield number, line


def _is_comment(line: bytes) -> bool:
    return line.lstrip().startswith(b"#")


def _fields(path: AnyPath, at: int, line: bytes, layout: Layout, *, row: int) -> tuple[list[bytes], float]:
    """Words of a line, and its label or score."""
    fields = line.split()
    if b"\v" in line or b"\f" in line:  # at which Python splits, and no other program does
        raise bad_line(path, at, line, layout.expected, hint=_SWAPPED, row=row)
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
