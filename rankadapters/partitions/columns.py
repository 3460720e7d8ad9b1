"""Columns of a partition, of pandas or Arrow, as arrays; an error names the column and the row."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core.data.columns import Array, as_numbers, refuse_non_finite, text_column
from rankadapters.core.data.ids import id_column
from rankadapters.core.errors import InputError


def numbers(name: str, column: Any) -> Array:
    """Finite numbers, as float32 (kept) or float64."""
    found = as_numbers(name, column)
    refuse_non_finite(name, found)
    return found


def query_ids(name: str, column: Any) -> tuple[Array, Array | None]:
    """Query of each row: integers as they are, or numbers of texts, and the texts."""
    from pyarrow import types

    kind = getattr(column, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in "iu":
        return id_column(column.to_numpy()), None
    arrow = _arrow(name, column)
    if types.is_integer(arrow.type):
        return id_column(arrow.to_numpy(zero_copy_only=False)), None
    if not _is_text(arrow.type):
        raise _wrong_type(name, arrow, "integers or strings are needed, which have one spelling everywhere")
    encoded = arrow.dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), _objects(encoded.dictionary.to_pylist())


def texts(name: str, column: Any) -> Array:
    """Document of each row; integers are taken as their decimal digits."""
    from pyarrow import types

    arrow = _arrow(name, column)
    if not (_is_text(arrow.type) or types.is_integer(arrow.type)):
        raise _wrong_type(name, arrow, "strings or integers are needed")
    return text_column(arrow.cast("large_string").to_pylist())


def places(name: str, column: Any) -> Array:
    """What rows are sorted by: numbers or times, none of them missing."""
    from pyarrow import types

    arrow = _arrow(name, column)
    if not (types.is_integer(arrow.type) or types.is_floating(arrow.type) or types.is_temporal(arrow.type)):
        raise _wrong_type(name, arrow, "numbers or times are needed")
    found: Array = arrow.to_numpy(zero_copy_only=False)
    if found.dtype.kind == "f":
        refuse_non_finite(name, found)
    return found


def encoded(ids: Array) -> tuple[Array, Array | None]:
    """Numbers of ids, and the texts that they number; integers stay as they are."""
    return (ids, None) if ids.dtype.kind in "iu" else query_ids("qid", ids)


def _arrow(name: str, column: Any) -> Any:
    """One array of Arrow's without a dictionary, views or missing entries."""
    import pyarrow as pa

    try:
        arrow = column if isinstance(column, (pa.Array, pa.ChunkedArray)) else pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        why = str(error).splitlines()[0]
        msg = f"{name} holds values of several types, but one is needed ({why}).\nHint: convert the column first."
        raise InputError(msg) from None
    if pa.types.is_dictionary(arrow.type):
        arrow = arrow.cast(arrow.type.value_type)
    if _is_text(arrow.type):
        arrow = arrow.cast("large_string")
    if isinstance(arrow, pa.ChunkedArray):
        arrow = arrow.combine_chunks()
    if arrow.null_count:
        row = int(arrow.is_null().index(True).as_py())
        raise InputError(f"{name}[{row}] is missing.\nHint: mend or drop the row.", row=row)
    return arrow


def _is_text(kind: Any) -> bool:
    return str(kind) in {"string", "large_string", "string_view"}


def _objects(items: list[Any]) -> Array:
    return np.fromiter(items, dtype=object, count=len(items))


def _wrong_type(name: str, arrow: Any, needed: str) -> InputError:
    return InputError(f"column {name!r} has type {arrow.type}, but {needed}.\nHint: cast it first.")
