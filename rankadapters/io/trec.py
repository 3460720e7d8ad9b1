"""Read TREC qrels, alone or joined with a run as in trec_eval; also the tab-separated files of BEIR and MS MARCO."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rankadapters.core.declaration.arguments import word
from rankadapters.core.errors import InputError
from rankadapters.io.joining import DUPLICATES, Documents, join
from rankadapters.io.judgments import Judgments
from rankadapters.io.qrels import read_json
from rankadapters.io.text import (
    AnyPath,
    InexactError,
    as_path,
    bad_line,
    finite,
    inexact_number,
    is_finite,
    is_pipe,
    lines,
    open_text,
)


def read_trec(qrels: AnyPath, run: AnyPath | None = None, *, duplicates: str = "error") -> Judgments:
    r"""Read TREC qrels, and optionally a run.

    Lines are `query iteration document label` and `query Q0 document rank score tag`. As in trec_eval the rank is not
    read, and only queries of the qrels count. A judged document that was not retrieved is part of the ideal list. The
    convention's `unjudged` applies to a retrieved document that was not judged, its `missing` to a query without
    retrieved documents. Queries are in the order of the qrels, retrieved rows in the order of the run. Lines that begin
    with `#`, and words after the tag, are skipped.

    Tab-separated lines may also be `query document label`, with or without BEIR's header, and `query document rank
    score` as in runs of MS MARCO, whose ranks must agree with the scores. A file that begins with a brace is JSON of
    dicts `{query: {document: number}}`.

    Parameters
    ----------
    qrels : path
        A text file in UTF-8; gzip, bzip2 and zstd are decompressed. In a folder, as BEIR's data sets are, it is
        `qrels/test.tsv`.
    run : path, optional
        A text file of the same kinds; without it no scores are read, and the rows are those of the qrels.
    duplicates : {"error", "best", "first"}
        What to do with a document that the run lists more than once for a query: refuse it, keep the row with its best
        score (as evaluations of passages do), or keep its first row.

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
    word("duplicates", duplicates, DUPLICATES)
    judged = _documents(qrels_of_folder(as_path(qrels)), _QRELS, _TSV_QRELS)
    return join(judged, None if run is None else _documents(as_path(run), _RUN, _TSV_RUN, duplicates))


def qrels_of_folder(path: AnyPath) -> AnyPath:
    """Return the qrels of the test set in a data set of BEIR; a path of something else stays."""
    return Path(path, _OF_BEIR) if os.path.isdir(path) else path  # noqa: PTH112 - False for an empty or too long text


def is_json(path: AnyPath) -> bool:
    """Return whether a file begins with a brace and a quote, as an object of JSON does."""
    with open_text(path) as file:
        return re.match(rb'\s*\{\s*["}]', file.read(1024)) is not None


def _documents(path: AnyPath, layout: _Layout, tsv: _Layout, duplicates: str | None = None) -> Documents:
    """Read a file of qrels or of a run in any format."""
    if not is_pipe(path) and is_json(path):
        return read_json(path, layout.name, duplicates)
    return _read(path, layout, tsv, duplicates)


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
_OF_BEIR = "qrels/test.tsv"  # in a folder
HEADER = b"query-id\tcorpus-id\tscore"  # of BEIR

_WITH_ITERATION = "{print $1, 0, $2, $3}"
_WORDS = "blanks and tabs separate words, no name has a blank in it, and there is no header"
_AS_RUN = """awk '{print $1, "Q0", $2, $3, SCORE, "tag"}'"""
_BY_SCORES = (
    "qrels have four columns too, so perhaps the files are swapped; else {} makes a run that is ordered by its scores"
)
_SWAPPED = "judgments (qrels) have four words a line, runs have six; perhaps the files are swapped"


class _Table(Documents):
    """The rows of a file of qrels or of a run; names are bytes."""

    def __init__(self, path: AnyPath, layout: _Layout, duplicates: str | None) -> None:
        super().__init__(path, duplicates)
        self.path, self.layout = path, layout
        self.lasts: dict[bytes, tuple[int, float]] = {}  # in a run with tabs, last rank and score of each query
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
        if layout is _TSV_RUN and not self._follows(words[0], words[2], number):
            raise bad_line(self.path, line_number, line, expected, hint=_hint(words, layout), row=row)
        self.numbers.append(number)
        self.lines.append(line_number)
        earlier = documents.setdefault(document, row)
        if earlier != row:
            self.keep_one(words[0], document, earlier)

    def texts(self, names: Iterable[bytes]) -> list[str]:
        """Return names as texts; no name has a blank in it."""
        text = b" ".join(names).decode()
        return text.split(" ") if text else []

    def _follows(self, query: bytes, rank: bytes, score: float) -> bool:
        """Return whether a rank is the next one of its query, and its score not above the one before."""
        if not self.lines:
            self.first_rank = rank
        if self.first_rank not in {b"0", b"1"}:
            return False
        last, lowest = self.lasts.get(query, (int(self.first_rank) - 1, math.inf))
        self.lasts[query] = (last + 1, score)
        return rank == b"%d" % (last + 1) and score <= lowest

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


def _read(path: AnyPath, layout: _Layout, tsv: _Layout, duplicates: str | None = None) -> _Table:
    """Read a file in TREC's layout, or in the one with tabs if its first line has that."""
    table, has_header, is_tsv = _Table(path, layout, duplicates), False, None
    for number, line in lines(path):
        words = line.split()
        if words[0].startswith(b"#"):
            table.n_comments += 1
            continue
        if is_tsv is None:
            has_header = line == HEADER and tsv is _TSV_QRELS
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
    if len(words) == (_QRELS if layout is _RUN else _RUN).n_words or (layout is _RUN and words == HEADER.split()):
        return _SWAPPED
    if len(words) != _TSV_QRELS.n_words:
        return _WORDS
    if layout is _RUN:
        return f"a run of MS MARCO has no scores; {_AS_RUN.replace('SCORE', '-$3')} makes them"
    rows = "" if is_finite(words[-1]) else "NR > 1 "  # skips the header
    return f"a qrels.tsv of BEIR has no iterations; awk '{rows}{_WITH_ITERATION}' adds them"
