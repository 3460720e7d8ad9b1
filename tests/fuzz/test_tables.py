"""Readers of CSV and Parquet tables, fed mutated files."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.io import csv_lines, read_table
from rankadapters.io.splitting import SPLIT_QUERIES
from tests.fuzz.budget import bits, blocks_of, both, docid_order, held, names_of, plain_docid_order, said, share
from tests.fuzz.mutations import mutated, mutated_bytes
from tests.fuzz.plain_csv import columns_of, rows_of_table
from tests.fuzz.plain_text import refuse_unless

TABLES = [
    "label,score,qid,docid,weight\n2,0.5,7,a,1\n0,0.75,7,b,1\n1,-1e-3,9,a,0.5\n",
    'qid,"label",score,docid,weight,note\r\n"07",1,.5,"a ""b""",2,\r\n"07",0,1,"a,b",2,"two\nlines"\r\n8,1,5.,é,2,\r\n',
    "\nlabel,qid,score,weight,docid\n\n1, 7 , 0.25\t,1,NULL\n0,NA,+1,1,nan\n\n",
    "label,score,qid,docid,weight\r1,0.5,7,a,1\r0,0.75,7,b,1\r",
]
PIECES = ["7", "9", "label", "qid", ",,", '"a', 'a"', '"7"', '"\n"', "NULL", "1,1", "note"]

csv_files = mutated_bytes(mutated(TABLES, PIECES))
COLUMNS = {"label": "label", "qid": "qid"}
NUMBERS, TEXTS = ("score", "weight"), ("qid", "docid")
ROLES = {"score": "score", "weight": "query_weight", "docid": "docid"}


def content(columns, split_queries):
    """What a reader gives for columns that are right."""
    queries = rows_of_table(columns, split_queries)
    first = dict(zip(queries[::-1], columns.get("weight", [])[::-1], strict=False))
    return (
        bits(columns["label"]),
        bits(columns["score"]) if "score" in columns else None,
        queries,
        plain_docid_order(queries, columns["docid"]) if "docid" in columns else None,
        bits([first[name] for name in dict.fromkeys(queries)]) if first else None,
    )


def read_content(data, more, split_queries):
    found = read_table(
        held(data), **COLUMNS, **({"score": None} | {ROLES[name]: name for name in more}), split_queries=split_queries
    )
    queries = found.queries
    weights = None if queries.query_weight is None else bits(queries.query_weight)
    scores = bits(found.scores) if "score" in more else None
    return bits(queries.labels), scores, [str(name) for name in names_of(queries)], docid_order(queries), weights


@share(0.09)
@given(csv_files, st.sets(st.sampled_from(["score", "docid", "weight"])), st.sampled_from(SPLIT_QUERIES))
def test_csv(data, more, split_queries):
    def plain():
        columns = columns_of(
            data, ["label", *(n for n in NUMBERS if n in more)], ["qid", *(n for n in TEXTS if n in more)]
        )
        return content(columns, split_queries)

    both(lambda: read_content(data, more, split_queries), plain)


@share(0.03)
@given(csv_files, st.booleans(), st.booleans(), st.sampled_from([1, 2, 10**6]))
def test_csv_stream(data, weighted, docids, n_rows):
    convention = ra.parse("trec_eval_9@5" if docids else "textbook@5")
    convention = convention.replace(average="query") if weighted else convention
    names = [name for name, wanted in (("weight", weighted), ("docid", docids)) if wanted]

    def plain():
        columns = columns_of(data, ["label", "score", *(["weight"] * weighted)], ["qid", *(["docid"] * docids)])
        queries = rows_of_table(columns, "error")
        first = dict(zip(queries[::-1], columns.get("weight", [])[::-1], strict=False))
        found = said(
            lambda: ra.evaluate(
                columns["label"], columns["score"], convention, qid=queries, docid=columns.get("docid"),
                query_weight=[first[name] for name in dict.fromkeys(queries)] if weighted else None,
            )
        )  # fmt: skip
        refuse_unless(found != "InputError", "not to be evaluated")
        return found

    with ExitStack() as stack:
        stack.enter_context(blocks_of(50))
        stack.enter_context(pytest.MonkeyPatch.context()).setattr(csv_lines, "ROWS_AT_ONCE", n_rows)
        both(
            lambda: ra.evaluate_stream(held(data), convention, **{ROLES[name]: name for name in names}).to_dict(), plain
        )
