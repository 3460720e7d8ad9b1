"""Read TREC qrels, alone or joined with a run as in trec_eval."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import text_column
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.io.judgments import Judgments, ScoredJudgments, first_duplicate
from rankadapters.io.line_blocks import row_blocks
from rankadapters.io.run_metadata import Header, read_header
from rankadapters.io.text import NEWLINE, AnyPath, as_path, bad_line, bad_number, finite, is_finite

_SHOWN = 3  # query names in a note


class Layout(NamedTuple):
    """The words that a line has."""

    name: str
    expected: str
    fields: int
    number: int  # index of the label or the score; query and document are first and third in both


QRELS = Layout("qrels", "'query iteration document label', the label a finite number", 4, 3)
RUN = Layout("run", "'query Q0 document rank score tag', the score a finite number", 6, 4)
_SWAPPED = "judgments (qrels) have four words a line, runs have six; perhaps the files are swapped"


class Lines(NamedTuple):
    """The parsed lines of qrels or a run."""

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
    r"""Read TREC qrels, and optionally a run.

    Lines are `query iteration document label` and `query Q0 document rank score tag`. As in trec_eval the rank is not
    read, and only queries of the qrels count. A judged document that was not retrieved is part of the ideal list. The
    convention's `unjudged` applies to a retrieved document that was not judged, its `missing` to a query without
    retrieved documents. Queries are in the order of the qrels, retrieved rows in the order of the run. Lines that begin
    with `#`, and words after the tag, are skipped. The ir_metadata header of a run becomes the result's `metadata`.

    Parameters
    ----------
    qrels : path
        A text file in UTF-8, gzip and bzip2 decompressed.
    run : path, optional
        A text file of the same kinds; without it no scores are read, and the rows are those of the qrels.

    Returns
    -------
    Judgments or ScoredJudgments
        With docids, and with scores if there is a run. The note counts the run's queries without judgments, and the
        skipped lines and words.

    Raises
    ------
    InputError
        A file cannot be read, a line or the header of the run is malformed, a document is in a query twice, or no
        query is in both files. The message names file and line.

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
    >>> judgments = read_trec(qrels, run)
    >>> judgments.queries, judgments.scores.tolist(), judgments.note
    (Queries(1 queries, 3 rows), [0.9, 0.5, nan], '1 query of the run is not in the qrels and was left out: q2')
    >>> round(ra.evaluate(judgments.queries, judgments.scores, ra.presets.trec_eval_9(10)).value, 4)
    0.3869
    >>> read_trec(qrels).queries
    Queries(1 queries, 3 rows)
    >>> folder.cleanup()
    """
    qrels_lines = read_lines(as_path(qrels), QRELS)
    run_lines = _NO_RUN if run is None else read_lines(as_path(run), RUN)
    _refuse_duplicates(qrels_lines)
    _refuse_duplicates(run_lines)
    if run is not None and not set(run_lines.queries) & set(qrels_lines.queries):
        msg = (
            f"{run}: none of its queries, such as {run_lines.queries[0]!r}, is in {qrels}, which has "
            f"{qrels_lines.queries[0]!r}.\nHint: the two files must name queries alike."
        )
        raise InputError(msg)
    return _join_run(qrels_lines, run_lines)


def _refuse_duplicates(lines: Lines) -> None:
    first, row = first_duplicate(zip(lines.query.tolist(), lines.docids, strict=True))
    if row < 0:
        return
    number, line = _line_of(lines.path, row)
    query, document = _names(line)
    msg = (
        f"{lines.path}, line {number}: document {document!r} of query {query!r} is also in line "
        f"{_line_of(lines.path, first)[0]}.\nHint: drop one of the two."
    )
    raise InputError(msg, row=row)


def _names(line: bytes) -> tuple[str, str]:
    """Return the query and the document of a line; only ASCII blanks separate words."""
    query, _, document = line.split()[:3]
    return query.decode(), document.decode()


def _join_run(qrels: Lines, run: Lines) -> Judgments:
    """Return the run's rows and then the unretrieved judged documents of each query, in the order of the qrels."""
    n_run, query_index = run.numbers.size, {name: index for index, name in enumerate(qrels.queries)}
    run_query = np.asarray([query_index.get(name, -1) for name in run.queries], np.int64)[run.query]
    qrels_row = {key: row for row, key in enumerate(zip(qrels.query.tolist(), qrels.docids, strict=True))}
    keys = zip(run_query.tolist(), run.docids, strict=True)
    qrels_rows = np.asarray([qrels_row.get(key, -1) for key in keys], np.int64)  # qrels row of each run row, or -1
    query = np.concatenate([run_query, qrels.query])
    is_kept = query >= 0
    is_kept[n_run + qrels_rows[qrels_rows >= 0]] = False
    rows = np.flatnonzero(is_kept)
    rows = rows[np.argsort(query[rows], kind="stable")]
    labels = np.concatenate([np.where(qrels_rows >= 0, qrels.numbers[qrels_rows], np.nan), qrels.numbers])
    docids = [*run.docids, *qrels.docids]
    without_run = run is _NO_RUN
    queries = Queries(
        labels[rows],
        qid=np.asarray(qrels.queries)[query[rows]],
        docid=text_column([docids[row].decode() for row in rows.tolist()]),
        retrieved=None if without_run else rows < n_run,
        judged=None if without_run else ~np.isnan(labels[rows]),
    )
    locate = partial(_location, qrels=qrels.path, run=run.path, rows=rows, n_run=n_run)
    metadata = run.header.metadata
    judgments = Judgments(queries=queries, place=locate, note=_note(qrels, run), metadata=metadata)
    scores = np.concatenate([run.numbers, np.full(qrels.numbers.size, np.nan)])
    return judgments if without_run else judgments.with_scores(scores[rows])


def _location(row: int, *, qrels: AnyPath, run: AnyPath, rows: NDArray[np.int64], n_run: int) -> str:
    index = int(rows[row])
    path, index = (run, index) if index < n_run else (qrels, index - n_run)
    number, line = _line_of(path, index)
    query, document = _names(line)
    return f"{path}, line {number} (document {document!r} of query {query!r})"


def _note(qrels: Lines, run: Lines) -> str:
    return "; ".join([*qrels.notes, *run.notes, *_unjudged_note(qrels, run)])


def _unjudged_note(qrels: Lines, run: Lines) -> Iterator[str]:
    judged_queries = set(qrels.queries)
    names = [name for name in run.queries if name not in judged_queries]
    if not names:
        return
    queries = "1 query of the run is" if len(names) == 1 else f"{len(names)} queries of the run are"
    names_text = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    yield f"{queries} not in the qrels and {'was' if len(names) == 1 else 'were'} left out: {names_text}"


def _line_of(path: AnyPath, row: int) -> tuple[int, bytes]:
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
    index: dict[bytes, int] = {}
    query: list[int] = []
    docids: list[bytes] = []
    numbers: list[float] = []
    first_comments: list[tuple[int, bytes]] = []  # comments before the first row
    n_comments = n_longer = 0
    for line_number, line in _lines(path):
        if _is_comment(line):
            n_comments += 1
            if not index:
                first_comments.append((line_number, line))
            continue
        fields, number = _fields(path, line_number, line, layout, row=len(query))
        n_longer += len(fields) > layout.fields
        query.append(index.setdefault(fields[0], len(index)))
        docids.append(fields[2])
        numbers.append(number)
    if not index:
        msg = f"{path}: every line begins with #.\nHint: {layout.expected}."
        raise InputError(msg)
    header = read_header(path, first_comments) if layout is RUN else Header()
    notes = tuple(filter(None, [*_notes(layout, n_comments - header.n_lines, n_longer), header.note]))
    queries = [name.decode() for name in index]
    return Lines(path, queries, np.asarray(query, np.int32), docids, np.asarray(numbers), notes, header)


def _lines(path: AnyPath) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers from 1."""
    number = 0
    for block in row_blocks(path):
        for number, line in enumerate(block.removesuffix(NEWLINE).split(NEWLINE), start=number + 1):  # noqa: B020 - continues the count
            if line and not line.isspace():
                yield number, line


def _is_comment(line: bytes) -> bool:
    return line.lstrip().startswith(b"#")


def _fields(path: AnyPath, line_number: int, line: bytes, layout: Layout, *, row: int) -> tuple[list[bytes], float]:
    fields = line.split()
    if b"\v" in line or b"\f" in line:  # Python splits at these, other programs do not
        raise bad_line(path, line_number, line, layout.expected, hint=_SWAPPED, row=row)
    if len(fields) != layout.fields and not _is_longer(fields, layout):
        raise bad_line(path, line_number, line, f"{layout.expected}, and one row on each line", hint=_SWAPPED, row=row)
    try:
        return fields, finite(fields[layout.number])
    except ValueError:
        number = fields[layout.number]
        raise bad_number(path, line_number, line, number, layout.expected, hint=_SWAPPED, row=row) from None


def _is_longer(fields: list[bytes], layout: Layout) -> bool:
    """Return whether a run's line has words after its tag, rather than a second row or a document of two words."""
    if layout is not RUN or len(fields) < layout.fields:
        return False
    rank, tag = fields[3], fields[5]
    return is_finite(rank) >= is_finite(tag) and fields[6:7] != fields[1:2]


def _notes(layout: Layout, n_comments: int, n_longer: int) -> Iterator[str]:
    if n_comments:
        verbs = ("line", "begins", "was") if n_comments == 1 else ("lines", "begin", "were")
        yield "{1} {2} of the {0} {3} with # and {4} left out".format(layout.name, n_comments, *verbs)
    if n_longer:
        lines = "1 line of the run has" if n_longer == 1 else f"{n_longer} lines of the run have"
        yield f"{lines} words after the tag, which were not read"
