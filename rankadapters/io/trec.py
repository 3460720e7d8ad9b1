"""Read TREC qrels, alone or joined with a run as in trec_eval."""

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

_SHOWN = 3  # number of query names that a note lists
_NO_RUN = Lines("", [], np.empty(0, np.int32), [], np.empty(0), (), Header())
_DOCUMENT_BITS = 32  # a row's key has the document number in its low 32 bits, the query number above


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
    document_numbers = numbering()
    qrels_keys, run_keys = _row_keys(qrels_lines, document_numbers), _row_keys(run_lines, document_numbers)
    _refuse_duplicates(qrels_lines, qrels_keys)
    _refuse_duplicates(run_lines, run_keys)
    if run is not None and not set(run_lines.queries) & set(qrels_lines.queries):
        msg = (
            f"{run}: none of its queries, such as {run_lines.queries[0]!r}, is in {qrels}, which has "
            f"{qrels_lines.queries[0]!r}.\nHint: the two files must name queries alike."
        )
        raise InputError(msg)
    return _join_run(qrels_lines, run_lines, qrels_keys, run_keys)


def _row_keys(lines: Lines, document_numbers: Mapping[bytes, int]) -> NDArray[np.int64]:
    """Return one integer per row for its query and document."""
    documents = np.fromiter(map(document_numbers.__getitem__, lines.docids), np.int64, len(lines.docids))
    return lines.query.astype(np.int64) << _DOCUMENT_BITS | documents


def _refuse_duplicates(lines: Lines, keys: NDArray[np.int64]) -> None:
    order = np.argsort(keys, kind="stable")
    duplicates = np.flatnonzero(np.diff(keys[order]) == 0) + 1
    if not duplicates.size:
        return
    row = int(order[duplicates].min())
    first = int(np.flatnonzero(keys == keys[row])[0])
    number, line = line_of(lines.path, row)
    query, document = _names(line)
    msg = (
        f"{lines.path}, line {number}: document {document!r} of query {query!r} is also in line "
        f"{line_of(lines.path, first)[0]}.\nHint: drop one of the two."
    )
    raise InputError(msg, row=row)


def _names(line: bytes) -> tuple[str, str]:
    """Return the query and the document of a line; only ASCII blanks separate words."""
    query, _, document = line.split()[:3]
    return query.decode(), document.decode()


def _join_run(qrels: Lines, run: Lines, qrels_keys: NDArray[np.int64], run_keys: NDArray[np.int64]) -> Judgments:
    """Return for each query of the qrels the run's rows, followed by the judged documents that the run lacks."""
    n_run, query_index = run.numbers.size, {name: index for index, name in enumerate(qrels.queries)}
    run_query = np.asarray([query_index.get(name, -1) for name in run.queries], np.int64)[run.query]
    documents = run_keys & ((1 << _DOCUMENT_BITS) - 1)
    qrels_rows = _rows_of(np.where(run_query < 0, -1, run_query << _DOCUMENT_BITS | documents), qrels_keys)
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
        docid=text_column(b" ".join([docids[row] for row in rows.tolist()]).decode().split(" ")),
        retrieved=None if without_run else rows < n_run,
        judged=None if without_run else ~np.isnan(labels[rows]),
    )
    locate = partial(_location, qrels=qrels.path, run=run.path, rows=rows, n_run=n_run)
    metadata = run.header.metadata
    judgments = Judgments(queries=queries, place=locate, note=_note(qrels, run), metadata=metadata)
    scores = np.concatenate([run.numbers, np.full(qrels.numbers.size, np.nan)])
    return judgments if without_run else judgments.with_scores(scores[rows])


def _rows_of(keys: NDArray[np.int64], qrels_keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each key the index of the qrels row with that key; -1 if there is none."""
    order = np.argsort(qrels_keys)
    positions = np.minimum(np.searchsorted(qrels_keys, keys, sorter=order), qrels_keys.size - 1)
    rows = order[positions]
    return np.where(qrels_keys[rows] == keys, rows, -1)


def _location(row: int, *, qrels: AnyPath, run: AnyPath, rows: NDArray[np.int64], n_run: int) -> str:
    index = int(rows[row])
    path, index = (run, index) if index < n_run else (qrels, index - n_run)
    number, line = line_of(path, index)
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
