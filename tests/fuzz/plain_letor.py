"""A slow parser of SVMlight and LETOR files and of predictions in plain Python."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.fuzz.plain_text import BLANK, DECIMAL, RefusedError, is_number, lines_of, number, refuse_unless

ROW = re.compile(
    rf"[ \t]*(?:(?P<label>{DECIMAL})[ \t]+qid:(?P<query>[^\s#]+)"
    rf"(?P<features>(?:[ \t]+[0-9]{{1,18}}:(?:{DECIMAL}|[nN][aA][nN]))*)[ \t]*)?(?:#(?P<comment>.*))?",
    re.ASCII | re.DOTALL,
)
ROW_IN_COMMENT = re.compile(r"\sqid:\S+\s+[0-9]+:", re.ASCII)
DOCID = re.compile(r"(?<!\w)docid\s*=\s*(\S+)", re.ASCII)


class Row(NamedTuple):
    label: float
    query: str
    features: dict[int, str]
    docid: str | None


def row_of(line: str) -> Row | None:
    """Read a line; None if it has no row."""
    match = ROW.fullmatch(line)
    refuse_unless(match, f"{line!r} is not a row")
    comment = match["comment"] or ""
    refuse_unless(not ROW_IN_COMMENT.search(comment), "a row inside a comment")
    if match["label"] is None:
        return None
    features: dict[int, str] = {}
    for token in match["features"].split():
        name, _, value = token.partition(":")
        refuse_unless(int(name) not in features, "a feature twice")
        features[int(name)] = value
    docid = DOCID.search(comment)
    return Row(number(match["label"]), match["query"], features, docid and docid[1])


def rows_of(data: bytes) -> list[Row]:
    """Read a file."""
    rows = []
    for line_number, line in enumerate(lines_of(data), 1):
        try:
            row = row_of(line)
        except RefusedError as error:
            error.line = line_number
            raise
        rows += [] if row is None else [row]
    refuse_unless(rows, "no row")
    return rows


def scores_of(rows: list[Row], feature: int) -> list[float]:
    """Return a feature as the score, 0 where it is absent."""
    refuse_unless(any(feature in row.features for row in rows), "no row has the feature")
    return [number(row.features.get(feature, "0")) for row in rows]


def predictions_of(data: bytes) -> list[float]:
    """Read one number per line, perhaps between white space; blank lines are allowed at the end."""
    lines = lines_of(data)
    while not lines[-1].strip(BLANK):
        lines.pop()
    refuse_unless(all(is_number(line.strip(BLANK)) for line in lines), "not a number")
    return [float(line) for line in lines]


def queries_of(names: list[str], split_queries: str) -> list[str]:
    """Return the query of each row, with queries that return refused, merged or renamed."""
    stretches = [name for row, name in enumerate(names) if row == 0 or names[row - 1] != name]
    returns = len(set(stretches)) < len(stretches)
    refuse_unless(not returns or split_queries != "error", "a query returns")
    if split_queries != "separate" or not returns:
        return names
    used_names, count, renamed = set(stretches), dict.fromkeys(stretches, 0), []
    for row, name in enumerate(names):
        if row and names[row - 1] == name:
            renamed.append(renamed[-1])
            continue
        count[name] += 1
        new_name = name
        while count[name] > 1 and new_name in used_names:
            new_name = f"{name}#{count[name]}"
            count[name] += new_name in used_names
        used_names.add(new_name)
        renamed.append(new_name)
    return renamed


def refuse_repeated_documents(queries: list[str], docids: list[str]) -> None:
    """Refuse a document that occurs twice in a query."""
    refuse_unless(len(set(zip(queries, docids, strict=True))) == len(docids), "a document twice")
