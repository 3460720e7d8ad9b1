"""The grammar of CSV, read slowly in plain Python, one character after the other."""

from __future__ import annotations

from tests.fuzz.plain_letor import queries_of, refuse_twice
from tests.fuzz.plain_text import number, refuse_unless, text_of

END = "\r\n"
LEAST = 2.2250738585072014e-308  # weight above 0 that has all digits of a float64


def records_of(text: str) -> list[list[str]]:
    """Read records of fields; lines that hold nothing are none."""
    records, at = [], 0
    while at < len(text):
        if text[at] in END:
            at += 1
            continue
        record, at = _record(text, at)
        records.append(record)
    return records


def _record(text: str, at: int) -> tuple[list[str], int]:
    fields = []
    while True:
        field, at = _quoted(text, at + 1) if text[at : at + 1] == '"' else _bare(text, at)
        fields.append(field)
        if at == len(text) or text[at] in END:
            return fields, at
        refuse_unless(text[at] == ",", "something stands behind a closing quote")
        at += 1


def _bare(text: str, at: int) -> tuple[str, int]:
    start = at
    while at < len(text) and text[at] not in END and text[at] != ",":
        at += 1
    return text[start:at], at


def _quoted(text: str, at: int) -> tuple[str, int]:
    field = ""
    while True:
        refuse_unless(at < len(text), "a quote that is not closed")
        if text[at] != '"':
            field, at = field + text[at], at + 1
        elif text[at + 1 : at + 2] == '"':
            field, at = field + '"', at + 2
        else:
            return field, at + 1


def table_of(text: str, needed: list[str] | None = None) -> dict[str, list[str]]:
    """Read a header, whose names (or those needed) stand once each, and records of as many fields."""
    records = records_of(text)
    refuse_unless(records, "no header")
    header, *rows = records
    refuse_unless(all(len(row) == len(header) for row in rows), "a record of another length")
    refuse_unless(rows, "no rows")
    names = header if needed is None else needed
    refuse_unless(all(header.count(name) == 1 for name in names), "no column, or two")
    return {name: [row[header.index(name)] for row in rows] for name in names}


def columns_of(data: bytes, numbers: list[str], texts: list[str]) -> dict[str, list[float] | list[str]]:
    """Read columns of a table: NUMBERs between blanks or tabs, and texts that are not empty."""
    table = table_of(text_of(data), [*numbers, *texts])
    refuse_unless(all(all(table[name]) for name in texts), "an empty text")
    return table | {name: [number(text.strip(" \t")) for text in table[name]] for name in numbers}


def rows_of_table(columns: dict[str, list], split_queries: str) -> list[str]:
    """Name the query of each row, and refuse documents that stand twice in one and weights that change within one."""
    queries = queries_of(columns["qid"], split_queries)
    if "docid" in columns:
        refuse_twice(queries, columns["docid"])
    if "weight" in columns:
        pairs = set(zip(queries, columns["weight"], strict=True))
        refuse_unless(len(pairs) == len(set(queries)), "a weight that changes")
        refuse_unless(all(w == 0 or w >= LEAST for w in columns["weight"]), "a weight")
    return queries
