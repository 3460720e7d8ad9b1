"""TREC qrels, alone or joined with a run as trec_eval joins them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.io.docids import Ordered, order_docids
from rankadapters.io.judgments import Judgments, ScoredJudgments
from rankadapters.io.text import AnyPath
from rankadapters.io.trec_lines import QRELS, RUN, Lines, line_of, read_lines

_SHOWN = 3  # names of queries in a note
_NO_RUN = Lines("", [], np.empty(0, np.int32), [], np.empty(0), ())


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
    with `#`, and words after the tag, are passed over.

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
        A file cannot be read, a line is malformed, a document stands twice in a query, or no query is in both files.
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
    judged, retrieved = read_lines(qrels, QRELS), _NO_RUN if run is None else read_lines(run, RUN)
    query, n_left_out = _same_numbers(judged, retrieved)
    ordered = order_docids(query, [*retrieved.docids, *judged.docids])
    pairs = _pairs(ordered, judged, retrieved)
    if run is not None and n_left_out == len(retrieved.queries):
        msg = (
            f"{run}: none of its queries, such as {retrieved.queries[0]!r}, is in {qrels}, which has "
            f"{judged.queries[0]!r}.\nHint: the two files must name queries alike."
        )
        raise InputError(msg)
    return _joined(judged, retrieved, query, ordered, pairs)


class _Pairs(NamedTuple):
    """Rows of run and qrels that are the same query and document."""

    run: NDArray[np.int64]
    qrels: NDArray[np.int64]


def _same_numbers(judged: Lines, retrieved: Lines) -> tuple[NDArray[np.int32], int]:
    """Number the queries of all rows, the run's before the qrels', as the qrels do, and those only in the run after."""
    places = {name: place for place, name in enumerate(judged.queries)}
    renumbered = [places.setdefault(name, len(places)) for name in retrieved.queries]
    query = np.concatenate([np.asarray(renumbered, np.int32)[retrieved.query], judged.query])
    return query, len(places) - len(judged.queries)


def _pairs(ordered: Ordered, judged: Lines, retrieved: Lines) -> _Pairs:
    at = np.flatnonzero(ordered.same)
    first, second = ordered.rows[at], ordered.rows[at + 1]  # in file order, the run's before the qrels'
    n_run = retrieved.numbers.size
    for lines, start, wrong in ((retrieved, 0, second < n_run), (judged, n_run, first >= n_run)):
        if wrong.any():
            raise _duplicate(lines, int(first[wrong].min()) - start, int(second[wrong][first[wrong].argmin()]) - start)
    return _Pairs(first, second - n_run)


def _duplicate(lines: Lines, first: int, second: int) -> InputError:
    number, line = line_of(lines.path, second)
    query, document = _names(line)
    return InputError(
        f"{lines.path}, line {number}: document {document!r} of query {query!r} stands in line "
        f"{line_of(lines.path, first)[0]} too.\nHint: drop one of the two.",
        row=second,
    )


def _names(line: bytes) -> tuple[str, str]:
    """Query and document of a line; blanks that only Unicode knows are part of a name."""
    query, _, document = line.split()[:3]
    return query.decode(), document.decode()


def _joined(judged: Lines, retrieved: Lines, query: NDArray[np.int32], ordered: Ordered, pairs: _Pairs) -> Judgments:
    n_run, n = retrieved.numbers.size, query.size
    labels, scores, is_judged = np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, np.bool_)
    labels[n_run:], is_judged[n_run:] = judged.numbers, True
    labels[pairs.run], is_judged[pairs.run] = judged.numbers[pairs.qrels], True
    scores[:n_run] = retrieved.numbers
    rows = _kept(query, len(judged.queries), pairs.qrels + n_run)
    alone = retrieved is _NO_RUN
    queries = Queries(
        labels[rows],
        qid=np.asarray(judged.queries)[query[rows]],
        retrieved=None if alone else rows < n_run,
        judged=None if alone else is_judged[rows],
    )
    # Queries would sort the strings once more, which takes longer than all the rest of reading a long run.
    queries = queries.with_docid_ranks(ordered.ranks()[rows])
    place = partial(_place, qrels=judged.path, run=retrieved.path, rows=rows, n_run=n_run)
    found = Judgments(queries=queries, place=place, note=_note(judged, retrieved))
    return found if alone else found.with_scores(scores[rows])


def _kept(query: NDArray[np.int32], n_judged: int, twice: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of judged queries in these queries' order, but for those that stand in the run's row already."""
    kept = query < n_judged
    kept[twice] = False
    rows = np.flatnonzero(kept)
    return rows[np.argsort(query[rows], kind="stable")]


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
