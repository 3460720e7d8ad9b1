"""TREC qrels, alone or joined with a run as trec_eval joins them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import EXACT_INT, text_column
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.io.judgments import Judgments, ScoredJudgments, repeated
from rankadapters.io.line_blocks import row_blocks
from rankadapters.io.run_metadata import Header, read_header
from rankadapters.io.text import NEWLINE, AnyPath, as_path, bad_line, bad_number, finite, is_finite

_SHOWN = 3  # names of queries in a note


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
    header: Header


_NO_RUN = Lines("", [], np.empty(0, np.int32), [], np.empty(0), (), Header())


@overload
def read_trec(qrels: AnyPath, run: None = ...) -> Judgments: ...


@overload
def read_trec(qrels: AnyPath, run: AnyPath) -> ScoredJudgments: ...


def read_trec(qrels: AnyPath, run: AnyPath | None = None) -> Judgments:
    r"""Read TREC qrels, and a run where there is one.

    Lines are `query iteration document label` and `query Q0 document rank score tag`. As in trec_eval the rank is not
    read, and only queries of the qrels count. A document that was judged but not retrieved stands in the ideal list,
    one that was retrieved but not judged follows the convention's `unjudged`, a query of which nothing was retrieved
    its `missing`. Queries stand in the order of the qrels, retrieved rows in the order of the run. Lines that begin
    with `#`, and words after the tag, are passed over. The ir_metadata header of a run changes nothing else: it is kept
    as the result's `metadata`.

    Parameters
    ----------
    qrels : path
        A text file in UTF-8, gzip and bzip2 decompressed.
    run : path, optional
        Another; without it no scores are read, and the rows are those of the qrels.

    Returns
    -------
    Judgments or ScoredJudgments
        With docids, and with scores where there is a run; the note counts the run's queries that have no judgment, and
        lines and words passed over.

    Raises
    ------
    InputError
        A file cannot be read, a line or the header of the run is malformed, a document stands twice in a query, or no
        query is in both files.
        The message names file and line.

    References
    ----------
    trec_eval 9.0.8, get_trec_results.c, get_qrels.c and form_res_rels.c.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import rankadapters as ra
    >>> folder = tempfile.TemporaryDirectory()
    >>> qrels, run = Path(folder.name, "qrels"), Path(folder.name, "run")
    >>> _ = qrels.write_text("q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 1\n")
    >>> _ = run.write_text("q1 Q0 d2 1 0.9 tag\nq1 Q0 d1 2 0.5 tag\nq2 Q0 d1 1 0.5 tag\n")
    >>> found = read_trec(qrels, run)
    >>> found.queries, found.scores.tolist(), found.note
    (Queries(1 queries, 3 rows), [0.9, 0.5, nan], '1 query of the run is not in the qrels and was left out: q2')
    >>> round(ra.evaluate(found.queries, found.scores, ra.presets.trec_eval_9(10)).value, 4)
    0.3869
    >>> read_trec(qrels).queries
    Queries(1 queries, 3 rows)
    >>> folder.cleanup()
    """
    judged, retrieved = read_lines(as_path(qrels), QRELS), _NO_RUN if run is None else read_lines(as_path(run), RUN)
    _refuse_twice(judged)
    _refuse_twice(retrieved)
    if run is not None and not set(retrieved.queries) & set(judged.queries):
        msg = (
            f"{run}: none of its queries, such as {retrieved.queries[0]!r}, is in {qrels}, which has "
            f"{judged.queries[0]!r}.\nHint: the two files must name queries alike."
        )
        raise InputError(msg)
    return _joined(judged, retrieved)


def _refuse_twice(lines: Lines) -> None:
    first, row = repeated(zip(lines.query.tolist(), lines.docids, strict=True))
    if row < 0:
        return
    number, line = _line_of(lines.path, row)
    query, document = _names(line)
    msg = (
        f"{lines.path}, line {number}: document {document!r} of query {query!r} stands in line "
        f"{_line_of(lines.path, first)[0]} too.\nHint: drop one of the two."
    )
    raise InputError(msg, row=row)


def _names(line: bytes) -> tuple[str, str]:
    """Query and document of a line; blanks that only Unicode knows are part of a name."""
    query, _, document = line.split()[:3]
    return query.decode(), document.decode()


def _joined(judged: Lines, retrieved: Lines) -> Judgments:
    """Join the lines of the run, and after them the judged documents that it lacks, by query in the qrels' order."""
    n_run, numbers = retrieved.numbers.size, {name: number for number, name in enumerate(judged.queries)}
    run_query = np.asarray([numbers.get(name, -1) for name in retrieved.queries], np.int64)[retrieved.query]
    qrels_row = {key: row for row, key in enumerate(zip(judged.query.tolist(), judged.docids, strict=True))}
    keys = zip(run_query.tolist(), retrieved.docids, strict=True)
    pair = np.asarray([qrels_row.get(key, -1) for key in keys], np.int64)  # row of the qrels, of each row of the run
    query = np.concatenate([run_query, judged.query])
    kept = query >= 0
    kept[n_run + pair[pair >= 0]] = False
    rows = np.flatnonzero(kept)
    rows = rows[np.argsort(query[rows], kind="stable")]
    labels = np.concatenate([np.where(pair >= 0, judged.numbers[pair], np.nan), judged.numbers])
    docids = [*retrieved.docids, *judged.docids]
    alone = retrieved is _NO_RUN
    queries = Queries(
        labels[rows],
        qid=np.asarray(judged.queries)[query[rows]],
        docid=text_column([docids[row].decode() for row in rows.tolist()]),
        retrieved=None if alone else rows < n_run,
        judged=None if alone else ~np.isnan(labels[rows]),
    )
    place = partial(_place, qrels=judged.path, run=retrieved.path, rows=rows, n_run=n_run)
    metadata = retrieved.header.metadata
    judgments = Judgments(queries=queries, place=place, note=_note(judged, retrieved), metadata=metadata)
    scores = np.concatenate([retrieved.numbers, np.full(judged.numbers.size, np.nan)])
    return judgments if alone else judgments.with_scores(scores[rows])


def _place(row: int, *, qrels: AnyPath, run: AnyPath, rows: NDArray[np.int64], n_run: int) -> str:
    at = int(rows[row])
    path, at = (run, at) if at < n_run else (qrels, at - n_run)
    number, line = _line_of(path, at)
    query, document = _names(line)
    return f"{path}, line {number} (document {document!r} of query {query!r})"


def _note(judged: Lines, retrieved: Lines) -> str:
    return "; ".join([*judged.notes, *retrieved.notes, *_left_out(judged, retrieved)])


def _left_out(judged: Lines, retrieved: Lines) -> Iterator[str]:
    known = set(judged.queries)
    names = [name for name in retrieved.queries if name not in known]
    if not names:
        return
    queries = "1 query of the run is" if len(names) == 1 else f"{len(names)} queries of the run are"
    shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    yield f"{queries} not in the qrels and {'was' if len(names) == 1 else 'were'} left out: {shown}"


def _line_of(path: AnyPath, row: int) -> tuple[int, bytes]:
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
    rows = _Rows(path, layout)
    for block in row_blocks(path):
        rows.add(block)
    if not rows.index:
        msg = f"{path}: every line begins with #.\nHint: {layout.expected}."
        raise InputError(msg)
    header = read_header(path, rows.head) if layout is RUN else Header()
    notes = tuple(filter(None, [*_notes(layout, rows.n_comments - header.n_lines, rows.n_longer), header.note]))
    queries = [name.decode() for name in rows.index]
    return Lines(path, queries, np.asarray(rows.query, np.int32), rows.docids, np.asarray(rows.numbers), notes, header)


class _Rows:
    """The rows of a file that were read so far."""

    def __init__(self, path: AnyPath, layout: Layout) -> None:
        self.path, self.layout = path, layout
        self.index: dict[bytes, int] = {}  # number of each query, in order of first appearance
        self.query: list[int] = []
        self.docids: list[bytes] = []
        self.numbers: list[float] = []
        self.head: list[tuple[int, bytes]] = []  # comments before the first row
        self.n_lines = self.n_comments = self.n_longer = 0

    def add(self, block: bytes) -> None:
        """Read a block of whole lines: at once where all of them are rows of the layout, else line by line."""
        lines = block.removesuffix(NEWLINE).split(NEWLINE)
        columns = _plain_columns(block, lines, self.layout)
        if columns is None:
            self._add_lines(lines)
        else:
            names, docids, numbers = columns
            index = self.index
            self.query += [index.setdefault(name, len(index)) for name in names]
            self.docids += docids
            self.numbers += numbers
        self.n_lines += len(lines)

    def _add_lines(self, lines: list[bytes]) -> None:
        for at, line in _numbered(lines, self.n_lines):
            if _is_comment(line):
                self.n_comments += 1
                if not self.index:
                    self.head.append((at, line))
                continue
            fields, number = _fields(self.path, at, line, self.layout, row=len(self.query))
            self.n_longer += len(fields) > self.layout.fields
            self.query.append(self.index.setdefault(fields[0], len(self.index)))
            self.docids.append(fields[2])
            self.numbers.append(number)


def _plain_columns(
    block: bytes, lines: list[bytes], layout: Layout
) -> tuple[tuple[bytes, ...], tuple[bytes, ...], list[float]] | None:
    """Return queries, documents and numbers; None where a line is not a plain row of the layout."""
    rows = list(map(bytes.split, lines))
    if set(map(len, rows)) != {layout.fields} or b"\v" in block or b"\f" in block:
        return None
    columns = list(zip(*rows, strict=True))
    if b"#" in block and any(name.startswith(b"#") for name in columns[0]):
        return None
    texts = columns[layout.number]
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return None
    if b"_" in b"".join(texts) or not (np.abs(numbers) < EXACT_INT).all():
        return None
    return columns[0], columns[2], numbers


def _lines(path: AnyPath) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that hold anything, numbered from 1."""
    n_lines = 0
    for block in row_blocks(path):
        lines = block.removesuffix(NEWLINE).split(NEWLINE)
        yield from _numbered(lines, n_lines)
        n_lines += len(lines)


def _numbered(lines: list[bytes], n_before: int) -> Iterator[tuple[int, bytes]]:
    return ((at, line) for at, line in enumerate(lines, start=n_before + 1) if line and not line.isspace())


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
