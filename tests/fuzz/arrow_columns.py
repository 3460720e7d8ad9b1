"""Columns of random Arrow types, written as Parquet files."""

from __future__ import annotations

import math
from io import BytesIO
from typing import Any

import pytest
from hypothesis import strategies as st

WHOLE = st.sampled_from([0, 1, 2, 3, 5])
LARGE = st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**53), -(2**53) - 1, 0, 1])
FLOATS = st.sampled_from([0.0, -0.0, 0.1, 0.5, 1.0, 2.0, 1e300, -1.5, math.nan, math.inf, 2.0**53, 2.0**60, 5e-324])
FEW = st.sampled_from([0.0, 0.5, 1.0, 2.0])
ANY = {
    "bool": st.booleans(), "null": st.none(), "list": st.just([1]), "binary": st.sampled_from([b"a", b"b", b"\xff"]),
}  # fmt: skip


def arrow_type(name: str) -> Any:
    """Return the Arrow type of a name: an alias of pyarrow or a key of `types`."""
    pa = pytest.importorskip("pyarrow")
    types = {
        "dictionary": pa.dictionary(pa.int8(), pa.string()), "list": pa.list_(pa.int8()),
        "struct": pa.struct({"x": pa.int8()}), "decimal": pa.decimal128(20, 3),
        "timestamp": pa.timestamp("us", "UTC"), "date32": pa.date32(), "string_view": pa.string_view(),
    }  # fmt: skip
    return types.get(name) or pa.type_for_alias(name)


@st.composite
def typed_columns(draw: st.DrawFn, usual: dict[str, dict[str, Any]], unusual: dict[str, Any], *, max_rows: int) -> Any:
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


def parquet_bytes(columns: dict[str, tuple[str, list[Any]]], rows_at_once: int = 64) -> bytes:
    """Return columns as the bytes of a Parquet file."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    sink = BytesIO()
    arrays = {name: pa.array(values, arrow_type(kind)) for name, (kind, values) in columns.items()}
    parquet.write_table(pa.table(arrays), sink, row_group_size=rows_at_once)
    return sink.getvalue()
