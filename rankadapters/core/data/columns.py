"""Checked one-dimensional arrays from numpy, lists, pandas, polars and pyarrow; no value is changed silently."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Number
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import EXACT, Array, Flags, Floats
from rankadapters.core.declaration.guesses import ARGUMENTS
from rankadapters.core.errors import InputError, choices

_FLOAT64_BYTES = 8


def as_column(name: str, value: object, *, numeric: bool = False) -> Array:
    """Return a non-empty column of any dtype; hashable items that numpy would convert or stack stay objects.

    In a `numeric` column, bools among numbers are numbers.
    """
    array = value if type(value) is np.ndarray else _to_array(name, value, numeric=numeric)
    if array.ndim != 1:
        refuse_uncomputed(name, value)
        hint = f"{name}.ravel()" if 1 in array.shape else "a single column"
        if hasattr(value, "columns"):
            hint = f"a single column of the table, such as {name}[{next(iter(value.columns), '')!r}]"
        elif name in {"labels", "scores"} and 1 not in array.shape and array.ndim == 2:  # noqa: PLR2004 - as of `ndcg_score`
            rows, columns = array.shape
            hint = f"a single column; if each row is a query, {name}.ravel() and group_sizes=[{columns}] * {rows}"
        if name == "scores" and array.shape[1:] == (2,):
            hint = "scores[:, 1], if predict_proba returned a column for each class"
        raise InputError(f"{name} has shape {array.shape}, but one dimension is needed.", hint=hint)
    if not array.size:
        raise InputError(f"{name} is empty.", hint="at least one row is needed")
    return array


def refuse_uncomputed(name: str, value: object) -> None:
    """Raise InputError for a lazy table or an expression, such as those of polars, whose values are not known yet."""
    kind = type(value).__name__
    if hasattr(value, "collect"):
        msg = f"{name} is a {kind}, whose values are not computed yet."
        raise InputError(msg, hint=f"{name}.collect(), then a column of it")
    if kind in {"Expr", "Column"} and not hasattr(value, "__array__"):
        msg = f"{name} is an expression ({kind}), which has no values without its table."
        raise InputError(msg, hint='the column itself, such as df["name"]; of a LazyFrame df.collect()["name"]')


def as_numbers(name: str, value: object) -> Array:
    """Return a column of numbers: float32 stays float32, all other types become float64; NaN is allowed."""
    array = as_column(name, value, numeric=True)
    kind, n_bytes = array.dtype.kind, array.dtype.itemsize
    if kind not in "biuf" or n_bytes > _FLOAT64_BYTES:
        raise _not_numbers(name, array)
    if kind in "iu" and n_bytes == _FLOAT64_BYTES:
        largest = max(-int(array.min()), int(array.max()))
        if largest > EXACT:
            raise _inexact(name, largest)
    return np.ascontiguousarray(array, dtype=array.dtype if array.dtype == np.float32 else np.float64)


def as_flags(name: str, value: object, n_docs: int) -> NDArray[np.bool_] | None:
    """Return a boolean column, one flag per row; None if all are True, which is equivalent to no column."""
    array = as_column(name, value)
    if array.dtype != np.bool_:
        msg = f"{name} has dtype {array.dtype}, but one bool per row is needed."
        raise InputError(msg, hint=f"{name}={name}.astype(bool)")
    same_length(name, array, n_docs)
    return None if array.all() else frozen(array)


def as_weights(name: str, column: object, n: int, unit: str) -> Floats:
    """Return a read-only copy of `n` weights, one per `unit`, each 0 or a normal positive float64."""
    weights = as_numbers(name, column).astype(np.float64, copy=False)
    if weights.size != n:
        msg = f"{name} has {weights.size} entries, but {n} are needed, one per {unit}."
        raise InputError(msg, hint="queries are in the order of their first appearance" if unit == "query" else "")
    refuse_non_finite(name, weights, unit=unit)
    if weights.size and weights.min() < 0:
        hint = f"fix or drop the {unit}"
        raise refused_entry(name, weights, int(weights.argmin()), ", but weights are >= 0", hint, unit=unit)
    refuse_few_digits(name, weights, np.float64, "multiply all of them by one number; only their ratios matter", unit)
    return frozen(weights)


def refuse_few_digits(name: str, weights: Array, dtype: type[np.floating[Any]], hint: str, unit: str = "query") -> None:
    """Raise InputError for positive weights that are subnormal in a floating-point type, underflow or overflow."""
    limits = np.finfo(dtype)
    bad = ((weights > 0) & (weights < limits.tiny)) | (weights > limits.max)
    if bad.any():
        allowed = f"0 and {float(limits.tiny):g} to {float(limits.max):g}, where {limits.dtype} has all its digits"
        raise refused_entry(name, weights, bad, f"; allowed are {allowed}", hint, unit=unit)


def same_length(name: str, array: Array, n_docs: int) -> None:
    """Raise InputError for a column whose number of rows differs from that of the labels."""
    if array.size != n_docs:
        msg = f"{name} has {array.size} rows but labels has {n_docs}."
        raise InputError(msg, hint=f"{name} needs one entry per row of labels")


def refuse_non_finite(name: str, array: Array, used: Flags | None = None, unit: str = "row") -> None:
    """Raise InputError for the first NaN or infinity among the used entries."""
    finite = np.isfinite(array)
    if used is not None:
        finite |= ~used
    if not finite.all():
        raise non_finite(name, int(np.argmin(finite)), array, unit)


def refused_entry(
    name: str, array: Array, refused: Flags | int, why: str, hint: str, *, form: str = "", unit: str = "row"
) -> InputError:
    """Return the error for the entry at an index, or for the first one in a mask; one of a `row` names its row."""
    index = refused if isinstance(refused, int) else int(np.argmax(refused))
    row = index if unit == "row" else None
    return InputError(f"{name}[{index}] is {array[index]:{form}}{why}.", hint=hint, row=row)


def non_finite(name: str, index: int, array: Array, unit: str = "row") -> InputError:
    """Return the error for an entry that is NaN or infinite."""
    why, hint = ", which is not a finite number", "fix it, or drop the row"
    return refused_entry(name, array, index, why, hint, unit=unit)


def refused_label(labels: Array, refused: Flags, why: str, hint: str) -> InputError:
    """Return the error for the first label in the mask `refused`."""
    return refused_entry("labels", labels, refused, f", {why}", hint, form="g")


def beyond_float32(row: int, scores: Array, subject: str, hint: str) -> InputError:
    """Return the error for a score that is not finite, or overflows float32, in which `subject` compares scores."""
    if not np.isfinite(scores[row]):
        return non_finite("scores", row, scores)
    why = f", beyond float32, in which {subject} compares scores"
    return refused_entry("scores", scores, row, why, f"rescale the scores, or {hint}")


def pandas_index(value: object) -> Any | None:
    """Return the index of a pandas Series or DataFrame; None for anything else."""
    if type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "to_numpy"):
        return getattr(value, "index", None)
    return None


def same_index(name: str, index: object, first: object, first_name: str = "labels") -> None:
    """Raise InputError if the indexes of two pandas columns differ: their rows may not belong together."""
    if index is not None and first is not None and not first.equals(index):  # type: ignore[attr-defined]
        aligned = f"{name}.loc[{first_name}.index]"
        raise InputError(
            f"{name} has a different pandas index from {first_name}, so their rows may not belong together.",
            hint=f"align them first ({aligned}), or pass .to_numpy() if the rows are in the same order",
        )


def shared_index(columns: Mapping[str, object]) -> Any | None:
    """Return the index that all pandas columns and tables share; None if no column comes from pandas.

    >>> import pandas as pd
    >>> shared_index({"labels": [1, 0], "qid": pd.Series([7, 7], index=["x", "y"])}).tolist()
    ['x', 'y']
    """
    first, first_name = None, ""
    for name, column in columns.items():
        index = None if column is None or type(column) in {list, np.ndarray} else pandas_index(column)
        if first is None:
            first, first_name = index, name
        else:
            same_index(name, index, first, first_name)
    return first


def index_dtype(n: int) -> type[np.signedinteger[Any]]:
    """Return the smaller of int32 and int64 that holds row numbers below n; int32 needs half the memory traffic."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


def frozen(array: Array) -> Array:
    """Return a read-only copy of an array."""
    copy = np.array(array)
    copy.flags.writeable = False
    return copy


def text_column(texts: Sequence[str]) -> Array:
    r"""Return texts as a column: a numpy string array, or objects if a text ends with NUL, which numpy would drop.

    >>> text_column(["a", "b"]), text_column(["a", "a\0"])
    (array(['a', 'b'], dtype='<U1'), array(['a', 'a\x00'], dtype=object))
    """
    if "\0" in "".join(texts) and any(text.endswith("\0") for text in texts):
        return np.fromiter(map(str, texts), dtype=object, count=len(texts))
    return np.asarray(texts, dtype=np.str_)


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, NaT or pandas.NA, or a tuple that contains one."""
    if isinstance(value, tuple):
        return any(map(is_missing, value))
    is_nan = isinstance(value, (Number, np.generic)) and bool(value != value)  # noqa: PLR0124 - true for NaN alone
    return is_nan or value is None or type(value).__name__ in {"NAType", "NaTType"}


def _to_array(name: str, value: object, *, numeric: bool) -> Array:
    if isinstance(value, np.ndarray):
        if np.any(getattr(value, "mask", False)):
            msg = f"{name} has masked entries, which are not values."
            raise InputError(msg, hint="leave these rows out, or fill them")
        return np.asarray(value)
    if isinstance(value, (str, bytes, dict, set, frozenset)) or value is None:
        hint = "an array, a list or a column" + f", such as df[{value!r}]" * isinstance(value, str)
        if isinstance(value, dict) and name == "scores":
            hint = "the scores of one model; ra.evaluate takes a mapping of models to scores"
        unit = "query" if name == "query_weight" else "row"
        raise InputError(f"{name} is {value!r:.60}, but one entry per {unit} is needed.", hint=hint)
    if hasattr(value, "to_numpy"):
        is_arrow = type(value).__module__.partition(".")[0] == "pyarrow"
        return _from_arrow(value) if is_arrow else np.asarray(value.to_numpy())
    if hasattr(value, "__array__"):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    return _from_iterable(name, list(value), numeric=numeric) if isinstance(value, Iterable) else np.asarray(value)


def _from_arrow(column: Any) -> Array:
    """Convert a column of pyarrow; `to_numpy` of a chunked dictionary would give nulls the last category."""
    if hasattr(column, "chunks") and hasattr(column.type, "index_type") and column.num_chunks:
        return np.concatenate([np.asarray(chunk) for chunk in column.chunks])
    return np.asarray(column)  # allows copies, unlike `to_numpy`


def _from_iterable(name: str, items: list[Any], *, numeric: bool) -> Array:
    """Return a column of texts or numbers; of objects if numpy would convert the items or merge large integers."""
    kinds = set(map(type, items))
    if kinds <= {str, np.str_}:
        return text_column(items)
    one_kind = numeric or kinds <= {bool, np.bool_} or kinds.isdisjoint({bool, np.bool_})
    if one_kind and all(issubclass(kind, (int, float, np.number, np.bool_)) for kind in kinds):
        array = np.asarray(items)
        integers = tuple(kind for kind in kinds if issubclass(kind, (int, np.integer)))
        mixed = array.dtype.kind == "f" and integers
        if not mixed or max(abs(int(item)) for item in items if isinstance(item, integers)) <= EXACT:
            return array
    if any(issubclass(kind, (list, np.ndarray)) for kind in kinds):
        hint = f"one entry of {name} per row; for a list per query, numpy.concatenate({name})"
        raise InputError(f"{name} holds lists, so it has two dimensions, but one is needed.", hint=hint)
    return np.fromiter(items, dtype=object, count=len(items))


def _not_numbers(name: str, array: Array) -> InputError:
    """Return the error for a column that is not of numbers, or not of numbers that float64 can hold."""
    largest = max((abs(int(item)) for item in array if isinstance(item, (int, np.integer))), default=0)
    if largest > EXACT:
        return _inexact(name, largest)
    row = int(np.argmin([isinstance(item, (int, float, np.number)) and not is_missing(item) for item in array]))
    return InputError(
        f"{name} must be numbers, but {name}[{row}] is {array[row]!r} (dtype {array.dtype}).",
        hint=f"numpy.asarray({name}, 'float64') if all entries are numbers",
        row=row if array.dtype == object else None,
    )


def _inexact(name: str, largest: int) -> InputError:
    return InputError(
        f"{name} has an integer of {largest}, beyond 2^53, where float64 would merge neighbors into ties.",
        hint=f"subtract a constant or rescale {name} first",
    )


ROWS = ("qid", "row_weight", "docid", "retrieved", "judged")  # one entry per row
GROUPS = ("qid", "group_sizes", "query_weight")  # the columns that group rows into queries and weight the queries


class Columns(TypedDict, total=False):
    """The keywords of `Queries`, for functions that pass them on."""

    qid: Any
    group_sizes: Any
    query_weight: Any
    row_weight: Any
    pairs: Any
    docid: Any
    retrieved: Any
    judged: Any


def refuse_other_names(
    columns: Mapping[str, object], allowed: Collection[str] = tuple(Columns.__annotations__)
) -> None:
    """Raise InputError for a keyword that is not an allowed column, with a hint at our name for it."""
    unknown = [name for name in columns if name not in allowed]
    if unknown:
        msg = f"{unknown[0]!r} is not an accepted column; allowed are {choices(allowed)}."
        raise InputError(msg, hint=ARGUMENTS.get(unknown[0], ""))
