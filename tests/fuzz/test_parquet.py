"""The reader of Parquet tables: columns of any type, and files with bytes changed."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.io import read_table
from rankadapters.io.text import LoadedFile
from tests.fuzz.budget import bits, blocks_of, both, docid_order, held, names_of, plain_docid_order, said, share
from tests.fuzz.mutations import other_bytes
from tests.fuzz.plain_letor import queries_of, refuse_twice
from tests.fuzz.plain_text import refuse_unless

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402 - after the skip

WHOLE = st.sampled_from([0, 1, 2, 3, 5])
LARGE = st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**53), -(2**53) - 1, 0, 1])
FLOATS = st.sampled_from([0.0, -0.0, 0.5, 1.0, 2.0, 1e300, -1.5, math.nan, math.inf, 2.0**53, 2.0**60, 5e-324])
FEW = st.sampled_from([0.0, 0.5, 1.0, 2.0])
IDS = st.sampled_from(["a", "b", "c", "é", "07", "long enough for two words", ""])
NUMBERS = {
    **{f"{sign}int{bits_}": WHOLE for sign in ("", "u") for bits_ in (8, 16, 32)},
    "int64": WHOLE | LARGE, "uint64": WHOLE, "float16": FEW, "float32": FEW, "float64": FEW | FLOATS,
    "bool": st.booleans(),
    "decimal128(20, 1)": st.sampled_from([Decimal("0.5"), Decimal(2), Decimal(2**53 + 1), Decimal(-1)]),
}  # fmt: skip
TEXTS = {
    "string": IDS,
    "large_string": IDS,
    "string_view": IDS,
    "dictionary": IDS,
    "int64": WHOLE | LARGE,
    "uint8": WHOLE,
}
OTHERS = {
    "binary": st.sampled_from([b"a", b"b"]), "date32": st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 3)),
    "list": st.just([1]), "struct": st.just({"x": 1}), "bool": st.booleans(), "float64": FEW,
    "timestamp": st.sampled_from([dt.datetime(2020, 1, day, tzinfo=dt.UTC) for day in (1, 2)]),
    "null": st.none(),
}  # fmt: skip
NUMBER_ROLES, TEXT_ROLES = ("label", "score", "weight"), ("qid", "docid")
PARAMETERS = {"score": "score", "weight": "query_weight", "qid": "qid", "docid": "docid", "label": "label"}


def arrow_type(name):
    made = {
        "dictionary": pa.dictionary(pa.int8(), pa.string()), "list": pa.list_(pa.int8()),
        "struct": pa.struct({"x": pa.int8()}), "decimal128(20, 1)": pa.decimal128(20, 1),
        "timestamp": pa.timestamp("us", "UTC"), "date32": pa.date32(), "string_view": pa.string_view(),
    }  # fmt: skip
    return made.get(name) or pa.type_for_alias(name)


@st.composite
def tables(draw):
    """Python values and Arrow types by role."""
    n = draw(st.integers(1, 6))
    found = {}
    for role in draw(st.sampled_from([("label", "qid"), ("label", "score", "qid"), (*NUMBER_ROLES, *TEXT_ROLES)])):
        usual = NUMBERS if role in NUMBER_ROLES else TEXTS
        kinds = draw(st.sampled_from([usual] * 9 + [{**NUMBERS, **TEXTS, **OTHERS}]))
        kind = draw(st.sampled_from(sorted(kinds)))
        values = draw(st.lists(kinds[kind], min_size=n, max_size=n))
        if draw(st.integers(0, 15)) == 0:
            values[draw(st.integers(0, n - 1))] = None
        if role in {"qid", "weight"} and draw(st.integers(0, 3)):
            values = [values[0]] * n if role == "weight" else sorted(values, key=repr)
        found[role] = (kind, values)
    return found


def written(columns, rows_at_once=64):
    sink = BytesIO()
    arrays = {role: pa.array(values, arrow_type(kind)) for role, (kind, values) in columns.items()}
    parquet.write_table(pa.table(arrays), sink, row_group_size=rows_at_once)
    return sink.getvalue()


def numbers_of(kind, values):
    refuse_unless(kind in NUMBERS, "not numbers")
    refuse_unless(None not in values, "missing")
    found = [float(value) for value in values]
    refuse_unless(all(map(math.isfinite, found)), "not finite")
    whole = "int" in kind or "decimal" in kind
    refuse_unless(not whole or all(abs(value) <= 2**53 for value in values), "beyond 2^53")
    return found


def content(columns):
    found = {role: numbers_of(*columns[role]) for role in NUMBER_ROLES if role in columns}
    for role in TEXT_ROLES:
        kind, values = columns.get(role, ("string", ["a"]))
        refuse_unless(kind not in {"list", "struct"}, "nested")
        refuse_unless(role == "qid" or kind in TEXTS or "int" in kind, "not a docid")
        refuse_unless(None not in values and "" not in values, "missing")
    queries = queries_of(columns["qid"][1], "error")
    order = None
    if "docid" in columns:
        docids = [str(value) for value in columns["docid"][1]]
        refuse_twice(queries, docids)
        order = plain_docid_order(queries, docids)
    weights = None
    if "weight" in found:
        by_query = dict(zip(queries, found["weight"], strict=True))
        refuse_unless(len(set(zip(queries, found["weight"], strict=True))) == len(by_query), "a weight that changes")
        refuse_unless(all(w == 0 or w > 2.3e-308 for w in by_query.values()), "a weight")
        weights = bits(list(by_query.values()))
    scores = bits(found["score"]) if "score" in found else None
    return bits(found["label"]), scores, _numbered(queries), order, weights


def _numbered(queries):
    return [queries.index(query) for query in queries]


@share(0.03)
@given(tables(), st.sampled_from([1, 2, 64]))
def test_parquet(columns, rows_at_once):
    data = written(columns, rows_at_once)

    def read():
        found = read_table(held(data), **{"score": None, **{PARAMETERS[role]: role for role in columns}})
        queries = found.queries
        weights = None if queries.query_weight is None else bits(queries.query_weight)
        scores = bits(found.scores) if "score" in columns else None
        return bits(queries.labels), scores, _numbered(names_of(queries)), docid_order(queries), weights

    both(read, lambda: content(columns))


@share(0.015)
@given(tables(), st.sampled_from([1, 2, 64]))
def test_parquet_stream(columns, rows_at_once):
    columns = {"score": ("float64", [0.5] * len(columns["qid"][1])), **columns}
    data = written(columns, rows_at_once)
    convention = ra.parse("trec_eval_9@5" if "docid" in columns else "textbook@5")
    more = {PARAMETERS[role]: role for role in ("weight", "docid") if role in columns}
    if "weight" in columns:
        convention = convention.replace(average="query")

    def plain():
        content(columns)
        queries = columns["qid"][1]
        first = dict(zip(queries, columns["weight"][1], strict=True)) if "weight" in columns else None
        found = said(
            lambda: ra.evaluate(
                [float(value) for value in columns["label"][1]],
                np.asarray([float(value) for value in columns["score"][1]]),
                convention,
                qid=_numbered(queries),
                query_weight=None if first is None else [float(weight) for weight in first.values()],
                docid=[str(value) for value in columns["docid"][1]] if "docid" in columns else None,
            )
        )
        refuse_unless(found != "InputError", "not to be evaluated")
        found.pop("digest", None)
        return found

    def read():
        found = ra.evaluate_stream(held(data), convention, **more).to_dict()
        found.pop("digest", None)
        return found

    with blocks_of(50):
        both(read, plain)


GOOD = {
    "label": ("int64", [2, 0, 1]), "score": ("float64", [0.5, 0.25, 1.0]), "qid": ("string", ["a", "a", "b"]),
    "docid": ("string", ["x", "y", "x"]),
}  # fmt: skip


@share(0.015)
@given(other_bytes(written(GOOD)))
def test_parquet_with_other_bytes(data):
    file = LoadedFile("fuzzed", data)
    for read in (
        lambda: read_table(file, **{role: role for role in GOOD}),
        lambda: ra.evaluate_stream(file, "textbook@5"),
    ):
        try:
            read()
        except ra.RankAdaptersError as error:
            assert str(error).startswith("fuzzed")
