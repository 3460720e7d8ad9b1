"""Query ids: equal ids of different types have the same plain value, hash and kind."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, text_column

_INT64 = np.iinfo(np.int64)
_UINT64 = np.iinfo(np.uint64)
_DAYS = {"Y", "M", "W", "D"}  # units of datetime64 without a time of day

# The first match decides, so the subclasses come first: bool of int, timedelta64 of np.integer, datetime of date.
_KINDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("bool", (bool, np.bool_)),
    ("timedelta", (timedelta, np.timedelta64)),
    ("integer", (int, np.integer)),
    ("float", (float, np.floating)),
    ("text", (str,)),
    ("bytes", (bytes,)),
    ("datetime", (datetime, np.datetime64)),
    ("date", (date,)),
)
_KINDS_OF_DTYPES = {"b": "bool", "i": "integer", "u": "unsigned integer", "f": "float", "U": "text", "S": "bytes"}


def id_value(item: Any) -> Any:
    """Return an id as a plain Python value: equal ids give the same value, with the same repr.

    A whole number of any type becomes an int, and a time in any unit becomes its instant in UTC. A date never equals
    a time, and a text never equals a number. Values of all other types are returned unchanged.

    Examples
    --------
    >>> id_value(np.int64(7)), id_value(np.float32(7)), id_value("7"), id_value((np.str_("a"), np.int8(1)))
    (7, 7, '7', ('a', 1))
    >>> id_value(np.datetime64("2026-01-31T12:00", "ns")), id_value(np.datetime64("2026-01-31"))
    (datetime.datetime(2026, 1, 31, 12, 0), datetime.date(2026, 1, 31))
    """
    if isinstance(item, str):
        return str.__str__(item)
    if isinstance(item, (datetime, timedelta, np.datetime64, np.timedelta64)):
        return _time(_in_numpy(item))
    if isinstance(item, np.generic):
        item = item.item()
    if isinstance(item, Number):
        return _number(item)
    if isinstance(item, tuple):
        return tuple(map(id_value, item))
    if isinstance(item, frozenset):  # sorted, since the order of a set differs between processes
        return ("frozenset", *sorted(repr(id_value(member)) for member in item))
    return item


def id_values(ids: Array) -> list[Any]:
    """Return `id_value` of each id of a column."""
    return list(map(id_value, _items(ids)))


def hash_word(item: object) -> int:
    """Return 64 bits for the hash of an id: the id itself if it is an int64, otherwise a digest of its value."""
    value = item if type(item) in {str, int} else id_value(item)
    if isinstance(value, int) and _INT64.min <= value <= _INT64.max:
        return value % 2**64
    return _digest(value)


def hash_words(ids: Array) -> NDArray[np.uint64]:
    """Return `hash_word` of each id of a column."""
    if ids.dtype.kind not in "iu":
        return np.fromiter(map(hash_word, _items(ids)), np.uint64, ids.size)
    words = ids.astype(np.uint64)
    beyond = np.flatnonzero(ids > _INT64.max)
    words[beyond] = list(map(_digest, ids[beyond].tolist()))
    return words


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
        return _from_objects(ids)
    kind, size = ids.dtype.kind, ids.dtype.itemsize
    if kind == "f" and size > np.dtype(np.float64).itemsize:
        return _objects(_items(ids))
    if kind in "iu":
        return ids.astype(np.uint64 if ids.dtype == np.uint64 else np.int64, copy=False)
    return ids.astype(np.float64, copy=False) if kind == "f" else ids


def id_kind(ids: Array) -> str:
    """Return the kind of a column that `id_column` returned, for messages.

    Examples
    --------
    >>> id_kind(np.array(["a"])), id_kind(np.array([7, "7"], object)), id_kind(np.array(["2026-01-31"], "M8[D]"))
    ('text', 'integer and text', 'date')
    """
    if ids.dtype == object:
        kinds = {_kind_of(item) for item in ids}
        return "integer beyond 64 bits" if kinds == {"integer"} else " and ".join(sorted(kinds))
    if ids.dtype.kind == "M":
        return "date" if np.datetime_data(ids.dtype)[0] in _DAYS else "datetime"
    return _KINDS_OF_DTYPES.get(ids.dtype.kind, "timedelta" if ids.dtype.kind == "m" else "object")


def _digest(value: object) -> int:
    return int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=8).digest(), "little")


def _kind_of(item: object) -> str:
    return next((kind for kind, types in _KINDS if isinstance(item, types)), "object")


def _items(ids: Array) -> list[Any]:
    """Return the ids of a column as a list, with times as numpy scalars, since `tolist` would make them integers."""
    return list(ids) if ids.dtype.kind in "mM" or ids.dtype == np.longdouble else ids.tolist()


def _from_objects(ids: Array) -> Array:
    kinds = {_kind_of(item) for item in ids}
    to_column = _COLUMNS.get(kinds.pop()) if len(kinds) == 1 else None
    column = None if to_column is None else to_column(ids)
    return _objects(ids) if column is None else column


def _objects(ids: Any) -> Array:
    """Return a column of plain values."""
    return np.fromiter(map(id_value, ids), dtype=object, count=len(ids))


def _texts(ids: Array) -> Array:
    return text_column([str.__str__(item) for item in ids])


def _integers(ids: Array) -> Array | None:
    values = list(map(int, ids))
    limits = next((info for info in (_INT64, _UINT64) if info.min <= min(values) and max(values) <= info.max), None)
    return None if limits is None else np.array(values, limits.dtype)


def _floats(ids: Array) -> Array | None:
    values = np.array(list(map(float, ids)))
    return values if all(value == item for value, item in zip(values.tolist(), ids, strict=True)) else None


def _times(ids: Array) -> Array | None:
    times = [_in_numpy(item) for item in ids]
    dates = {time.dtype.kind == "M" and np.datetime_data(time.dtype)[0] in _DAYS for time in times}
    return np.array(times) if len(dates) == 1 else None


_COLUMNS: dict[str, Callable[[Array], Array | None]] = {
    "text": _texts,
    "integer": _integers,
    "float": _floats,
    "bool": lambda ids: ids.astype(np.bool_),
    "datetime": _times,
    "timedelta": _times,
    "date": lambda ids: np.array(list(ids), "M8[D]"),
}


def _number(item: Any) -> Any:
    """Return an int for a whole number, a float if that is exact, or else the exact ratio."""
    try:
        numerator, denominator = item.as_integer_ratio()
    except (AttributeError, OverflowError, ValueError):  # complex numbers, infinities
        return item
    if denominator == 1:
        return numerator
    return float(item) if float(item) == item else ("ratio", numerator, denominator)


def _in_numpy(item: Any) -> Any:
    """Convert a Python, pandas or numpy time to numpy, with all digits, and to UTC if it has a time zone."""
    if isinstance(item, np.generic):
        return item
    if isinstance(item, datetime) and item.tzinfo is not None:
        item = item.astimezone(UTC).replace(tzinfo=None)
    if hasattr(item, "to_numpy"):  # a pandas time, which may have nanoseconds; datetime holds only microseconds
        return item.to_numpy()
    return np.datetime64(item) if isinstance(item, datetime) else np.timedelta64(item)


def _time(item: Any) -> Any:
    """Return a Python time or date; (type, integer) if Python's types cannot hold all digits."""
    letter = item.dtype.kind
    if letter == "M" and np.datetime_data(item.dtype)[0] in _DAYS:
        return item.astype("M8[D]").item()
    rounded = item.astype(f"{letter}8[us]")
    value = rounded.item()
    if rounded == item and not isinstance(value, int):
        return value
    return str(item.dtype), int(item.astype(np.int64))
