"""Gains and relevance of checked labels, gains in ideal order, and discounts of ranks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, Floats, Ints, offsets, refused_label
from rankadapters.core.data.rows import Rows
from rankadapters.core.declaration.fields import border, table
from rankadapters.core.kernels import dispatch
from rankadapters.core.kernels.ranking import ranked_columns, sort_by_counting
from rankadapters.core.kernels.views import writable
from rankadapters.core.ranking import segments

FLOAT64_INTEGERS = 2.0**53
_FLOAT64_EXPONENT = 1024
NO_ENDS = np.empty(0, np.int64)  # for rankings that do not record where ties end
MOST_LEVELS = 16  # up to this many distinct gains, counting them in each query is faster than sorting
_BYTES = 256  # number of values that a byte can have
_BLOCK = 2**16  # rows per bincount, so that its temporary arrays stay in the cache


def gains_of(labels: Floats, judged: NDArray[np.bool_] | None, gain: str) -> Floats:
    """Return the gain of each row, 0 for unjudged rows.

    Raises
    ------
    InputError
        A label is negative under `exp2` or a table, outside the table, or so large that 2^label overflows.
    """
    if judged is not None:
        labels = np.where(judged, labels, 0.0)
    gains = _gains(labels, gain)
    if judged is not None:
        gains = np.where(judged, gains, 0.0)
    return gains


def never_falls(gain: str, labels: Floats) -> bool:
    """Return whether the gain never decreases as the label grows, at least within `labels`.

    >>> [never_falls(gain, np.array([-2.0, -1.0])) for gain in ("linear", "linear-from_-1")]
    [True, False]
    """
    word, level = border(gain) or (gain, 0.0)
    if word in {"exp2", "exp2-floor"}:  # for fractional labels, rounding can break the order of the powers
        return as_bytes(labels) is not None
    return word in {"linear", "linear-positive", "from"} or table(gain) is not None or level > 0


def passes_threshold(values: Array, name: str) -> NDArray[np.bool_]:
    """Return whether each value is above B if the name is `above_B`, or at least B if it is `from_B`.

    >>> passes_threshold(np.array([0.0, 0.5, 1.0]), "above_0.5").tolist()
    [False, False, True]
    """
    word, threshold = border(name) or ("from", -np.inf)
    passes: NDArray[np.bool_] = values > threshold if word == "above" else values >= threshold
    return passes


def compact(gains: Floats) -> Array:
    """Store small whole gains as bytes, which fit in the processor's cache when a kernel reads them in random order."""
    small = as_bytes(gains)
    return writable(np.ascontiguousarray(gains)) if small is None else small


def as_bytes(values: Floats) -> NDArray[np.uint8] | None:
    """Return the values as bytes; None unless all of them are whole numbers from 0 to 255."""
    with np.errstate(invalid="ignore"):  # a value that does not fit is changed, as the comparison below detects
        small = values.astype(np.uint8)
    return small if (small == values).all() else None


def distinct_values(small: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the distinct values, largest first."""
    seen = np.zeros(_BYTES, np.bool_)
    for first in range(0, small.size, _BLOCK):
        seen |= np.bincount(small[first : first + _BLOCK], minlength=_BYTES) > 0
    return np.flatnonzero(seen)[::-1].astype(np.uint8)


def sorted_gains(gains: Floats, rows: Rows, cut: Ints) -> tuple[Floats, Ints]:
    """Return the `cut` largest gains of each query in descending order, and the offsets of the queries."""
    outptr, row_gains = offsets(cut), rows.take(gains)
    if row_gains.size <= segments.FEW_ROWS:
        return np.array(segments.largest_of_few(row_gains, rows.indptr, cut), np.float64), outptr
    ranked = np.empty((1, int(outptr[-1])))
    small = compact(row_gains)
    levels = distinct_values(small) if small.dtype == np.uint8 else None
    if levels is not None and levels.size <= MOST_LEVELS:
        dispatch.run(sort_by_counting, small, levels, rows.indptr, outptr, ranked[0])
    else:  # rank by gain: the gains are passed both as scores and as the column
        arguments = (gains, rows.order, rows.indptr, max(1, int(cut.max())), "rows", None, small[None, :])
        dispatch.run(ranked_columns, *arguments, (outptr, ranked, NO_ENDS), rows=small.size)
    return ranked[0], outptr


def discounts_of(discount: str, n: int) -> Floats:
    """Return the discounts of the ranks 1..n.

    >>> discounts_of("reciprocal", 3).tolist()
    [1.0, 0.5, 0.3333333333333333]
    """
    if discount in {"log2", "jk2"}:
        # The C library's log2 equals the toolkits' on every machine; numpy's can differ in the last bit.
        arguments = range(2, n + 2) if discount == "log2" else (2, *range(2, n + 1))
        return 1 / np.fromiter(map(math.log2, arguments), np.float64, n)
    word, parameter = border(discount) or ("reciprocal", 1.0)
    if word == "power":
        return np.fromiter((parameter**rank for rank in range(n)), np.float64, n)
    if word == "log":
        return math.log(parameter) / np.fromiter(map(math.log, range(2, n + 2)), np.float64, n)
    return 1 / np.arange(1.0, n + 1)


def _gains(labels: Floats, name: str) -> Floats:
    if name == "linear":
        return labels
    if name == "linear-positive":
        return np.maximum(labels, 0.0)
    if name not in {"exp2", "exp2-floor"}:
        return _gains_by_number(labels, name)
    _refuse_negative(labels, name)
    high = float(labels.max())
    if high >= _FLOAT64_EXPONENT:
        too_large = "so large that 2^label overflows float64"
        raise refused_label(labels, labels >= _FLOAT64_EXPONENT, too_large, "use a linear gain or a table")
    grades = as_bytes(labels)
    if grades is not None:  # looking up a few powers is faster than computing one for every row
        table_of_powers: Floats = np.exp2(np.arange(high + 1)) - 1.0
        return table_of_powers[grades]
    powers = np.exp2(np.floor(labels) if name == "exp2-floor" else labels)
    powers -= 1.0
    return powers


def _gains_by_number(labels: Floats, name: str) -> Floats:
    """Return the gains under `table_...`, `from_B` or `linear-from_B`."""
    gains = table(name)
    if gains is None:
        word, level = border(name) or (name, 0.0)
        return np.where(labels >= level, 1.0 if word == "from" else labels, 0.0)
    _refuse_negative(labels, name)
    bad = (labels != np.floor(labels)) | (labels >= len(gains))
    if bad.any():
        reason = f"outside the gain table of {name} (labels 0 to {len(gains) - 1})"
        raise refused_label(labels, bad, reason, "give a table with a gain for every grade, or map your labels first")
    return np.take(np.asarray(gains), labels.astype(np.intp))


def _refuse_negative(labels: Floats, name: str) -> None:
    if labels.min() < 0:
        hint = "gain='linear' takes it as it is; and labels come before scores"
        raise refused_label(labels, labels < 0, f"negative, which {name} has no gain for", hint)
