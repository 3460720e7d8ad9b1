"""A slow parser of TREC qrels and runs in plain Python, which also joins them."""

from __future__ import annotations

from typing import NamedTuple

from tests.fuzz.plain_text import BLANK, is_number, lines_of, number, refuse_unless, words_of


class Line(NamedTuple):
    query: str
    docid: str
    number: float


class JoinedRow(NamedTuple):
    query: str
    docid: str
    label: float | None  # None if the row was not judged
    score: float | None  # None if the row was not retrieved


def lines_of_trec(data: bytes, *, is_run: bool) -> list[Line]:
    """Read qrels or a run; refuse a document that occurs twice in a query."""
    nonblank_lines = [line for line in lines_of(data) if line.strip(BLANK)]
    lines = [line for line in nonblank_lines if not line.lstrip(BLANK).startswith("#")]
    refuse_unless(lines, "no line")
    layout = _layout_of(lines[0], is_run=is_run)
    if layout == "trec":
        parsed = [_run_line(line) if is_run else _qrels_line(line) for line in lines]
    elif is_run:
        parsed = _ms_marco_lines(lines)
    else:
        lines = lines[layout == "header" :]
        refuse_unless(lines, "no line below the header")
        parsed = _beir_lines(lines, has_header=layout == "header")
    refuse_unless(len({line[:2] for line in parsed}) == len(parsed), "a document twice")
    return parsed


def _layout_of(line: str, *, is_run: bool) -> str:
    """Return the layout that the first line has."""
    if line == "query-id\tcorpus-id\tscore" and not is_run:
        return "header"
    is_tsv = len(words_of(line)) == (4 if is_run else 3) and line.split("\t") == words_of(line)
    return "tsv" if is_tsv else "trec"


def _qrels_line(line: str) -> Line:
    words = words_of(line)
    refuse_unless(len(words) == 4, "not four words")
    return Line(words[0], words[2], number(words[3]))


def _run_line(line: str) -> Line:
    words = words_of(line)
    refuse_unless(len(words) >= 6, "too few words")
    refuse_unless(is_number(words[3]) or not is_number(words[5]), "a document of two words")
    refuse_unless(words[6:7] != words[1:2], "two rows on a line")
    return Line(words[0], words[2], number(words[4]))


def _beir_lines(lines: list[str], *, has_header: bool) -> list[Line]:
    words = [words_of(line) for line in lines]
    refuse_unless(all(len(line) == 3 for line in words), "not three columns")
    refuse_unless(all(line.split("\t") == words_of(line) for line in lines), "not one tab between columns")
    rows = [Line(line[0], line[1], number(line[2])) for line in words]
    labels = [[row.number for row in rows if row.query == query] for query in {row.query for row in rows}]
    are_ranks = any(all(query == [*range(first, first + len(query))] for query in labels) for first in (0, 1))
    refuse_unless(has_header or not are_ranks or len(labels) == len(rows), "labels that may be ranks")
    return rows


def _ms_marco_lines(lines: list[str]) -> list[Line]:
    rows: list[Line] = []
    first = words_of(lines[0])[2]
    refuse_unless(first in {"0", "1"}, "not a first rank")
    for line in lines:
        words = words_of(line)
        refuse_unless(len(words) == 4 and line.split("\t") == words, "not four columns")
        row = Line(words[0], words[1], number(words[3]))
        before = [earlier.number for earlier in rows if earlier.query == row.query]
        refuse_unless(words[2] == str(int(first) + len(before)), "not the next rank")
        refuse_unless(not before or row.number <= before[-1], "a score that rises")
        rows.append(row)
    return rows


def joined_rows(qrels: list[Line], run: list[Line]) -> list[JoinedRow]:
    """Return the rows of each query of the qrels: retrieved rows in the run's order, then unretrieved ones."""
    labels = {line[:2]: line.number for line in qrels}
    names = list(dict.fromkeys(line.query for line in qrels))
    refuse_unless({line.query for line in run} & set(names), "no query in both files")
    rows = []
    for name in names:
        run_lines = [line for line in run if line.query == name]
        retrieved = {line.docid for line in run_lines}
        rows += [JoinedRow(name, line.docid, labels.get(line[:2]), line.number) for line in run_lines]
        rows += [
            JoinedRow(name, line.docid, line.number, None)
            for line in qrels
            if line.query == name and line.docid not in retrieved
        ]
    return rows
