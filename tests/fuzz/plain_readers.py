"""Slow parsers of every text format in plain Python, after the grammar in docs/formats.md."""

from __future__ import annotations

import bz2
import csv
import gzip
import math
import re
from decimal import Context, Decimal
from io import StringIO
from typing import NamedTuple

DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
BLANK = " \t\n\r\v\f"


class RefusedError(Exception):
    """The grammar refuses a file; `line` is the first bad line if the format is read by lines."""

    line: int | None = None


def refuse_unless(accepted: object, problem: str) -> None:
    """Refuse a file because of this problem."""
    if not accepted:
        raise RefusedError(problem)


def text_of(data: bytes, errors: str = "strict") -> str:
    """TEXT: UTF-8, not only white space, perhaps compressed or after one byte order mark."""
    try:
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        elif data.startswith(b"BZh"):
            data = bunzip2(data)
    except Exception as error:  # a broken archive may raise anything
        raise RefusedError from error
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode(errors=errors)
    except UnicodeDecodeError as error:
        raise RefusedError from error
    refuse_unless(text.strip(BLANK), "blank")
    return text


def bunzip2(data: bytes) -> bytes:
    """Decompress the streams of a file, which follow each other; `bz2.decompress` would ignore what is no stream."""
    text = b""
    while data:
        stream = bz2.BZ2Decompressor()
        text += stream.decompress(data)
        refuse_unless(stream.eof, "a stream without its end")
        data = stream.unused_data
    return text


def is_utf8(text: str) -> bool:
    """Return whether a text that was decoded with surrogates has none."""
    return text == text.encode(errors="replace").decode()


def lines_of(data: bytes) -> list[str]:
    """ROWS: a text with carriage returns only right before a line feed or the end."""
    text = re.sub(r"\r+\n", "\n", text_of(data))
    text = re.sub(r"\r+\Z", "", text)
    refuse_unless("\r" not in text, "a carriage return")
    return text.split("\n")


def words_of(line: str) -> list[str]:
    """Return the words of a line, which ASCII's white space separates."""
    return [word for word in re.split(f"[{BLANK}]+", line) if word]


def decimal(text: str) -> float:
    """NUMBER: a finite decimal."""
    refuse_unless(re.fullmatch(DECIMAL, text), f"{text} is not a decimal")
    value = float(text)
    refuse_unless(math.isfinite(value), f"{text} is not finite")
    return value


def number(text: str) -> float:
    """Read a NUMBER that float64 keeps: beyond 2^53 no integer, and only the digits that it has."""
    value = decimal(text)
    if abs(value) >= 2**53:
        mantissa = re.split("[eE]", text)[0]
        if mantissa == text and "." not in text:
            refuse_unless(abs(int(text)) <= 2**53, f"{text} is an integer beyond 2^53")
        else:
            digits = Context(prec=len(re.sub("[^0-9]", "", mantissa).lstrip("0")))
            refuse_unless(digits.create_decimal(Decimal(value)) == Decimal(text), f"{text} has digits that are lost")
    return value


def is_number(text: str) -> bool:
    """Return whether a text is a NUMBER."""
    try:
        decimal(text)
    except RefusedError:
        return False
    return True


# SVMlight and LETOR files, and predictions

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
    return [number(line) for line in lines if line]


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


# CSV

MIN_WEIGHT = 2.2250738585072014e-308  # smallest positive weight with the full precision of float64


def records_of(text: str) -> list[list[str]]:
    """Read records of fields, without empty lines."""
    try:
        return list(filter(None, csv.reader(StringIO(text, newline=""), strict=True)))
    except csv.Error as error:
        raise RefusedError from error


def table_of(text: str, needed: list[str] | None = None) -> dict[str, list[str]]:
    """Read a header, in which every (needed) name is unique, and records of as many fields."""
    records = records_of(text)
    refuse_unless(records, "no header")
    header, *rows = records
    refuse_unless(all(len(row) == len(header) for row in rows), "a record of a different length")
    refuse_unless(rows, "no rows")
    names = header if needed is None else needed
    refuse_unless(all(header.count(name) == 1 for name in names), "no column, or two")
    return {name: [row[header.index(name)] for row in rows] for name in names}


def columns_of(data: bytes, numbers: list[str], texts: list[str]) -> dict[str, list[float] | list[str]]:
    """Read columns of numbers, perhaps between blanks or tabs, and of nonempty texts; others need not be UTF-8."""
    text = text_of(data, errors="surrogateescape")
    table = table_of(text, [*numbers, *texts])
    refuse_unless(is_utf8("".join(records_of(text)[0])), "a header that is not UTF-8")
    refuse_unless(all(all(map(is_utf8, table[name])) for name in texts), "a text that is not UTF-8")
    refuse_unless(all(all(table[name]) for name in texts), "an empty text")
    return table | {name: [number(text.strip(" \t")) for text in table[name]] for name in numbers}


def rows_of_table(columns: dict[str, list], split_queries: str) -> list[str]:
    """Return the query of each row; refuse a repeated document or a changing weight within a query."""
    queries = queries_of(columns["qid"], split_queries)
    if "docid" in columns:
        refuse_repeated_documents(queries, columns["docid"])
    if "weight" in columns:
        pairs = set(zip(queries, columns["weight"], strict=True))
        refuse_unless(len(pairs) == len(set(queries)), "a weight that changes")
        refuse_unless(all(w == 0 or w >= MIN_WEIGHT for w in columns["weight"]), "an invalid weight")
    return queries


# TREC qrels and runs


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
