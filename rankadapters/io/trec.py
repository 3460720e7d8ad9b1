"""Read TREC qrels, alone or joined with a run as in trec_eval; also the tab-separated files of BEIR and MS MARCO."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import repeat
from typing import NamedTuple

import numpy as np

from rankadapters.core.arrays import Flags, Ints
from rankadapters.core.data.columns import text_column
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.io.judgments import Judgments
from rankadapters.io.text import AnyPath, InexactError, as_path, bad_line, finite, inexact_number, is_finite, lines

_SHOWN = 3  # number of query names that a note lists


def read_trec(qrels: AnyPath, run: AnyPath | None = None) -> Judgments:
    r"""Read TREC qrels, and optionally a run.

    Lines are `query iteration document label` and `query Q0 document rank score tag`. As in trec_eval the rank is not
    read, and only queries of the qrels count. A judged document that was not retrieved is part of the ideal list. The
    convention's `unjudged` applies to a retrieved document that was not judged, its `missing` to a query without
    retrieved documents. Queries are in the order of the qrels, retrieved rows in the order of the run. Lines that begin
    with `#`, and words after the tag, are skipped.

    Tab-separated lines may also be `query document label`, with or without BEIR's header, and `query document rank
    score` as in runs of MS MARCO, whose ranks must agree with the scores.

    Parameters
    ----------
    qrels : path
        A text file in UTF-8; gzip, bzip2 and zstd are decompressed.
    run : path, optional
        A text file of the same kinds; without it no scores are read, and the rows are those of the qrels.

    Returns
    -------
    Judgments
        With docids, and with scores if there is a run. The note counts the run's queries without judgments, and the
        skipped lines and words, and says if none of the retrieved documents is judged.

    Raises
    ------
    InputError
        A file cannot be read, a line is malformed, a document is in a query twice, or no query is in both files. The
        message names file and line.

    References
    ----------
    trec_eval 9.0.8, get_trec_results.c ("Any field following run_id is ignored"), get_qrels.c and form_res_rels.c.

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
    judged = _read(as_path(qrels), _QRELS, _TSV_QRELS)
    retrieved = _Table("", _RUN) if run is None else _read(as_path(run), _RUN, _TSV_RUN)
    if run is not None and not retrieved.rows.keys() & judged.rows.keys():
        names = [next(iter(table.rows)).decode() for table in (retrieved, judged)]
        msg = f"{run}: none of its queries, such as {names[0]!r}, is in {qrels}, which has {names[1]!r}."
        raise InputError(msg, hint="the two files must name queries alike")
    return _judgments(judged, retrieved)


class _Layout(NamedTuple):
    """The columns of a line; the query is the first."""

    name: str
    expected: str
    n_words: int
    document: int
    number: int  # label or score


_QRELS = _Layout("qrels", "'query iteration document label', the label a finite number", 4, 2, 3)
_RUN = _Layout("run", "'query Q0 document rank score tag', the score a finite number", 6, 2, 4)
_TSV_QRELS = _Layout("qrels", "'query document label' between tabs, as in the first line", 3, 1, 2)
_TSV_RUN = _Layout("run", "'query document rank score' between tabs, by ranks from 0 or 1 and falling scores", 4, 1, 3)
_HEADER = b"query-id\tcorpus-id\tscore"  # of BEIR

_WITH_ITERATION = "{print $1, 0, $2, $3}"
_WORDS = "blanks and tabs separate words, no name has a blank in it, and there is no header"
_AS_RUN = """awk '{print $1, "Q0", $2, $3, SCORE, "tag"}'"""
_BY_SCORES = (
    "qrels have four columns too, so perhaps the files are swapped; else {} makes a run that is ordered by its scores"
)
_SWAPPED = "judgments (qrels) have four words a line, runs have six; perhaps the files are swapped"


class _Table:
    """The rows of qrels or of a run."""

    def __init__(self, path: AnyPath, layout: _Layout) -> None:
        self.path, self.layout = path, layout
        self.rows: dict[bytes, dict[bytes, int]] = defaultdict(dict)  # row of each document, by query
        self.numbers = array("d")  # label or score of each row
        self.lines = array("q")
        self.n_comments = self.n_longer = 0
        self.first_rank = b""

    def add(self, line_number: int, line: bytes, words: list[bytes]) -> None:
        """Add the row of a line; raise an error if it does not fit the layout or its document is in the query twice."""
        layout, row = self.layout, len(self.lines)
        _, expected, n_words, document_index, number_index = layout
        if len(words) != n_words or (layout is _RUN and not words[3].isdigit()):  # of most lines, this is all to check
            if not _fits(words, layout):
                expected, hint = f"{expected}, and one row on each line", _hint(words, layout)
                raise bad_line(self.path, line_number, line, expected, hint=hint, row=row)
            self.n_longer += len(words) > n_words
        try:
            number = finite(words[number_index])
        except InexactError as error:
            raise inexact_number(self.path, line_number, words[number_index], error, row=row) from None
        except ValueError:
            raise bad_line(self.path, line_number, line, expected, hint=_WORDS, row=row) from None
        documents, document = self.rows[words[0]], words[document_index]
        if layout is _TSV_RUN and not self._follows(words[2], number, documents):
            raise bad_line(self.path, line_number, line, expected, hint=_hint(words, layout), row=row)
        earlier = documents.setdefault(document, row)
        if earlier != row:
            names = f"document {document.decode()!r} of query {words[0].decode()!r}"
            msg = f"{self.path}, line {line_number}: {names} is also in line {self.lines[earlier]}."
            raise InputError(msg, hint="drop one of the two", row=row)
        self.numbers.append(number)
        self.lines.append(line_number)

    def _follows(self, rank: bytes, score: float, documents: dict[bytes, int]) -> bool:
        """Return whether a rank is the next one of its query, and its score not above the one before."""
        last = next(reversed(documents.values()), None)
        if not self.lines:
            self.first_rank = rank
        counts = self.first_rank in {b"0", b"1"} and rank == b"%d" % (int(self.first_rank) + len(documents))
        return counts and (last is None or score <= self.numbers[last])

    def are_ranks(self) -> bool:
        """Return whether the numbers of every query count up, as the ranks of a run do."""
        queries = [[self.numbers[row] for row in documents.values()] for documents in self.rows.values()]
        first = queries[0][0]
        counts = all(numbers == [first + index for index in range(len(numbers))] for numbers in queries)
        return counts and first in {0, 1} and len(queries) < len(self.lines)

    def is_run_of_ms_marco(self) -> bool:
        """Return whether words of qrels are those of a run: `query document rank score`."""
        if all(number.is_integer() for number in self.numbers):
            return False
        ranks = [[b"%d" % (first + index) for index in range(max(map(len, self.rows.values())))] for first in (0, 1)]
        return any(
            all([*documents] == counts[: len(documents)] for documents in self.rows.values()) for counts in ranks
        )

    def notes(self) -> Iterator[str]:
        """Say how many lines and words were not read."""
        if self.n_comments:
            verbs = ("line", "begins", "was") if self.n_comments == 1 else ("lines", "begin", "were")
            yield "{1} {2} of the {0} {3} with # and {4} left out".format(self.layout.name, self.n_comments, *verbs)
        if self.n_longer:
            rows = "1 line of the run has" if self.n_longer == 1 else f"{self.n_longer} lines of the run have"
            yield f"{rows} words after the tag, which were not read"


def _read(path: AnyPath, layout: _Layout, tsv: _Layout) -> _Table:
    """Read a file in TREC's layout, or in the one with tabs if its first line has that."""
    table, has_header, is_tsv = _Table(path, layout), False, None
    for number, line in lines(path):
        words = line.split()
        if words[0].startswith(b"#"):
            table.n_comments += 1
            continue
        if is_tsv is None:
            has_header = line == _HEADER and tsv is _TSV_QRELS
            is_tsv = has_header or (len(words) == tsv.n_words and line.split(b"\t") == words)
            table.layout = tsv if is_tsv else layout
            if has_header:
                continue
        if is_tsv and line.split(b"\t") != words:
            words = []  # a column is empty, or has a blank in it
        table.add(number, line, words)
    if not table.lines:
        raise InputError(f"{path}: every line is a comment or a header.", hint=layout.expected)
    if layout is _QRELS and not is_tsv and table.is_run_of_ms_marco():
        msg = (
            f"{path}: in every query the documents are numbered and some labels are fractions, as ranks and scores are."
        )
        raise InputError(msg, hint="perhaps the files are swapped")
    if table.layout is _TSV_QRELS and not has_header and table.are_ranks():
        msg = f"{path}: in every query the labels count up, so they may be the ranks of a run."
        raise InputError(msg, hint=f"if they are labels, awk '{_WITH_ITERATION}' makes qrels of four columns")
    return table


def _fits(words: list[bytes], layout: _Layout) -> bool:
    """Return whether a line has the words of a layout; in a run, no blank in the docid may have shifted them."""
    if layout is not _RUN:
        return len(words) == layout.n_words
    if len(words) < _RUN.n_words or words[6:7] == words[1:2]:  # words after the tag may be a second row
        return False
    return words[3].isdigit() or is_finite(words[3]) or not is_finite(words[5])  # most ranks are digits


def _hint(words: list[bytes], layout: _Layout) -> str:
    """Suggest how to mend a line with the wrong words."""
    if layout is _TSV_RUN:
        return _BY_SCORES.format(_AS_RUN.replace("SCORE", "$4"))
    if len(words) == (_QRELS if layout is _RUN else _RUN).n_words or (layout is _RUN and words == _HEADER.split()):
        return _SWAPPED
    if len(words) != _TSV_QRELS.n_words:
        return _WORDS
    if layout is _RUN:
        return f"a run of MS MARCO has no scores; {_AS_RUN.replace('SCORE', '-$3')} makes them"
    rows = "" if is_finite(words[-1]) else "NR > 1 "  # skips the header
    return f"a qrels.tsv of BEIR has no iterations; awk '{rows}{_WITH_ITERATION}' adds them"


def _judgments(qrels: _Table, run: _Table) -> Judgments:
    """Return for each query of the qrels the run's rows, followed by the judged documents that the run lacks."""
    qrels_rows, run_rows, docids, sizes = array("q"), array("q"), list[bytes](), []  # row -1 is none
    for query, judged in qrels.rows.items():
        retrieved = run.rows.get(query, {})
        not_retrieved = [document for document in judged if document not in retrieved]
        for documents in (retrieved, not_retrieved):
            qrels_rows.extend(map(judged.get, documents, repeat(-1)))
            run_rows.extend(map(retrieved.get, documents, repeat(-1)))
            docids += documents
        sizes.append(len(retrieved) + len(not_retrieved))
    is_judged, is_retrieved, has_run = np.asarray(qrels_rows) >= 0, np.asarray(run_rows) >= 0, bool(run.lines)
    queries = Queries(
        np.append(qrels.numbers, np.nan)[qrels_rows],
        qid=np.repeat(text_column([query.decode() for query in qrels.rows]), sizes),
        docid=text_column(b" ".join(docids).decode().split(" ")),
        retrieved=is_retrieved if has_run else None,
        judged=is_judged if has_run else None,
    )
    line_numbers = np.where(is_retrieved, np.append(run.lines, 0)[run_rows], np.append(qrels.lines, 0)[qrels_rows])
    return Judgments(
        queries=queries,
        scores=np.append(run.numbers, np.nan)[run_rows] if has_run else None,
        locate=partial(
            _location,
            queries=queries,
            docids=docids,
            line_numbers=line_numbers,
            is_retrieved=is_retrieved,
            paths=(qrels.path, run.path),
        ),
        note="; ".join([*qrels.notes(), *run.notes(), *_unjudged_notes(qrels, run, queries.judged_share)]),
    )


def _location(
    row: int,
    *,
    queries: Queries,
    docids: list[bytes],
    line_numbers: Ints,
    is_retrieved: Flags,
    paths: Sequence[AnyPath],
) -> str:
    query = str(queries.query_ids[queries.query_of_row[row]])
    path = paths[int(is_retrieved[row])]
    return f"{path}, line {line_numbers[row]} (document {docids[row].decode()!r} of query {query!r})"


def _unjudged_notes(qrels: _Table, run: _Table, judged_share: float) -> Iterator[str]:
    if not judged_share:
        n_retrieved = sum(len(run.rows.get(query, ())) for query in qrels.rows)
        yield f"none of the {n_retrieved} retrieved documents is judged; qrels and run may name documents differently"
    names = [name.decode() for name in run.rows if name not in qrels.rows]
    if not names:
        return
    queries = "1 query of the run is" if len(names) == 1 else f"{len(names)} queries of the run are"
    names_text = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    yield f"{queries} not in the qrels and {'was' if len(names) == 1 else 'were'} left out: {names_text}"
