"""Columns from numpy, lists, pandas, polars and pyarrow: checked one-dimensional arrays, nothing cast in silence."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

EXACT_INT = 2**53
_DLPACK_CPU = 1  # kDLCPU in dlpack.h


def as_column(name: str, value: object) -> Array:
    """Read a non-empty column of any dtype; hashables that numpy would cast or stack stay objects."""
    array = value if type(value) is np.ndarray else _to_array(name, value)
    if array.ndim != 1:
        hint = _way_to_column(name, value, array)
        raise InputError(f"{name} has shape {array.shape}, but one dimension is needed.", hint=hint)
    if not array.size:
        raise InputError(f"{name} is empty.", hint="at least one row is needed")
    return array


def as_numbers(name: str, value: object) -> Array:
    """Read a column of numbers as float32 (kept) or float64 (all else); values are not checked for NaN here."""
    array = as_column(name, value)
    if array.dtype.kind not in "biuf":
        raise _not_numbers(name, array)
    if array.dtype.itemsize > np.dtype(np.float64).itemsize:
        raise InputError(
            f"{name} has dtype {array.dtype}, wider than float64.", hint=f"{name}.astype('float64') where that is exact"
        )
    if array.dtype.kind in "iu" and array.dtype.itemsize == np.dtype(np.int64).itemsize:
        largest = max(-int(array.min()), int(array.max()))
        if largest > EXACT_INT:
            raise _inexact(name, largest)
    return np.ascontiguousarray(array, dtype=array.dtype if array.dtype == np.float32 else np.float64)


def as_flags(name: str, value: object, n_docs: int) -> NDArray[np.bool_] | None:
    """Read a boolean column of one flag per row; None when all are True, since then it says nothing."""
    array = as_column(name, value)
    if array.dtype != np.bool_:
        raise InputError(
            f"{name} has dtype {array.dtype}, but one bool per row is needed.", hint=f"{name}={name}.astype(bool)"
        )
    same_length(name, array, n_docs)
    return None if array.all() else frozen(array)


def as_weights(name: str, weights: Array, way_out: str, *, by_row: bool) -> Array:
    """Check weights, which are one per row or of something else: 0, or positive with all digits of a float64."""
    refuse_non_finite(name, weights, by_row=by_row)
    if weights.size and weights.min() < 0:
        raise refused_entry(name, weights, int(weights.argmin()), ", but weights are >= 0", way_out, by_row=by_row)
    way_out = "multiply all of them by one number; only their ratios matter"
    refuse_few_digits(name, weights, np.float64, way_out, by_row=by_row)
    return frozen(weights)


def refuse_few_digits(
    name: str, weights: Array, dtype: type[np.floating[Any]], way_out: str, *, by_row: bool = False
) -> None:
    """Refuse weights above 0 that a type holds with fewer than its digits or not at all, or that are beyond it."""
    limits = np.finfo(dtype)
    bad = ((weights > 0) & (weights < limits.tiny)) | (weights > limits.max)
    if bad.any():
        allowed = f"0 and {float(limits.tiny):g} to {float(limits.max):g}, where {limits.dtype} has all its digits"
        raise refused_entry(name, weights, bad, f"; allowed are {allowed}", way_out, by_row=by_row)


def same_length(name: str, array: Array, n_docs: int) -> None:
    """Refuse a column that has another number of rows than the labels."""
    if array.size != n_docs:
        raise InputError(
            f"{name} has {array.size} rows but labels has {n_docs}.", hint=f"{name} needs one entry per row of labels"
        )


def refuse_non_finite(name: str, array: Array, used: NDArray[np.bool_] | None = None, *, by_row: bool = True) -> None:
    """Name the first NaN or infinity among the entries in use, which are one per row or of something else."""
    finite = np.isfinite(array)
    if used is not None:
        finite |= ~used
    if not finite.all():
        raise non_finite(name, int(np.argmin(finite)), array, by_row=by_row)


def refused_entry(
    name: str, array: Array, refused: Flags | int, why: str, hint: str, *, by_row: bool = True, form: str = ""
) -> InputError:
    """Name the first entry that is refused, or the one at this place, and say why; a row to blame is told as such."""
    place = refused if isinstance(refused, int) else int(np.argmax(refused))
    return InputError(f"{name}[{place}] is {array[place]:{form}}{why}.", hint=hint, row=place if by_row else None)


def non_finite(name: str, place: int, array: Array, *, by_row: bool = True) -> InputError:
    """Say which entry is NaN or infinite."""
    why = ", which is not a finite number"
    return refused_entry(name, array, place, why, "fix it, or drop the row", by_row=by_row)


def refused_label(labels: Array, refused: Flags, why: str, hint: str) -> InputError:
    """Name the first of the labels that are refused, and say why."""
    return refused_entry("labels", labels, refused, f", {why}", hint, form="g")


def beyond_float32(row: int, scores: Array, who: str, way_out: str) -> InputError:
    """Say that a score is not finite in float32, in which `who` compares scores, or not finite at all."""
    if not np.isfinite(scores[row]):
        return non_finite("scores", row, scores)
    why = f", beyond float32, in which {who} compares scores"
    return refused_entry("scores", scores, row, why, f"rescale the scores, or {way_out}")


def pandas_index(value: object) -> Any | None:
    """Return the index of a pandas Series or table; None for everything else."""
    if type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "to_numpy"):
        return getattr(value, "index", None)
    return None


def same_index(name: str, index: object, first: object, other: str = "labels") -> None:
    """Refuse two pandas columns whose indexes differ: their rows do not mean the same."""
    if index is not None and first is not None and not first.equals(index):  # type: ignore[attr-defined]
        raise InputError(
            f"{name} has a different pandas index from {other}, so their rows may not belong together.",
            hint=(
                f"align them first ({name}.loc[{other}.index]), or pass .to_numpy() where the order is known to agree"
            ),
        )


def shared_index(columns: Mapping[str, object]) -> Any | None:
    """Return the index of the pandas columns and tables, of which no two may differ; None where there is none.

    >>> import pandas as pd
    >>> shared_index({"labels": [1, 0], "qid": pd.Series([7, 7], index=["x", "y"])}).tolist()
    ['x', 'y']
    """
    first, holder = None, ""
    for name, column in columns.items():
        index = None if column is None else pandas_index(column)
        if first is None:
            first, holder = index, name
        else:
            same_index(name, index, first, holder)
    return first


def offsets(sizes: Array) -> Ints:
    """Return where each query's rows begin, and where the last one's end: the running sum of sizes, from 0.

    >>> offsets(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    sums = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=sums[1:])
    return sums


def index_dtype(n: int) -> type[np.signedinteger[Any]]:
    """Smallest type for row numbers below n: half the memory, and half the traffic of a kernel that follows them."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


def frozen(array: Array) -> Array:
    """Copy an array and make the copy read-only."""
    copy = np.array(array)
    copy.flags.writeable = False
    return copy


def read_only(array: Array) -> Array:
    """View an array as one that cannot be written, as kernels take what they read: each is then compiled once."""
    view = array.view()
    view.flags.writeable = False
    return view


def text_column(texts: Sequence[str]) -> Array:
    r"""Hold texts in a column: as objects where one ends with NUL, which numpy's own texts lose.

    >>> text_column(["a", "b"]), text_column(["a", "a\0"])
    (array(['a', 'b'], dtype='<U1'), array(['a', 'a\x00'], dtype=object))
    """
    if "\0" in "".join(texts) and any(text.endswith("\0") for text in texts):
        return np.fromiter(map(str, texts), dtype=object, count=len(texts))
    return np.asarray(texts, dtype=np.str_)


def is_missing(value: object) -> bool:
    """Tell None, NaN, NaT and pandas.NA, and tuples that hold one, from values."""
    if isinstance(value, (tuple, frozenset)):
        return any(map(is_missing, value))
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - which every kind of NaN is, and nothing else
    except (TypeError, ValueError):
        return False


def _to_array(name: str, value: object) -> Array:
    masked = sys.modules.get("numpy.ma")  # without whose import, which takes a while, no array is one of its
    if masked and isinstance(value, masked.MaskedArray) and masked.is_masked(value):
        raise InputError(f"{name} has masked entries, which are not values.", hint="leave these rows out, or fill them")
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if isinstance(value, (str, bytes, dict, set, frozenset)) or value is None:
        raise InputError(
            f"{name} is {value!r:.60}, but one entry per row is needed.", hint="an array, a list or a column"
        )
    if type(value).__module__.partition(".")[0] == "pyarrow" and hasattr(value, "to_numpy"):
        chunked = value.combine_chunks() if hasattr(value, "combine_chunks") else value
        return np.asarray(chunked.to_numpy(zero_copy_only=False))
    if hasattr(value, "to_numpy"):
        return np.asarray(value.to_numpy())
    if hasattr(value, "__dlpack_device__"):
        return _from_tensor(name, value)
    if isinstance(value, Iterable) and not hasattr(value, "__array__"):
        return _from_iterable(name, list(value))
    return np.asarray(value)


def _from_tensor(name: str, value: Any) -> Array:
    """Read an array of another library, such as torch, jax or cupy; one on another device is copied to memory once."""
    on_cpu = int(value.__dlpack_device__()[0]) == _DLPACK_CPU
    try:
        if on_cpu and hasattr(value, "__array__"):
            return np.asarray(value)
        return np.from_dlpack(value) if on_cpu else np.from_dlpack(value, device="cpu", copy=True)
    except (TypeError, RuntimeError, BufferError) as error:
        kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
        copied = f"{name}.detach().cpu().numpy(), or {name}.get()" if not on_cpu else f"{name}.detach().numpy()"
        raise InputError(f"{name} is a {kind} that numpy cannot read: {error}.", hint=copied) from error


def _way_to_column(name: str, value: object, array: Array) -> str:
    """Say how to come from a matrix to a column: of a class's probability, or of the queries of scikit-learn."""
    if isinstance(value, np.ndarray) and 1 in array.shape:
        return f"{name}.ravel()"
    several = array.ndim == 2 and array.shape[0] > 1  # noqa: PLR2004
    if several and array.shape[1] == 2 and name == "scores":  # noqa: PLR2004
        return "scores[:, 1], where predict_proba gave a column for each class"
    if several and name in {"labels", "scores"}:
        sizes = f"[{array.shape[1]}] * {array.shape[0]}"
        return f"a single column; of a matrix with a row per query {name}.ravel(), with group_sizes={sizes}"
    return "a single column"


def _from_iterable(name: str, items: list[Any]) -> Array:
    kinds = set(map(type, items))
    if kinds <= {str, np.str_}:
        return text_column(items)
    if all(issubclass(kind, (int, float, np.number, np.bool_)) for kind in kinds):
        return _as_numbers_or_objects(items, kinds)
    if any(issubclass(kind, (list, np.ndarray)) for kind in kinds):
        way = f"one entry of {name} per row; of a list per query numpy.concatenate({name})"
        raise InputError(f"{name} holds lists, so it has two dimensions, but one is needed.", hint=way)
    return np.fromiter(items, dtype=object, count=len(items))


def _as_numbers_or_objects(items: list[Any], kinds: set[type]) -> Array:
    """Leave integers that float64 would merge as they are."""
    array = np.asarray(items)
    whole = tuple(kind for kind in kinds if issubclass(kind, (int, np.integer)))
    if whole and array.dtype.kind == "f" and max(abs(int(i)) for i in items if isinstance(i, whole)) > EXACT_INT:
        return np.fromiter(items, dtype=object, count=len(items))
    return array


def _not_numbers(name: str, array: Array) -> InputError:
    """Name the first entry that is not a number or, where all are, the dtype that hides it."""
    from decimal import Decimal

    missing = [row for row, item in enumerate(array) if is_missing(item)]
    others = [row for row, item in enumerate(array) if array.dtype != object or not isinstance(item, (Real, Decimal))]
    if missing or others:
        row = (missing or others)[0]
        what = "is missing" if missing else f"has type {type(array[row]).__name__}"
        entry = f"{name}[{row}] is {array[row]!r} ({what})"
        return InputError(
            f"{name} must be numbers, but {entry}.",
            hint=f"convert {name} to floats first",
            row=row if missing or array.dtype == object else None,
        )
    whole = [abs(int(item)) for item in array if isinstance(item, (int, np.integer))]
    if max(whole, default=0) > EXACT_INT:
        return _inexact(name, max(whole))
    kinds = ", ".join(sorted({type(item).__name__ for item in array}))
    return InputError(
        f"{name} has dtype object, which holds numbers ({kinds}) but may hold anything.",
        hint=f"numpy.asarray({name}, 'float64')",
    )


def _inexact(name: str, largest: int) -> InputError:
    return InputError(
        f"{name} has an integer of {largest}, beyond 2^53 where float64 would merge neighbours into ties.",
        hint=f"subtract a constant or rescale {name} first",
    )
