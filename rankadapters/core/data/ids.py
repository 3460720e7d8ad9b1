"""What the id of a query is: equal ids have one value, one hash and one kind, whatever type holds them."""

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
_DAYS = {"Y", "M", "W", "D"}  # units of datetime64 that name days and no time of day

# The first type that fits says the kind: a bool is an int, a numpy.timedelta64 a numpy.integer, a datetime a date.
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

    A whole number of any type is an int. A time is its instant in UTC, in any unit; a date is no time. A text is no
    number. What has no plain value is returned as it is.

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
    if isinstance(item, frozenset):  # in an order that does not depend on the process
        return ("frozenset", *sorted(repr(id_value(member)) for member in item))
    return item


def id_values(ids: Array) -> list[Any]:
    """Return `id_value` of each id of a column."""
    return list(map(id_value, _items(ids)))


def hash_word(item: object) -> int:
    """Return the 64 bits that are mixed into the hash of an id: an int64 itself, and a digest of everything else."""
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

    Objects become texts, integers, floats, bools, times or dates where all of them are; integers are int64, or uint64
    where they came as uint64 or do not fit.

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
    """Return the kind of a column of ids that `id_column` returned, in words.

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
    """Return the ids of a column; times stay numpy's, of which Python would make integers in nanoseconds."""
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
    limits = next((each for each in (_INT64, _UINT64) if each.min <= min(values) and max(values) <= each.max), None)
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
    """Return an int where a number is whole, a float where it is one, and else its exact ratio."""
    try:
        numerator, denominator = item.as_integer_ratio()
    except (AttributeError, OverflowError, ValueError):  # complex numbers, infinities
        return item
    if denominator == 1:
        return numerator
    return float(item) if float(item) == item else ("ratio", numerator, denominator)


def _in_numpy(item: Any) -> Any:
    """Return a time of Python, pandas or numpy as numpy's, with all its digits; that of a zone is in UTC."""
    if isinstance(item, np.generic):
        return item
    if isinstance(item, datetime) and item.tzinfo is not None:
        item = item.astimezone(UTC).replace(tzinfo=None)
    if hasattr(item, "to_numpy"):  # of pandas, which may have nanoseconds
        return item.to_numpy()
    return np.datetime64(item) if isinstance(item, datetime) else np.timedelta64(item)


def _time(item: Any) -> Any:
    """Return Python's own time or date where that holds all digits."""
    letter = item.dtype.kind
    if letter == "M" and np.datetime_data(item.dtype)[0] in _DAYS:
        return item.astype("M8[D]").item()
    rounded = item.astype(f"{letter}8[us]")
    value = rounded.item()
    if rounded == item and not isinstance(value, int):
        return value
    return str(item.dtype), int(item.astype(np.int64))
