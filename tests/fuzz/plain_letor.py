"""A slow parser of SVMlight and LETOR files and of predictions in plain Python."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.fuzz.plain_text import BLANK, DECIMAL, RefusedError, is_number, lines_of, number, refuse_unless, words_of

WHITE = rf"[{BLANK}]"
FEATURE = re.compile(rf"([+-]?[0-9]+){WHITE}*:{WHITE}*({DECIMAL}|[+-]?[nN][aA][nN])(?={WHITE}|$)")
WORD = re.compile(rf"[0-9]{{1,18}}:({DECIMAL}|[nN][aA][nN])")
ROW_IN_COMMENT = re.compile(r"\sqid:\S+\s+[0-9]+:", re.ASCII)
DOCID = re.compile(r"(?<!\w)docid\s*=\s*(\S+)", re.ASCII)


class Row(NamedTuple):
    label: float
    query: str
    features: str
    docid: str | None


def row_of(line: str) -> Row | None:
    """Read a line; None if it has no row."""
    content, _, comment = line.partition("#")
    refuse_unless(not ROW_IN_COMMENT.search(comment), "a row inside a comment")
    label, query, *features = [*words_of(content), "", ""][: max(2, len(words_of(content)))]
    if not label:
        return None
    refuse_unless(query.startswith("qid:") and query != "qid:", f"{line!r} has no query")
    refuse_unless(not any("qid:" in token for token in features), "a second qid")
    docid = DOCID.search(comment)
    return Row(number(label), query.removeprefix("qid:"), " ".join(features), docid and docid[1])


def features_of(row: Row) -> dict[int, float]:
    """Read all features of a row: numbers, colons and values, between them perhaps white space."""
    values, text = {}, row.features.strip(BLANK)
    while text:
        match = FEATURE.match(text)
        refuse_unless(match, f"{text!r} is no feature")
        feature, value = int(match[1]), float(match[2])
        refuse_unless(0 <= feature < 2**63, "a number below 0 or beyond 64 bits")
        refuse_unless(feature not in values, "a feature twice")
        refuse_unless(value not in {float("inf"), float("-inf")}, "beyond float64")
        values[feature] = value
        text = text[match.end() :].strip(BLANK)
    return values


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
    """Return a feature as the score, 0 where it is absent from well-formed features; else the others are not read."""
    token = re.compile(rf"(?<![^{BLANK}])0*{feature}:([^{BLANK}]*)")
    values = [token.findall(row.features) for row in rows]
    words = [word for row, value in zip(rows, values, strict=True) if not value for word in words_of(row.features)]
    refuse_unless(all(WORD.fullmatch(word) for word in words), "an absent feature among words that are none")
    refuse_unless(any(values), "no row has the feature")
    refuse_unless(all(len(value) < 2 for value in values), "a feature twice")
    return [number(value[0]) if value else 0.0 for value in values]


def predictions_of(data: bytes) -> list[float]:
    """Read one number per line, perhaps between white space, without blank lines."""
    lines = [line.strip(BLANK) for line in lines_of(data)]
    refuse_unless(all(is_number(line) for line in lines if line), "not a number")
    return [float(line) for line in lines if line]


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
