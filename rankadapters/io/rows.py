"""Turn named columns of tables into checked queries and scores, for files, streams, Dask and Spark."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple, Self, TypedDict

import numpy as np

from rankadapters.core.arrays import EXACT, Array, Ints
from rankadapters.core.data.columns import (
    as_column,
    as_numbers,
    as_weights,
    index_dtype,
    is_missing,
    pandas_index,
    refuse_non_finite,
    shared_index,
    text_column,
)
from rankadapters.core.data.grouping import stable_order
from rankadapters.core.data.ids import id_column, id_form
from rankadapters.core.data.optional_columns import own_docids, rank_docids
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.declaration.guesses import USUAL_NAMES
from rankadapters.core.errors import InputError, MissingToolkitError

Locate = Callable[[int], str]


class ColumnKeywords(TypedDict, total=False):
    """Keywords that name columns of a table besides the scores, for type checkers."""

    label: str
    qid: str
    query_weight: str | None
    row_weight: str | None
    docid: str | None


@dataclass(frozen=True, kw_only=True)
class Names:
    """Names of a table's columns, by role; `scores` has one for each model.

    Raises
    ------
    InputError
        A name is not a text, or two models have the same column.
    """

    label: str = "label"
    scores: tuple[str, ...] = ("score",)
    qid: str = "qid"
    query_weight: str | None = None
    row_weight: str | None = None
    docid: str | None = None
    by: str | tuple[str, ...] | None = None
    order: str | None = None

    def __post_init__(self) -> None:
        """Check the names."""
        for role, name in asdict(self).items():
            several = role == "scores" or (role == "by" and isinstance(name, tuple) and bool(name))
            for text in name if several else [name]:
                if not (isinstance(text, str) or (text is None and not several and role not in {"label", "qid"})):
                    raise _not_a_name("score" if role == "scores" else role, text)
        if len(set(self.scores)) < len(self.scores):
            raise InputError(f"score={self.scores!r:.60} names a column twice.", hint="a column for each model")
        if isinstance(self.by, tuple) and len(set(self.by)) < len(self.by):
            raise InputError(f"by={self.by!r:.60} names a column twice.", hint="name each column once")

    @property
    def numbers(self) -> dict[str, str]:
        """The columns of numbers, by role."""
        weights = {"query_weight": self.query_weight, "row_weight": self.row_weight}
        scores = {score_role(model): name for model, name in enumerate(self.scores)}
        return {"label": self.label, **scores, **{role: name for role, name in weights.items() if name is not None}}

    @property
    def ids(self) -> dict[str, str]:
        """The other columns, by role."""
        segments: dict[str, Any] = {"by": self.by}
        if isinstance(self.by, tuple):
            segments = {segment_role(number): name for number, name in enumerate(self.by)}
        columns = {"qid": self.qid, "docid": self.docid, **segments, "order": self.order}
        return {role: name for role, name in columns.items() if name is not None}

    @property
    def by_role(self) -> dict[str, str]:
        """All columns, by role."""
        return self.numbers | self.ids

    @property
    def all(self) -> list[str]:
        """All names, without repetition."""
        return list(dict.fromkeys(self.by_role.values()))

    def check(self, source: str, columns: Collection[str]) -> None:
        """Raise an error if a column is missing from a table or is in it more than once."""
        for role, name in self.by_role.items():
            if list(columns).count(name) != 1:
                count = "more than one column" if name in columns else "no column"
                raise InputError(f"{source} has {count} {name!r}.", hint=_similar_name(role.split()[0], name, columns))


def _not_a_name(role: str, value: object) -> InputError:
    if role != "by":
        return refusal(role, value, "names of columns")
    allowed = "names of columns, and a mapping or a pandas Series from query ids to segments"
    return refusal(role, value, allowed, "by='market', or by=['market', 'device'] for each combination")


def score_names(score: object) -> tuple[str, ...]:
    """Return the argument `score`, a name or several, as the names of the models' columns."""
    names = (score,) if isinstance(score, str) or not isinstance(score, Sequence) else tuple(score)
    if not names:
        raise InputError("score=[] names no column.", hint="a name, or a list of names")
    return names


def segment_role(number: int) -> str:
    """Return the role of one of several columns of segments."""
    return f"by {number}"


def score_role(model: int) -> str:
    """Return the role of a model's column of scores."""
    return f"score {model}"


def _similar_name(role: str, name: str, columns: Collection[str]) -> str:
    """Return a hint for a column that a table lacks: the argument of its role, and the column that is meant."""
    names = f"its columns are {', '.join(map(repr, columns))}"
    if len(columns) == 1:
        return f"{names}; in a text file, commas or tabs separate names"
    names = f"{role}= (--{role.replace('_', '-')}) names another; {names}"
    by_folded_name = {str(column).strip().casefold(): column for column in columns}
    usual = [word for word in USUAL_NAMES.get(role, ()) if word in by_folded_name and role == name]
    matches = usual or get_close_matches(name.casefold(), by_folded_name, 1)
    return f"did you mean {by_folded_name[matches[0]]!r}? {names}" if matches else names


@contextmanager
def locating(numbers: Ints | Sequence[int], locate: Locate, *, source: str = "", n_queries: int = 0) -> Iterator[None]:
    """Make an error count rows and queries in the whole data, and begin with the row's location or the source."""
    try:
        yield
    except InputError as error:
        row = error.row or 0
        counted = error.counted_on(int(numbers[row]) - row, n_queries)
        where = source if error.row is None else locate(int(numbers[row]))
        raise (counted.about(where) if where else counted) from None


def require_pyarrow() -> None:
    """Raise an error with the extra to install if pyarrow is missing."""
    try:
        import pyarrow as pa  # noqa: F401
    except ImportError as error:
        raise MissingToolkitError.of("pyarrow", "files") from error


def arrow_table(columns: Mapping[str, Any], names: Names) -> Any:
    """Return columns of numpy, pandas, Arrow or lists as an Arrow table; missing entries become null.

    In lists of labels, scores and weights, bools are numbers.

    Raises
    ------
    InputError
        A column has values of several types, or its number of rows or its index differs from the first column's.
    """
    import pyarrow as pa

    shared_index(columns)
    numbers = {*names.numbers.values()} - {*names.ids.values()}
    arrays = {name: _arrow_array(name, column, numeric=name in numbers) for name, column in columns.items()}
    n_rows = {name: len(array) for name, array in arrays.items()}
    first, n_first = next(iter(n_rows.items()))
    for name, n in n_rows.items():
        if n != n_first:
            raise InputError(f"{name} has {n} rows but {first} has {n_first}.", hint="an entry for each row")
    return pa.table(arrays)


def _arrow_array(name: str, column: Any, *, numeric: bool) -> Any:
    import pyarrow as pa

    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    try:
        if isinstance(column, Sized) and not len(column):
            return pa.array([], pa.float64())
        if pandas_index(column) is not None and str(getattr(column, "dtype", "object")) != "object":
            return pa.array(column, from_pandas=True)
        array = as_column(name, column, numeric=numeric)
        if array.dtype == object:
            return pa.array(_of_one_kind(name, array, numeric=numeric), from_pandas=True)
        return pa.array(array)
    except InputError:
        raise
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        msg = f"{name} cannot become an Arrow column: {str(error).splitlines()[0]}."
        raise InputError(msg, hint="numbers, texts or times of one type") from None


def _of_one_kind(name: str, array: Array, *, numeric: bool) -> Array:
    """Return a column of objects in a form from which pyarrow makes the same values.

    It would make texts of bytes, numbers of bools, dates of times if a date comes first, and microseconds of pandas'
    nanoseconds.
    """
    examples = {type(item): item for item in array}.values()
    kinds = {id_form(item) for item in examples if not is_missing(item)}
    is_mixed = {"bytes", "text"} <= kinds or (not numeric and {"bool", "number"} <= kinds)
    if kinds & {"date", "datetime"}:
        if (row := next((row for row, item in enumerate(array) if is_missing(item)), None)) is not None:
            raise InputError(f"{name} is missing in row {row + 1}.", hint="fix or drop the row")
        array = id_column(array)
        is_mixed = array.dtype == object
    if is_mixed:
        raise InputError(f"{name} holds values of several types.", hint="convert them to one type")
    return array


def read_columns(table: Any, names: Names) -> Any:
    """Return a new Arrow table with the named columns, checked, and called by their roles.

    Labels and weights become float64, scores float32 or float64, integer ids int64 or uint64, and all texts large
    strings, so that the tables of a stream have the same types.

    Raises
    ------
    InputError
        An entry is missing or not finite, or a column has the wrong type.
    """
    import pyarrow as pa

    columns = {}
    for role, name in names.by_role.items():
        try:
            column = _column(table, name, nan_is_missing=role == "qid" or role.startswith("by"))
            columns[role] = (_numbers if role in names.numbers else _ids)(column, name, role)
        except pa.ArrowException as error:
            msg = f"column {name!r} of type {table.schema.field(name).type}: {str(error).splitlines()[0]}."
            raise InputError(msg, hint="numbers, texts or times") from None
    return pa.table(columns)


def _column(table: Any, name: str, *, nan_is_missing: bool = False) -> Any:
    """Return a column without missing entries; texts become large strings, and dictionaries their values."""
    import pyarrow as pa
    from pyarrow import compute, types

    column = table.column(name)
    column = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    try:
        column.validate(full=True)  # pyarrow reads texts and dictionaries unchecked
    except pa.ArrowInvalid as error:
        raise InputError(f"column {name!r} is broken: {error}.", hint="write the data again") from None
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if types.is_run_end_encoded(column.type):
        column = compute.run_end_decode(column)
    if types.is_dictionary(column.type):
        kind = column.type.value_type
        if types.is_string_view(kind):  # pyarrow does not decode these
            kind = pa.large_string()
            column = column.cast(pa.dictionary(column.type.index_type, kind))
        column = column.cast(kind)
    nan_is_missing = nan_is_missing and types.is_floating(column.type)
    missing = column.is_null(nan_is_null=nan_is_missing) if column.null_count or nan_is_missing else None
    if types.is_string(column.type) or types.is_large_string(column.type) or types.is_string_view(column.type):
        column = column.cast("large_string")
        is_empty = compute.equal(column, "")
        missing = is_empty if missing is None else compute.or_kleene(is_empty, missing)
    row = -1 if missing is None else missing.index(True).as_py()
    if row >= 0:
        raise _missing(name, row)
    return column


def _missing(name: str, row: int) -> InputError:
    return InputError(f"{name} is missing or an empty text.", hint="fix or drop the row", row=row)


def _numbers(column: Any, name: str, role: str) -> Array:
    from pyarrow import types

    is_decimal = types.is_decimal(column.type)
    of_numbers = types.is_integer, types.is_floating, types.is_boolean, types.is_decimal
    if not any(is_of_kind(column.type) for is_of_kind in of_numbers):
        raise _wrong_type(name, column, "numbers are")
    values = (column.cast("float64") if is_decimal else column).to_numpy()
    if is_decimal and _is_beyond(column):
        raise InputError(f"{name} has a decimal beyond 2^53.", hint="subtract a constant or rescale it first")
    try:
        numbers = as_numbers(name, values)
        refuse_non_finite(name, numbers)
        if role.endswith("_weight"):
            numbers = as_weights(name, numbers, numbers.size, "row")
    except InputError as error:
        raise InputError(str(error).replace(f"{name}[{error.row}]", name), row=error.row) from None
    return numbers if role.startswith("score") else numbers.astype(np.float64, copy=False)


def _is_beyond(decimals: Any) -> bool:
    """Return whether a decimal is beyond the integers that float64 represents."""
    import pyarrow as pa
    from pyarrow import compute

    wide = decimals.cast(pa.decimal256(76, decimals.type.scale))  # min_max takes no decimals of 32 or 64 bits
    return any(abs(bound) > EXACT for bound in compute.min_max(wide).as_py().values())


def _ids(column: Any, name: str, role: str) -> Any:
    """Return a column of ids, segments or sort keys in the type that all parts of a stream have."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if role == "order":
        if types.is_floating(kind):
            return _numbers(column, name, role)
        if not (types.is_integer(kind) or types.is_temporal(kind)):
            raise _wrong_type(name, column, "integers, floats or times are")
    if role == "docid":
        if not (types.is_large_string(kind) or types.is_integer(kind)):
            raise _wrong_type(name, column, "strings or integers are")
        return column.cast("large_string")
    if types.is_nested(kind):
        raise _wrong_type(name, column, "one value per row is")
    if types.is_integer(kind) and not types.is_uint64(kind):
        return column.cast("int64")
    has_zone = types.is_timestamp(kind) and kind.tz and not role.startswith("by")
    if types.is_date64(kind) or has_zone:  # DuckDB would cut these
        return column.cast(pa.timestamp("ms" if types.is_date64(kind) else kind.unit))
    return column.cast("float64") if types.is_floating(kind) else column


def _wrong_type(name: str, column: Any, needed: str) -> InputError:
    kind = str(column.type).removeprefix("large_")
    return InputError(f"column {name!r} has type {kind}, but {needed} needed.", hint="convert it first")


def rows_of_partition(columns: Mapping[str, Any], names: Names) -> ScoredRows:
    """Read columns of pandas or Arrow that are called by their roles; errors count the rows from 0.

    Raises
    ------
    InputError
        As `read_columns` and `ScoredRows.of`.
    """
    table = arrow_table({names.by_role[role]: column for role, column in columns.items()}, names)
    with locating(np.arange(table.num_rows), "row {}".format):
        checked = read_columns(table, names)
    return ScoredRows.of(checked, names, "row {}".format)


class ScoredRows(NamedTuple):
    """The queries and scores of a checked table."""

    queries: Queries
    scores: list[Array]  # of each model, in the order of the table's rows
    by: Array | dict[str, Array] | None  # segment of each row, or several columns of these
    numbers: Ints  # number of each row, for messages

    @classmethod
    def of(cls, table: Any, names: Names, locate: Locate, n_queries: int = 0) -> Self:
        """Convert a table that `read_columns` returned; its column `row`, if it has one, numbers the rows.

        Raises
        ------
        InputError
            Rows of a query have different weights, the same document or the same sort key. The message begins with
            `locate(number)` of a row; `n_queries` queries come before this table.
        """
        columns = {role: table.column(role) for role in table.column_names}
        numbers = columns["row"].to_numpy() if "row" in columns else np.arange(table.num_rows)
        with locating(numbers, locate, n_queries=n_queries):
            queries = _queries(columns, names, lambda row: locate(int(numbers[row])))
        scores = [columns[score_role(model)].to_numpy() for model in range(len(names.scores))]
        by: Any = id_array(columns["by"]) if "by" in columns else None
        if isinstance(names.by, tuple):
            by = {name: id_array(columns[segment_role(number)]) for number, name in enumerate(names.by)}
        return cls(queries, scores, by, numbers)


def _queries(columns: Mapping[str, Any], names: Names, locate: Locate) -> Queries:
    codes, ids = _codes(columns["qid"])
    row_weight = columns["row_weight"].to_numpy() if "row_weight" in columns else None
    queries = Queries(columns["label"].to_numpy(), qid=codes, row_weight=row_weight)
    if ids is not None:
        queries = queries.with_columns(query_ids=ids[queries.query_ids])
    if "order" in columns:
        queries = _in_order(queries, columns["order"].to_numpy())
    if "docid" in columns:
        queries = with_docids(queries, id_array(columns["docid"]), locate)
    if "query_weight" in columns:
        weights = columns["query_weight"].to_numpy()
        weights = queries.weights_per_query(str(names.query_weight), weights)
        queries = queries.with_weights(weights, row_weight=queries.row_weight)
    return queries


def with_docids(queries: Queries, docids: Array, locate: Locate, hint: str = "drop one of the two") -> Queries:
    """Return the queries with the docid of each row; raise an error if a document is in a query twice."""
    ranks, duplicate = rank_docids(docids, queries)
    if duplicate >= 0:
        query = queries.query_of_row
        first, row = first_duplicate(zip(query.tolist(), docids.tolist(), strict=True))
        name = str(queries.query_ids[query[row]])
        msg = f"document {str(docids[row])!r} of query {name!r} is also in {locate(first)}."
        raise InputError(msg, hint=hint, row=row)
    return queries.with_columns(docid_rank=ranks, own_docid=own_docids(docids, queries))


def first_duplicate(keys: Iterable[Hashable]) -> tuple[int, int]:
    """Return the first entry with a repeated key, as the pair (earlier entry, this one); (-1, -1) if there is none.

    >>> first_duplicate("abcb")
    (1, 3)
    """
    first: dict[Hashable, int] = {}
    return next(((first[key], i) for i, key in enumerate(keys) if first.setdefault(key, i) != i), (-1, -1))


def _codes(column: Any) -> tuple[Array, Array | None]:
    """Return ids that are not texts, and None; for texts each row's index in the distinct texts, and these."""
    from pyarrow import types

    if not (types.is_large_string(column.type) or types.is_string(column.type)):
        return column.to_numpy(), None
    encoded = column.combine_chunks().dictionary_encode()
    return encoded.indices.to_numpy(), text_column(encoded.dictionary.to_pylist())


def id_array(column: Any) -> Array:
    """Return a column of ids or texts as an array."""
    codes, texts = _codes(column)
    return codes if texts is None else texts[codes]


def _in_order(queries: Queries, keys: Array) -> Queries:
    """Sort the rows of each query by their keys; refuse two rows with the same key."""
    rows = np.argsort(keys, kind="stable")
    rows = rows[stable_order(queries.query_of_row[rows])]
    ordered = keys[rows]
    is_same = ordered[1:] == ordered[:-1]
    is_same[queries.indptr[1:-1] - 1] = False  # neighbors in different queries
    if is_same.any():
        row = int(np.argmax(is_same))
        query = queries.query_ids[np.searchsorted(queries.indptr, row, side="right") - 1]
        msg = f"two rows of query {query} have order {ordered[row]}, so neither comes first."
        raise InputError(msg, hint="order needs a column that differs within a query, such as a row number")
    return queries.with_columns(order=rows.astype(index_dtype(rows.size)))
