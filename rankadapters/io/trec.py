"""TREC qrels, alone or joined with a run as trec_eval joins them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import overload

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import text_column
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.io.judgments import Judgments, ScoredJudgments
from rankadapters.io.run_metadata import Header
from rankadapters.io.text import AnyPath, as_path
from rankadapters.io.trec_lines import QRELS, RUN, Lines, line_of, numbering, read_lines

_SHOWN = 3  # names of queries in a note
_NO_RUN = Lines("", [], np.empty(0, np.int32), [], np.empty(0), (), Header())
_DOCUMENT_BITS = 32  # of the number that stands for a query and a document


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
    documents = numbering()
    pairs = [_pairs(lines, documents) for lines in (judged, retrieved)]
    for lines, numbers in zip((judged, retrieved), pairs, strict=True):
        _refuse_twice(lines, numbers)
    if run is not None and not set(retrieved.queries) & set(judged.queries):
        msg = (
            f"{run}: none of its queries, such as {retrieved.queries[0]!r}, is in {qrels}, which has "
            f"{judged.queries[0]!r}.\nHint: the two files must name queries alike."
        )
        raise InputError(msg)
    return _joined(judged, retrieved, *pairs)


def _pairs(lines: Lines, documents: Mapping[bytes, int]) -> NDArray[np.int64]:
    """Return one number for the query and the document of each line; documents are numbered across files."""
    numbers = np.fromiter(map(documents.__getitem__, lines.docids), np.int64, len(lines.docids))
    return lines.query.astype(np.int64) << _DOCUMENT_BITS | numbers


def _refuse_twice(lines: Lines, pairs: NDArray[np.int64]) -> None:
    order = np.argsort(pairs, kind="stable")
    again = np.flatnonzero(np.diff(pairs[order]) == 0)
    if not again.size:
        return
    row = int(order[again + 1].min())
    first = int(np.flatnonzero(pairs == pairs[row])[0])
    number, line = line_of(lines.path, row)
    query, document = _names(line)
    msg = (
        f"{lines.path}, line {number}: document {document!r} of query {query!r} stands in line "
        f"{line_of(lines.path, first)[0]} too.\nHint: drop one of the two."
    )
    raise InputError(msg, row=row)


def _names(line: bytes) -> tuple[str, str]:
    """Query and document of a line; blanks that only Unicode knows are part of a name."""
    query, _, document = line.split()[:3]
    return query.decode(), document.decode()


def _joined(
    judged: Lines, retrieved: Lines, judged_pairs: NDArray[np.int64], run_pairs: NDArray[np.int64]
) -> Judgments:
    """Join the lines of the run, and after them the judged documents that it lacks, by query in the qrels' order."""
    n_run, numbers = retrieved.numbers.size, {name: number for number, name in enumerate(judged.queries)}
    run_query = np.asarray([numbers.get(name, -1) for name in retrieved.queries], np.int64)[retrieved.query]
    document = run_pairs & ((1 << _DOCUMENT_BITS) - 1)
    qrels_row = _rows_of(np.where(run_query < 0, -1, run_query << _DOCUMENT_BITS | document), judged_pairs)
    query = np.concatenate([run_query, judged.query])
    kept = query >= 0
    kept[n_run + qrels_row[qrels_row >= 0]] = False
    rows = np.flatnonzero(kept)
    rows = rows[np.argsort(query[rows], kind="stable")]
    labels = np.concatenate([np.where(qrels_row >= 0, judged.numbers[qrels_row], np.nan), judged.numbers])
    docids = [*retrieved.docids, *judged.docids]
    alone = retrieved is _NO_RUN
    queries = Queries(
        labels[rows],
        qid=np.asarray(judged.queries)[query[rows]],
        docid=text_column(b" ".join([docids[row] for row in rows.tolist()]).decode().split(" ")),
        retrieved=None if alone else rows < n_run,
        judged=None if alone else ~np.isnan(labels[rows]),
    )
    place = partial(_place, qrels=judged.path, run=retrieved.path, rows=rows, n_run=n_run)
    metadata = retrieved.header.metadata
    judgments = Judgments(queries=queries, place=place, note=_note(judged, retrieved), metadata=metadata)
    scores = np.concatenate([retrieved.numbers, np.full(judged.numbers.size, np.nan)])
    return judgments if alone else judgments.with_scores(scores[rows])


def _rows_of(pairs: NDArray[np.int64], among: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row of each pair among others, -1 where it is not there."""
    order = np.argsort(among)
    ranks = np.minimum(np.searchsorted(among, pairs, sorter=order), among.size - 1)
    rows = order[ranks]
    return np.where(among[rows] == pairs, rows, -1)


def _place(row: int, *, qrels: AnyPath, run: AnyPath, rows: NDArray[np.int64], n_run: int) -> str:
    at = int(rows[row])
    path, at = (run, at) if at < n_run else (qrels, at - n_run)
    number, line = line_of(path, at)
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
