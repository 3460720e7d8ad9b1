"""The reader of results of `compare` in Parquet: columns of any type, and files with bytes changed."""

from __future__ import annotations

import math
import tempfile
from decimal import Decimal
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.compare import Results
from tests.fuzz.budget import bits, both, in_memory, share
from tests.fuzz.mutations import other_bytes
from tests.fuzz.plain_results import NEEDED, Cell, number_of, with_directions
from tests.fuzz.plain_text import refuse_unless

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402 - after the skip

NAMES = st.sampled_from(["a", "b", "a, b", "é", "x\0", " ", ""])
TEXT = {"string": NAMES, "large_string": NAMES, "string_view": NAMES}
MEASURES = st.sampled_from(["MAP", "map", "letor4@10", "ndcg@10/letor4", "letor4@5", "yahoo@10", "NDCG@10", "a", ""])
FLOATS = st.sampled_from([0.0, -0.0, 0.5, 0.1, 1e300, math.nan, math.inf, 5e-324])
SPELLED = st.sampled_from(["0.450", ".5e-1", "5.", "1E-3", "-0", "1e-400", "1e400", "0x1", "", "nan", "1_0", "٣"])
TYPES = {
    "string": pa.string(), "large_string": pa.large_string(), "string_view": pa.string_view(), "int64": pa.int64(),
    "uint8": pa.uint8(), "float64": pa.float64(), "float32": pa.float32(), "bool": pa.bool_(), "null": pa.null(),
    "decimal": pa.decimal128(20, 3), "list": pa.list_(pa.int8()), "binary": pa.binary(),
}  # fmt: skip
OTHERS = {
    "int64": st.sampled_from([0, 1, 2**53 + 1, -3]), "float64": FLOATS, "bool": st.booleans(), "null": st.none(),
    "list": st.just([1]), "binary": st.sampled_from([b"a", b"\xff"]),
}  # fmt: skip
COLUMNS = {
    "method": TEXT, "dataset": TEXT, "measure": {"string": MEASURES, "string_view": MEASURES},
    "value": {
        "float64": FLOATS, "float32": st.sampled_from([0.5, 0.25]), "int64": OTHERS["int64"], "uint8": st.just(7),
        "string": SPELLED, "decimal": st.sampled_from([Decimal("0.500"), Decimal("-1.250")]),
    },
    "source": {**TEXT, "null": st.none()},
    "higher_is_better": {"bool": st.booleans(), "string": st.sampled_from(["True", "false", "", "yes"])},
}  # fmt: skip


@st.composite
def tables(draw):
    """Python values and Arrow types by column."""
    n = draw(st.integers(1, 4))
    found = {}
    for name, usual in COLUMNS.items():
        if draw(st.integers(0, 11 if name in NEEDED else 2)) == 0:
            continue
        kinds = draw(st.sampled_from([usual] * 12 + [OTHERS]))
        kind = draw(st.sampled_from(sorted(kinds)))
        values = draw(st.lists(kinds[kind], min_size=n, max_size=n))
        if draw(st.integers(0, 15)) == 0:
            values[draw(st.integers(0, n - 1))] = None
        found[name] = (kind, values)
    if draw(st.integers(0, 15)) == 0:
        found["more"] = ("int64", [0] * n)
    return found


def written(columns):
    sink = BytesIO()
    parquet.write_table(pa.table({name: pa.array(each, TYPES[kind]) for name, (kind, each) in columns.items()}), sink)
    return sink.getvalue()


def read(data):
    with tempfile.NamedTemporaryFile(dir=in_memory()) as file:
        file.write(data)
        file.flush()
        return Results.read(file.name)


def cells_in(found):
    columns = (found.method, found.dataset, found.measure, found.values, found.decimals, found.sources)
    return [
        Cell(
            found.methods[method], found.datasets[dataset], found.measures[measure], *bits(value), decimals, source,
            found.higher[measure],
        )
        for method, dataset, measure, value, decimals, source in zip(*columns, strict=True)
    ]  # fmt: skip


def value_of(value):
    """Read a number as it is, of which nobody knows the decimals, and a text or decimal as it is printed."""
    if isinstance(value, str | Decimal):
        return number_of(str(value))
    refuse_unless(isinstance(value, int | float) and not isinstance(value, bool), "not a number")
    refuse_unless(math.isfinite(value), "not finite")
    return float(value).hex(), -1


def plain_cells(columns):
    refuse_unless(set(NEEDED) <= set(columns) <= set(COLUMNS), "other columns")
    given = {name: values for name, (_, values) in columns.items()}
    n = len(given["value"])
    for name in NEEDED[:3]:
        refuse_unless(all(isinstance(text, str) and text.strip() for text in given[name]), "not a name")
    values = [value_of(value) for value in given["value"]]
    sources = [_source(value) for value in given.get("source", [None] * n)]
    said = [_direction(value) for value in given.get("higher_is_better", [None] * n)]
    return with_directions(given["method"], given["dataset"], given["measure"], values, sources, said)


def _source(value):
    missing = value is None or value == "" or (isinstance(value, float) and math.isnan(value))
    return None if missing else str(value)


def _direction(value):
    """Spell it as CSV does."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    refuse_unless(isinstance(value, str | bool), "not a direction")
    return str(value)


@share(0.02)
@given(tables())
def test_results_parquet(columns):
    refusable = not columns or len({len(values) for _, values in columns.values()}) != 1
    if refusable:
        return
    data = written(columns)
    both(lambda: cells_in(read(data)), lambda: plain_cells(columns))


GOOD = {
    "method": ("string", ["a", "b"]), "dataset": ("string", ["D", "D"]), "measure": ("string", ["letor4@10"] * 2),
    "value": ("float64", [0.5, 0.25]),
}  # fmt: skip


@share(0.01)
@given(other_bytes(written(GOOD)))
def test_results_parquet_with_other_bytes(data):
    try:
        found = read(data)
    except ra.RankAdaptersError as error:
        assert str(error).strip()
    else:
        assert np.isfinite(found.values).all()
