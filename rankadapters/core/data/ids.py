"""Query ids: which values are ids, their plain values, and hashes that identify queries in results.

Equal ids of different types have the same plain value and hash. Hashes are the same in every process and on every
machine.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Array
from rankadapters.core.data.columns import text_column

Words = NDArray[np.uint64]

# The first match decides, so the subclasses come first: bool of int, timedelta64 of np.integer, datetime of date.
_KINDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("bool", (bool, np.bool_)),
    ("", (np.timedelta64,)),
    ("integer", (int, np.integer)),
    ("float", (float, np.float16, np.float32)),
    ("text", (str,)),
    ("bytes", (bytes,)),
    ("datetime", (datetime, np.datetime64)),
    ("date", (date,)),
)
ALLOWED_IDS = "integers, floats, bools, texts, bytes, dates, times, and tuples of these"
_DAYS = {"Y", "M", "W", "D"}  # units of datetime64 without a time of day
_INT64, _UINT64 = np.iinfo(np.int64), np.iinfo(np.uint64)

_GAMMA = np.uint64(0x9E3779B97F4A7C15)  # this and the next two are the constants of splitmix64
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_WORDS_PER_BLOCK = 2**14  # so that the arrays of a block stay in the processor's cache


def kind_of(item: object) -> str:
    """Return the kind of an id; an empty string for a value that is not an id.

    >>> kind_of(np.int8(7)), kind_of("7"), kind_of(("a", 7)), kind_of(7j)
    ('integer', 'text', 'tuple', '')
    """
    if isinstance(item, tuple):
        return "tuple" if all(map(kind_of, item)) else ""
    kind = next((kind for kind, types in _KINDS if isinstance(item, types)), "")
    return "date" if isinstance(item, np.datetime64) and np.datetime_data(item.dtype)[0] in _DAYS else kind


def id_form(item: object) -> str:
    """Return the kind of an id, in which all numbers except bools are one; of a tuple, the kinds of its entries.

    >>> id_form(7.0), id_form(True), id_form(("a", 7))
    ('number', 'bool', '(text, number)')
    """
    if isinstance(item, tuple):
        return f"({', '.join(map(id_form, item))})"
    kind = kind_of(item)
    return "number" if kind != "bool" and isinstance(item, (Number, np.number)) else kind or type(item).__name__


def id_value(item: Any) -> Any:
    """Return an id as a plain Python value: equal ids give the same value, with the same repr.

    A whole number of any type becomes an int, and a time in any unit becomes its instant in UTC. A date never equals
    a time, and a text never equals a number. Values that are not ids are returned unchanged.

    Examples
    --------
    >>> id_value(np.int64(7)), id_value(np.float32(7)), id_value("7"), id_value((np.str_("a"), np.int8(1)))
    (7, 7, '7', ('a', 1))
    >>> id_value(np.datetime64("2026-01-31T12:00", "ns")), id_value(np.datetime64("2026-01-31"))
    (datetime.datetime(2026, 1, 31, 12, 0), datetime.date(2026, 1, 31))
    """
    if isinstance(item, str):
        return str.__str__(item)
    if isinstance(item, (date, np.datetime64)):
        return _time(item)
    if isinstance(item, tuple):
        return tuple(map(id_value, item))
    if isinstance(item, np.generic):
        item = item.item()
    is_whole = isinstance(item, int) or (isinstance(item, float) and item.is_integer())
    return int(item) if is_whole else item


def id_values(ids: Array) -> list[Any]:
    """Return `id_value` of each id of a column."""
    return list(map(id_value, ids if ids.dtype.kind == "M" else ids.tolist()))  # `tolist` makes some times integers


def id_column(ids: Array) -> Array:
    """Return ids in the widest type of their kind, so that columns of one kind compare, join and sort by value.

    An object column whose ids all have one kind becomes a column of that kind. Integers become int64, or uint64 if
    they are uint64 already or do not fit into int64.

    Examples
    --------
    >>> id_column(np.array([7, 8], np.int8)).dtype, id_column(np.array(["a", "b"], object)).dtype
    (dtype('int64'), dtype('<U1'))
    >>> id_column(np.array([7, "7"], object))
    array([7, '7'], dtype=object)
    """
    if ids.dtype == object:
        return _column_of_objects(ids)
    if ids.dtype.kind in "iu":
        return ids.astype(np.uint64 if ids.dtype == np.uint64 else np.int64, copy=False)
    return ids.astype(np.float64, copy=False) if ids.dtype.kind == "f" else ids


def _column_of_objects(ids: Array) -> Array:
    kinds, values = set(map(kind_of, ids)), id_values(ids)
    kind = kinds.pop() if len(kinds) == 1 else ""
    if kind == "text":
        return text_column(values)
    if kind in {"datetime", "date"}:
        return np.array([_in_numpy(item) for item in ids])
    dtype: type = {"float": np.float64, "bool": np.bool_}.get(kind, object)
    if kind == "integer":
        fits = (info.dtype.type for info in (_INT64, _UINT64) if info.min <= min(values) and max(values) <= info.max)
        dtype = next(fits, object)
    column: Array = np.empty(ids.size, dtype)
    column[:] = values
    return column


def id_kind(ids: Array) -> str:
    """Return the kind of a column that `id_column` returned, for messages.

    Examples
    --------
    >>> id_kind(np.array(["a"])), id_kind(np.array([7, "7"], object)), id_kind(np.array(["2026-01-31"], "M8[D]"))
    ('text', 'integer and text', 'date')
    """
    if ids.dtype == object:
        kinds = set(map(kind_of, ids))
        return "integer beyond 64 bits" if kinds == {"integer"} else " and ".join(sorted(kinds))
    return "unsigned integer" if ids.dtype.kind == "u" else kind_of(np.zeros(1, ids.dtype)[0])


def hash_ids(ids: Array) -> Words:
    """Hash each query id by its value: the same id has the same hash in any column type, process and machine."""
    if ids.dtype.kind in "iu":
        words = ids.astype(np.uint64)
        beyond = np.flatnonzero(ids > _INT64.max)
        words[beyond] = list(map(_word, ids[beyond].tolist()))
    else:
        words = np.fromiter(map(_word, id_values(ids)), np.uint64, ids.size)
    return mixed(words)


def _word(value: object) -> int:
    """Return 64 bits for an `id_value`: the value itself if it is an int64, otherwise a digest."""
    if isinstance(value, int) and _INT64.min <= value <= _INT64.max:
        return value % 2**64
    return int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=8).digest(), "little")


def hash_sums(hashes: Words, indptr: NDArray[np.int64]) -> Words:
    """Return the sum of each query's hashes, which does not depend on their order."""
    sums, nonempty = np.zeros(indptr.size - 1, np.uint64), np.flatnonzero(indptr[1:] > indptr[:-1])
    sums[nonempty] = np.add.reduceat(hashes, indptr[nonempty])
    return sums


def mixed(words: Words) -> Words:
    """Hash each word separately, by the finalizer of splitmix64 (Steele, Lea & Flood 2014)."""
    hashes = words + _GAMMA
    for start in range(0, hashes.size, _WORDS_PER_BLOCK):
        block = hashes[start : start + _WORDS_PER_BLOCK]
        block ^= block >> np.uint64(30)
        block *= _FIRST
        block ^= block >> np.uint64(27)
        block *= _SECOND
        block ^= block >> np.uint64(31)
    return hashes


def _in_numpy(item: Any) -> Any:
    """Convert a Python, pandas or numpy time to numpy, with all digits, and to UTC if it has a time zone."""
    if isinstance(item, datetime) and item.tzinfo is not None:
        item = item.astimezone(UTC).replace(tzinfo=None)
    # A pandas time may have nanoseconds, which numpy.datetime64(item) would drop.
    return item.to_numpy() if hasattr(item, "to_numpy") else np.datetime64(item)


def _time(item: Any) -> Any:
    """Return a Python time or date; (dtype, integer) if Python's types cannot hold all digits."""
    time = _in_numpy(item)
    if np.datetime_data(time.dtype)[0] in _DAYS:
        return time.astype("M8[D]").item()
    rounded = time.astype("M8[us]")
    value = rounded.item()
    return value if rounded == time and isinstance(value, datetime) else (str(time.dtype), int(time.astype(np.int64)))
