"""The grammar of TREC qrels and runs, and how they are joined, read slowly in plain Python."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import NamedTuple

from tests.fuzz.plain_text import BLANK, RefusedError, is_number, lines_of, number, refuse_unless


class Line(NamedTuple):
    query: str
    docid: str
    number: float


class Joined(NamedTuple):
    query: str
    docid: str
    label: float | None  # of a row that was judged
    score: float | None  # of a row that was retrieved


def lines_of_trec(data: bytes, *, is_run: bool) -> list[Line]:
    """Read qrels or a run, of which no document may stand twice in a query."""
    kept = [line for line in lines_of(data) if line.strip(BLANK)]
    lines = [line for line in kept if not line.lstrip(BLANK).startswith("#")]
    refuse_unless(lines, "no line")
    head = [line.strip(BLANK) for line in kept[: kept.index(lines[0])]]
    if is_run and head[:1] == ["# ir_metadata.start"]:
        _refuse_header(head)
    refuse_unless(not any(white in line for line in lines for white in "\v\f"), "white space that parts no words")
    found = [_run_line(line) if is_run else _qrels_line(line) for line in lines]
    refuse_unless(len({line[:2] for line in found}) == len(found), "a document twice")
    return found


def _refuse_header(comments: list[str]) -> None:
    """Refuse a header without an end, or which is not a mapping to PyYAML, where that is installed."""
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
    if len(words) > 6:
        refuse_unless(is_number(words[3]) or not is_number(words[5]), "a document of two words")
        refuse_unless(words[6] != words[1], "two rows on a line")
    return Line(words[0], words[2], number(words[4]))


def joined(qrels: list[Line], run: list[Line]) -> list[Joined]:
    """Give the rows of each query of the qrels: those retrieved, in the run's order, then those judged alone."""
    labels = {line[:2]: line.number for line in qrels}
    names = list(dict.fromkeys(line.query for line in qrels))
    refuse_unless({line.query for line in run} & set(names), "no query in both files")
    rows = []
    for name in names:
        of_run = [line for line in run if line.query == name]
        there = {line.docid for line in of_run}
        rows += [Joined(name, line.docid, labels.get(line[:2]), line.number) for line in of_run]
        rows += [
            Joined(name, line.docid, line.number, None)
            for line in qrels
            if line.query == name and line.docid not in there
        ]
    return rows
