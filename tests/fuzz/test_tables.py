"""Readers of CSV and Parquet on mutated files, columns of any Arrow type, and files with changed bytes."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.io import read_table
from rankadapters.io.judgments import SPLIT_QUERIES
from tests.fuzz.budget import compare_readers, content_of, in_parts_of, plain_content, plain_evaluate, saved, share
from tests.fuzz.mutations import changed_bytes, mutated_bytes
from tests.fuzz.plain_readers import columns_of, refuse_unless, rows_of_table

pytestmark = pytest.mark.long

TABLES = [
    "label,score,qid,docid,weight\n2,0.5,7,a,1\n0,0.75,7,b,1\n1,-1e-3,9,a,0.5\n",
    'qid,"label",score,docid,weight,note\r\n"07",1,.5,"a ""b""",2,\r\n"07",0,1,"a,b",2,"two\nlines"\r\n8,1,5.,é,2,\r\n',
    "\nlabel,qid,score,weight,docid\n\n1, 7 , 0.25\t,1,NULL\n0,NA,+1,1,nan\n\n",
    "label,score,qid,docid,weight\r1,0.5,7,a,1\r0,0.75,7,b,1\r",
]
PIECES = ["7", "9", "label", "qid", ",,", '"a', 'a"', '"7"', '"\n"', "NULL", "1,1", "note"]

csv_files = mutated_bytes(TABLES, PIECES)
NUMBERS, TEXTS = ("label", "score", "weight"), ("qid", "docid")
PARAMETERS = {"label": "label", "score": "score", "weight": "query_weight", "qid": "qid", "docid": "docid"}


def read_content(data, names, **options):
    """Return the content of these columns as our reader reads them."""
    columns = {"score": None} | {PARAMETERS[name]: name for name in names}
    return content_of(read_table(saved(data), **columns, **options), scored="score" in names)


def checked_columns(columns, split_queries="error"):
    """Check that the columns fit together, and name them as `plain_content` does."""
    queries = rows_of_table(columns, split_queries)
    column_names = {"labels": "label", "scores": "score", "docids": "docid", "weights": "weight"}
    return {"queries": queries} | {name: columns.get(column) for name, column in column_names.items()}


def csv_columns(data, names):
    return columns_of(data, [name for name in NUMBERS if name in names], [name for name in TEXTS if name in names])


def convention_for(names):
    """Return a convention that needs the docids and weights that there are."""
    convention = ra.parse("trec_eval_9@5" if "docid" in names else "textbook@5")
    return convention.replace(average="query") if "weight" in names else convention


def stream_score(data, names):
    options = {PARAMETERS[name]: name for name in ("weight", "docid") if name in names}
    return ra.evaluate_table(saved(data), convention_for(names), **options).to_dict()


@share(0.09)
@given(csv_files, st.sets(st.sampled_from(["score", "docid", "weight"])), st.sampled_from(SPLIT_QUERIES))
def test_csv(data, optional_names, split_queries):
    names = {"label", "qid", *optional_names}
    compare_readers(
        lambda: read_content(data, names, split_queries=split_queries),
        lambda: plain_content(**checked_columns(csv_columns(data, names), split_queries)),
    )


@share(0.03)
@given(csv_files, st.sets(st.sampled_from(["docid", "weight"])), st.sampled_from([1, 2, 10**6]))
def test_csv_stream(data, optional_names, n_rows):
    names = {"label", "qid", "score", *optional_names}
    with in_parts_of(n_rows):
        compare_readers(
            lambda: stream_score(data, names),
            lambda: plain_evaluate(convention_for(names), **checked_columns(csv_columns(data, names))),
        )


WHOLE = st.sampled_from([0, 1, 2, 3, 5])
LARGE = st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**53), -(2**53) - 1, 0, 1])
FLOATS = st.sampled_from([0.0, -0.0, 0.1, 0.5, 1.0, 2.0, 1e300, -1.5, math.nan, math.inf, 2.0**53, 2.0**60, 5e-324])
FEW = st.sampled_from([0.0, 0.5, 1.0, 2.0])
ANY = {
    "bool": st.booleans(), "null": st.none(), "list": st.just([1]), "binary": st.sampled_from([b"a", b"b", b"\xff"]),
}  # fmt: skip


def arrow_type(name):
    """Return the Arrow type of a name: an alias of pyarrow or a key of `types`."""
    pa = pytest.importorskip("pyarrow")
    types = {
        "dictionary": pa.dictionary(pa.int8(), pa.string()), "list": pa.list_(pa.int8()),
        "struct": pa.struct({"x": pa.int8()}), "decimal": pa.decimal128(20, 3),
        "timestamp": pa.timestamp("us", "UTC"), "date32": pa.date32(), "string_view": pa.string_view(),
    }  # fmt: skip
    return types.get(name) or pa.type_for_alias(name)


@st.composite
def typed_columns(draw, usual, unusual, *, max_rows):
    """Draw an Arrow type and Python values for each column; a few columns have an unusual type or a null."""
    n, columns = draw(st.integers(1, max_rows)), {}
    for name, kinds in usual.items():
        allowed = draw(st.sampled_from([kinds] * 9 + [unusual]))
        kind = draw(st.sampled_from(sorted(allowed)))
        values = draw(st.lists(allowed[kind], min_size=n, max_size=n))
        if draw(st.integers(0, 15)) == 0:
            values[draw(st.integers(0, n - 1))] = None
        columns[name] = (kind, values)
    return columns


def parquet_bytes(columns, rows_at_once=64):
    """Return columns as the bytes of a Parquet file."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    sink = BytesIO()
    arrays = {name: pa.array(values, arrow_type(kind)) for name, (kind, values) in columns.items()}
    parquet.write_table(pa.table(arrays), sink, row_group_size=rows_at_once)
    return sink.getvalue()


IDS = st.sampled_from(["a", "b", "c", "é", "07", "long enough for two words", ""])
NUMBER_TYPES = {
    **{f"{sign}int{bits}": WHOLE for sign in ("", "u") for bits in (8, 16, 32)},
    "int64": WHOLE | LARGE, "uint64": WHOLE, "float16": FEW, "float32": FEW, "float64": FEW | FLOATS,
    "bool": st.booleans(),
    "decimal": st.sampled_from([Decimal("0.5"), Decimal(2), Decimal(2**53 + 1), Decimal(-1)]),
}  # fmt: skip
TEXT_TYPES = {
    **dict.fromkeys(("string", "large_string", "string_view", "dictionary"), IDS),
    "int64": WHOLE | LARGE, "uint8": WHOLE,
}  # fmt: skip
OTHER_TYPES = {
    **ANY, "date32": st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 3)), "struct": st.just({"x": 1}), "float64": FEW,
    "timestamp": st.sampled_from([dt.datetime(2020, 1, day, tzinfo=dt.UTC) for day in (1, 2)]),
}  # fmt: skip


@st.composite
def tables(draw):
    """Draw an Arrow type and Python values for each role."""
    roles = draw(st.sampled_from([("label", "qid"), ("label", "score", "qid"), (*NUMBERS, *TEXTS)]))
    usual = {role: NUMBER_TYPES if role in NUMBERS else TEXT_TYPES for role in roles}
    columns = draw(typed_columns(usual, {**NUMBER_TYPES, **TEXT_TYPES, **OTHER_TYPES}, max_rows=6))
    for role, (kind, values) in columns.items():
        if role in {"qid", "weight"} and draw(st.integers(0, 3)):
            columns[role] = kind, [values[0]] * len(values) if role == "weight" else sorted(values, key=repr)
    return columns


def numbers_of(kind, values):
    refuse_unless(kind in NUMBER_TYPES, "not numbers")
    refuse_unless(None not in values, "missing")
    numbers = [float(value) for value in values]
    refuse_unless(all(map(math.isfinite, numbers)), "not finite")
    whole = "int" in kind or "decimal" in kind
    refuse_unless(not whole or all(abs(value) <= 2**53 for value in values), "beyond 2^53")
    return numbers


def parquet_columns(columns):
    """Return the columns of a valid table; a query is named by its first row."""
    read_columns = {role: numbers_of(*columns[role]) for role in NUMBERS if role in columns}
    for role in set(TEXTS) & set(columns):
        kind, values = columns[role]
        refuse_unless(kind not in {"list", "struct", "decimal"}, "nested, or a decimal, which is no id")
        refuse_unless(role == "qid" or kind in TEXT_TYPES or "int" in kind, "not a docid")
        refuse_unless(None not in values and "" not in values, "missing")
        read_columns[role] = list(map(str, values)) if role == "docid" else first_rows(values)
    return checked_columns(read_columns)


def first_rows(queries):
    return [queries.index(query) for query in queries]


@share(0.03)
@given(tables(), st.sampled_from([1, 2, 64]))
def test_parquet(columns, n_rows):
    data = parquet_bytes(columns, n_rows)

    def read():
        labels, scores, queries, *ranks_and_weights = read_content(data, columns)
        return labels, scores, first_rows(queries), *ranks_and_weights

    compare_readers(read, lambda: plain_content(**parquet_columns(columns)))


@share(0.015)
@given(tables(), st.sampled_from([1, 2, 64]))
def test_parquet_stream(columns, n_rows):
    columns = {"score": ("float64", [0.5] * len(columns["qid"][1])), **columns}
    data = parquet_bytes(columns, n_rows)

    def without_digest(score):  # the digest depends on the type of the ids
        return {name: fact for name, fact in score.items() if name != "digest"}

    with in_parts_of(n_rows):
        compare_readers(
            lambda: without_digest(stream_score(data, columns)),
            lambda: without_digest(plain_evaluate(convention_for(columns), **parquet_columns(columns))),
        )


GOOD = {
    "label": ("int64", [2, 0, 1]), "score": ("float64", [0.5, 0.25, 1.0]), "qid": ("string", ["a", "a", "b"]),
    "docid": ("string", ["x", "y", "x"]),
}  # fmt: skip


@share(0.015)
@given(st.deferred(lambda: changed_bytes(parquet_bytes(GOOD))))
def test_parquet_with_other_bytes(data):
    for read in (lambda: read_content(data, GOOD), lambda: ra.evaluate_table(saved(data), "textbook@5")):
        try:
            read()
        except ra.RankAdaptersError as error:
            assert str(error).startswith(str(saved(data)))
