"""Columns of random Arrow types, as files of Parquet."""

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
    """Type of a name, which is pyarrow's alias or short for one that takes parameters."""
    pa = pytest.importorskip("pyarrow")
    made = {
        "dictionary": pa.dictionary(pa.int8(), pa.string()), "list": pa.list_(pa.int8()),
        "struct": pa.struct({"x": pa.int8()}), "decimal": pa.decimal128(20, 3),
        "timestamp": pa.timestamp("us", "UTC"), "date32": pa.date32(), "string_view": pa.string_view(),
    }  # fmt: skip
    return made.get(name) or pa.type_for_alias(name)


@st.composite
def typed_columns(draw: st.DrawFn, usual: dict[str, dict[str, Any]], others: dict[str, Any], *, most: int) -> Any:
    """Arrow types and Python values by column; seldom another type than usual, or a null."""
    n, found = draw(st.integers(1, most)), {}
    for name, kinds in usual.items():
        allowed = draw(st.sampled_from([kinds] * 9 + [others]))
        kind = draw(st.sampled_from(sorted(allowed)))
        values = draw(st.lists(allowed[kind], min_size=n, max_size=n))
        if draw(st.integers(0, 15)) == 0:
            values[draw(st.integers(0, n - 1))] = None
        found[name] = (kind, values)
    return found


def written(columns: dict[str, tuple[str, list[Any]]], rows_at_once: int = 64) -> bytes:
    """Write columns to a file in memory."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    sink = BytesIO()
    arrays = {name: pa.array(values, arrow_type(kind)) for name, (kind, values) in columns.items()}
    parquet.write_table(pa.table(arrays), sink, row_group_size=rows_at_once)
    return sink.getvalue()
