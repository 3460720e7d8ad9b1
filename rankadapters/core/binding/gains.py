"""What labels are worth, with every label checked: gains, ideal lists of them, and relevance; what ranks are worth."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, Floats, Ints, offsets, refused_label
from rankadapters.core.data.rows import Rows
from rankadapters.core.declaration.spelling import border, table
from rankadapters.core.kernels import dispatch
from rankadapters.core.kernels.in_numpy import segments
from rankadapters.core.kernels.ranking import counted_gains, ranked_columns
from rankadapters.core.kernels.views import writable

FLOAT64_INTEGERS = 2.0**53
_FLOAT64_EXPONENT = 1024
NO_ENDS = np.empty(0, np.int64)  # of ties, which are broken
MOST_LEVELS = 16  # different gains, up to which they are counted in every query and not sorted
_BYTES = 256  # values that a byte has
_BLOCK = 2**16  # rows counted at once, so that what bincount makes of them stays in the cache


def gains_of(labels: Floats, judged: NDArray[np.bool_] | None, gain: str) -> Floats:
    """Gain of each row, 0 where it is not judged.

    Raises
    ------
    InputError
        A label is negative under `exp2` or a table, outside the table, or so large that 2^l overflows.
    """
    if judged is not None:
        labels = np.where(judged, labels, 0.0)
    gains = _gains(labels, gain)
    if judged is not None:
        gains = np.where(judged, gains, 0.0)
    return gains


def never_falls(gain: str, labels: Floats) -> bool:
    """Tell whether a row with a higher label surely has no lower gain.

    >>> [never_falls(gain, np.array([-2.0, -1.0])) for gain in ("linear", "linear-from_-1")]
    [True, False]
    """
    word, level = border(gain) or (gain, 0.0)
    if word in {"exp2", "exp2-floor"}:  # of other labels the last bit of a power may
        return as_bytes(labels) is not None
    return word in {"linear", "linear-positive", "from"} or table(gain) is not None or level > 0


def are_beyond(values: Array, name: str) -> NDArray[np.bool_]:
    """Tell which labels are relevant, by `above_B` or `from_B`.

    >>> are_beyond(np.array([0.0, 0.5, 1.0]), "above_0.5").tolist()
    [False, False, True]
    """
    word, bound = border(name) or ("from", -np.inf)
    found: NDArray[np.bool_] = values > bound if word == "above" else values >= bound
    return found


def narrowed(gains: Floats) -> Array:
    """Keep small whole gains as bytes: a kernel that meets them in random order stays in the cache."""
    small = as_bytes(gains)
    return writable(np.ascontiguousarray(gains)) if small is None else small


def as_bytes(values: Floats) -> NDArray[np.uint8] | None:
    """Give whole numbers from 0 to 255 as bytes; None where there are others."""
    with np.errstate(invalid="ignore"):  # what a byte cannot hold comes out as something else
        small = values.astype(np.uint8)
    return small if (small == values).all() else None


def levels_of(small: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Find the values that there are, the largest first."""
    seen = np.zeros(_BYTES, np.bool_)
    for first in range(0, small.size, _BLOCK):
        seen |= np.bincount(small[first : first + _BLOCK], minlength=_BYTES) > 0
    return np.flatnonzero(seen)[::-1].astype(np.uint8)


def ranked_by_gain(gains: Floats, rows: Rows, cut: Ints) -> tuple[Floats, Ints]:
    """Gains of each query in descending order, as many as `cut` says, and where each query's begin."""
    outptr, own = offsets(cut), rows.take(gains)
    if own.size <= segments.FEW_ROWS:
        return np.array(segments.largest_of_few(own, rows.indptr, cut), np.float64), outptr
    ranked = np.empty((1, int(outptr[-1])))
    small = narrowed(own)
    levels = levels_of(small) if small.dtype == np.uint8 else None
    if levels is not None and levels.size <= MOST_LEVELS:
        dispatch.run(counted_gains, small, levels, rows.indptr, outptr, ranked[0])
    else:  # gains rank themselves
        given = (gains, rows.order, rows.indptr, max(1, int(cut.max())), "rows", None, small[None, :])
        dispatch.run(ranked_columns, *given, (outptr, ranked, NO_ENDS), rows=small.size)
    return ranked[0], outptr


def discounts_of(discount: str, n: int) -> Floats:
    """Discounts of the ranks 1..n.

    >>> discounts_of("reciprocal", 3).tolist()
    [1.0, 0.5, 0.3333333333333333]
    """
    if discount in {"log2", "jk2"}:
        # The C library's log2 and not numpy's: its last bit is what the toolkits' own code has, on any machine.
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
    if grades is not None:  # a table of the few powers is faster than a power for every row
        table_of_powers: Floats = np.exp2(np.arange(high + 1)) - 1.0
        return table_of_powers[grades]
    powers = np.exp2(np.floor(labels) if name == "exp2-floor" else labels)
    powers -= 1.0
    return powers


def _gains_by_number(labels: Floats, name: str) -> Floats:
    """Return gains that a table or a level says."""
    gains = table(name)
    if gains is None:
        word, level = border(name) or (name, 0.0)
        return np.where(labels >= level, 1.0 if word == "from" else labels, 0.0)
    _refuse_negative(labels, name)
    bad = (labels != np.floor(labels)) | (labels >= len(gains))
    if bad.any():
        what = f"outside the gain table of {name} (labels 0 to {len(gains) - 1})"
        raise refused_label(labels, bad, what, "give a table with a gain for every grade, or map your labels first")
    return np.take(np.asarray(gains), labels.astype(np.intp))


def _refuse_negative(labels: Floats, name: str) -> None:
    if labels.min() < 0:
        hint = "gain='linear' takes it as it is; and labels come before scores"
        raise refused_label(labels, labels < 0, f"negative, which {name} has no gain for", hint)
