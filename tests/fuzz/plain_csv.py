"""A reader of CSV with Python's csv module, row by row."""

from __future__ import annotations

import csv
from io import StringIO

from tests.fuzz.plain_letor import queries_of, refuse_repeated_documents
from tests.fuzz.plain_text import RefusedError, number, refuse_unless, text_of

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
    """Read columns of numbers, perhaps between blanks or tabs, and columns of nonempty texts."""
    table = table_of(text_of(data), [*numbers, *texts])
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
