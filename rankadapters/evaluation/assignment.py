"""Assign queries to segments, from a column of the rows or a mapping of query ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any, Self

import numpy as np

from rankadapters.core.arrays import Array, Ints
from rankadapters.core.data.columns import as_column, is_missing, pandas_index, same_index
from rankadapters.core.data.grouping import UNNAMED, comparable_keys
from rankadapters.core.data.ids import id_value, id_values
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError

Assignment = dict[Any, Ints]  # segment -> indices of its queries; segments are sorted

_IDS = "7 and '7' are different ids"
_COLUMN = "for a segment per row, name a column of the table: by='market'"


class Segment(tuple[Any, ...]):  # noqa: SLOT001 - a tuple cannot have slots
    """The segment of a query in several columns, such as market and device: a tuple that prints the columns' names.

    >>> segment = Segment(["market", "device"], ["de", "phone"])
    >>> print(segment)
    market=de, device=phone
    >>> segment == ("de", "phone")
    True
    """

    columns: tuple[Any, ...]

    def __new__(cls, columns: Iterable[Any], values: Iterable[Any]) -> Self:
        """Make the segment; a column without a name is None."""
        segment = super().__new__(cls, values)
        segment.columns = tuple(columns)
        return segment

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the names of the columns too."""
        return Segment, (self.columns, tuple(self))

    def __str__(self) -> str:
        """Return each value after the name of its column."""
        pairs = zip(self.columns, self, strict=True)
        return ", ".join(text_of(value) if name is None else f"{name}={text_of(value)}" for name, value in pairs)


def assign(by: object, queries: Queries, *, in_parts: bool = False) -> Assignment:
    """Return the indices of each segment's queries.

    Parameters
    ----------
    by : array-like, shape (n_docs,), mapping, pandas Series, or several columns
        Segment of each row, equal within a query; or segment of each query by query id, as a mapping or as a Series
        whose index has the ids. Several columns of rows, as a sequence, a table, or a mapping of names to columns, make
        a `Segment` of each combination.
    queries : Queries
        The queries.
    in_parts : bool
        Whether `queries` may be only some of the queries in the mapping, which `segments_by_id` returned.

    Raises
    ------
    InputError
        A segment is missing or varies within a query, two segments are equal or printed alike though of different
        types, or the mapping and the data have different queries or name one twice.
    """
    if columns := _several_columns(by):
        by_column = [segments_of_queries(column, queries, text) for text, _, column in columns]
        names = [name for _, name, _ in columns]
        return _numbered(Segment(names, values) for values in zip(*by_column, strict=True))
    ids = id_values(queries.query_ids) if isinstance(by, Mapping) or pandas_index(by) is not None else []
    if _has_entry_per_query(by, queries, ids):
        by = as_mapping(by)
    if isinstance(by, Mapping):
        segments = by if in_parts else segments_by_id(by)
        for query in ids:
            if query not in segments:
                hint = f"name every query; {_IDS}" + f"; {_COLUMN}" * in_parts
                raise InputError(f"by has no segment for query {query!r}.", hint=hint)
        if not in_parts:
            refuse_unknown_queries(segments.keys() - set(ids), hint=_IDS)
        names = [segments[query] for query in ids]
    else:
        names = segments_of_queries(by, queries)
    return _numbered(names)


def _numbered(names: Iterable[Any]) -> Assignment:
    """Return the indices of each segment's queries from the segment of each query."""
    numbers: dict[Any, list[int]] = {}
    for number, name in enumerate(names):
        numbers.setdefault(name, []).append(number)
    _refuse_alike(numbers)
    return {name: np.asarray(numbers[name]) for name in in_order(numbers)}


def _several_columns(by: Any) -> list[tuple[str, Any, object]]:
    """Return the text for messages, the name or None, and the column, of each column in `by`; none if it is no such.

    >>> _several_columns({"market": ["de"], "device": ["phone"]}), _several_columns({"q1": "de"})
    ([("by['market']", 'market', ['de']), ("by['device']", 'device', ['phone'])], [])
    """
    names: Iterable[Any] = ()
    if isinstance(by, Mapping):
        names = by if all(map(_is_column, by.values())) else ()
    elif isinstance(by, (list, tuple)):
        if not all(map(_is_column, by)):
            return []
        named = [(getattr(column, "name", None), column) for column in by]
        return [(f"by[{i if name is None else name!r}]", name, column) for i, (name, column) in enumerate(named)]
    elif getattr(by, "ndim", 2) == 2:  # noqa: PLR2004 - a table
        names = getattr(by, "column_names", getattr(by, "columns", ()))
    return [(f"by[{name!r}]", name, by[name]) for name in names]


def _is_column(value: Any) -> bool:
    return not isinstance(value, (str, bytes, tuple)) and (isinstance(value, list) or np.ndim(value) == 1)


def refuse_entry_per_row(by: object, n_rows: int, index: object = None) -> None:
    """Raise InputError for a pandas Series with an entry per row of a table, as its length and its index show.

    Its index then is the table's, or counts 0, 1, 2, ...
    """
    ids = pandas_index(by)
    if ids is not None and len(ids) == n_rows and (ids.equals(index) or np.array_equal(ids, np.arange(n_rows))):
        msg = f"by has an entry for each of the {n_rows} rows, but a Series for a table has one per query, by its id."
        raise InputError(msg, hint=f"{_COLUMN}; if its index has query ids, by=by.to_dict()")


def as_mapping(by: Any) -> Any:
    """Return a pandas Series whose index has query ids as a mapping, and other values unchanged.

    >>> import pandas as pd
    >>> as_mapping(pd.Series(["long", "short"], index=["q1", "q2"]))
    {'q1': 'long', 'q2': 'short'}

    Raises
    ------
    InputError
        A query is in the index twice.
    """
    index = pandas_index(by)
    if index is None:
        return by
    ids = index.tolist()
    if repeated := [query for query, count in Counter(ids).items() if count > 1]:
        msg = f"by names query {repeated[0]!r} {ids.count(repeated[0])} times."
        raise InputError(msg, hint="one entry per query, such as by[~by.index.duplicated()]")
    return dict(zip(ids, by.tolist(), strict=True))


def column_or_segments(by: Any) -> tuple[Any, dict[Any, Any] | None]:
    """Return the names of the columns that have the segments of rows, or the segment of each query by its id."""
    by = as_mapping(by)
    if isinstance(by, Mapping):
        return None, segments_by_id(by)
    return (tuple(by) if isinstance(by, list) else by), None


def _has_entry_per_query(by: object, queries: Queries, ids: list[Any]) -> bool:
    """Return whether a pandas Series has an entry per query, not per row, as its length and index show."""
    index = pandas_index(by)
    if index is None:
        return False
    names = set(map(id_value, index))
    if len(index) != queries.n_docs:
        return not names.isdisjoint(ids)
    numbered = np.array_equal(index, np.arange(queries.n_docs)) or index.equals(queries.index)
    return bool(index.is_unique) and names == set(ids) and not numbered  # each query has one row


def segments_by_id(by: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return the mapping from query ids to segments, with Python values in place of numpy values."""
    missing = [query for query, segment in by.items() if is_missing(segment)]
    if missing:
        msg = f"by[{missing[0]!r}] is {by[missing[0]]!r}, but every query belongs to a segment."
        raise InputError(msg, hint=UNNAMED)
    queries: dict[Any, Any] = {}
    for query in by:
        if (first := queries.setdefault(id_value(query), query)) is not query:
            msg = f"by names one query twice, as {first!r} and as {query!r}."
            raise InputError(msg, hint="one entry per query; ids compare by value")
    column = np.fromiter(by.values(), object, len(by))
    if len(by):
        comparable_keys(column, "by")  # refuses unhashable values
    segments = dict(zip(queries, map(segment_value, column), strict=True))
    _refuse_alike(dict.fromkeys(segments.values()))
    return segments


def _refuse_alike(segments: Iterable[Any]) -> None:
    """Raise InputError for two segments that are printed alike, such as 1 and "1"."""
    by_text: dict[str, Any] = {}
    for segment in segments:
        text = text_of(segment)
        if (first := by_text.setdefault(text, segment)) is not segment:
            msg = f"by has the segments {first!r} and {segment!r}, which results would print alike."
            raise InputError(msg, hint="one type for all segments, or other names")


def text_of(segment: Any) -> str:
    """Return a segment as results print it."""
    return str(float(segment) if isinstance(segment, Fraction) else segment)


def refuse_unknown_queries(queries: Iterable[Any], *, hint: str = f"{_IDS}; {_COLUMN}") -> None:
    """Raise an error if `queries`, the ids in a mapping that the data do not have, is not empty."""
    unknown = in_order(queries)
    if unknown:
        more = f" and {len(unknown) - 1} more queries" if len(unknown) > 1 else ""
        msg = f"by names query {unknown[0]!r}{more}, but the data have no such query."
        raise InputError(msg, hint=f"name only queries of the data; {hint}")


def segment_value(segment: Any) -> Any:
    """Return a segment as a plain Python value like `id_value`, but keep bools and time zones.

    >>> segment_value(np.True_), segment_value(np.int8(7)), segment_value(Fraction(1, 3))
    (True, 7, Fraction(1, 3))
    """
    if type(segment) is str or isinstance(segment, Segment):  # most segments are texts
        return segment
    if isinstance(segment, (bool, np.bool_)):
        return bool(segment)
    if isinstance(segment, datetime) and segment.tzinfo is not None:
        return segment
    if isinstance(segment, np.timedelta64):
        return segment.astype("m8[us]").item()
    if isinstance(segment, (Decimal, np.longdouble)) and isfinite(segment):
        return Fraction(*segment.as_integer_ratio())
    return id_value(segment)


def in_order(names: Iterable[Any]) -> list[Any]:
    """Sort names by value: numbers first, then the other types by type name.

    >>> in_order(["b", "a"]), in_order([10, 9]), in_order(["a", 2, 1])
    (['a', 'b'], [9, 10], [1, 2, 'a'])
    """
    by_type: dict[str, list[Any]] = {}
    for name in names:
        by_type.setdefault("" if isinstance(name, (int, float, Fraction)) else type(name).__name__, []).append(name)
    try:
        return [name for kind in sorted(by_type) for name in sorted(by_type[kind])]
    except TypeError:  # tuples whose entries have different types
        return [name for kind in sorted(by_type) for name in sorted(by_type[kind], key=repr)]


def segments_of_queries(by: object, queries: Queries, text: str = "by") -> list[Any]:
    """Return the segment of each query from a column of rows, which an error calls by the text."""
    return list(map(segment_value, values_of_queries(by, queries, text)))


def values_of_queries(by: object, queries: Queries, text: str) -> Array:
    """Return the value of each query from a column of rows, which an error calls by the text."""
    column = as_column(text, by)
    if column.size != queries.n_docs:
        raise InputError(
            f"{text} has {column.size} entries but labels has {queries.n_docs} rows.",
            hint="one segment per row, or a mapping or a pandas Series from query id to segment",
        )
    same_index(text, pandas_index(by), queries.index)
    keys = comparable_keys(column, text)
    first, varies = queries.per_query(keys)
    if varies >= 0:
        row = int(np.argmax(keys != queries.per_row(first)))
        query = queries.query_of_row[row]
        different, segment = (segment_value(column[i]) for i in (row, queries.rows[queries.indptr[query]]))
        msg = f"{text}[{row}] is {different!r}, but query {queries.query_ids[query]} began with {segment!r}."
        raise InputError(msg, hint="all rows of a query must have the same segment", row=row)
    return column[queries.rows[queries.indptr[:-1]]]
