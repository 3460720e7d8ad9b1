"""A slow parser of TREC qrels and runs in plain Python, which also joins them."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import NamedTuple

from tests.fuzz.plain_text import BLANK, RefusedError, is_number, lines_of, number, refuse_unless


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
    first_comments = [line.strip(BLANK) for line in nonblank_lines[: nonblank_lines.index(lines[0])]]
    if is_run and first_comments[:1] == ["# ir_metadata.start"]:
        _refuse_header(first_comments)
    refuse_unless(not any(white in line for line in lines for white in "\v\f"), "a vertical tab or form feed")
    parsed = [_run_line(line) if is_run else _qrels_line(line) for line in lines]
    refuse_unless(len({line[:2] for line in parsed}) == len(parsed), "a document twice")
    return parsed


def _refuse_header(comments: list[str]) -> None:
    """Refuse a header without an end, or one that PyYAML, if installed, does not read as a mapping."""
    refuse_unless("# ir_metadata.end" in comments, "a header without an end")
    with suppress(ImportError):
        import yaml

        text = "\n".join(line[1:] for line in comments[1 : comments.index("# ir_metadata.end")])
        try:
            metadata = yaml.safe_load(text)
        except Exception as error:  # whatever PyYAML raises
            raise RefusedError from error
        refuse_unless(isinstance(metadata, dict), "a header that is not a mapping")


def _words(line: str) -> list[str]:
    return [word for word in re.split("[ \t]+", line) if word]


def _qrels_line(line: str) -> Line:
    words = _words(line)
    refuse_unless(len(words) == 4, "not four words")
    return Line(words[0], words[2], number(words[3]))


def _run_line(line: str) -> Line:
    words = _words(line)
    refuse_unless(len(words) >= 6, "too few words")
    refuse_unless(is_number(words[3]) or not is_number(words[5]), "a document of two words")
    refuse_unless(words[6:7] != words[1:2], "two rows on a line")
    return Line(words[0], words[2], number(words[4]))


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
