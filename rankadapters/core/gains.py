"""What labels are worth, with every label checked: gains, and whether a row is relevant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.columns import Array, writable
from rankadapters.core.errors import InputError
from rankadapters.core.spelling import border, table

Floats = NDArray[np.float64]

FLOAT64_INTEGERS = 2.0**53
_FLOAT64_EXPONENT = 1024


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
    if gains.size and gains.min() >= 0 and gains.max() <= np.iinfo(np.uint8).max:
        small = gains.astype(np.uint8)
        if (small == gains).all():
            return small
    return writable(np.ascontiguousarray(gains))


def _gains(labels: Floats, name: str) -> Floats:
    if name == "linear":
        return labels
    if name == "linear-positive":
        return np.maximum(labels, 0.0)
    low, high = float(labels.min()), float(labels.max())
    if low < 0:
        raise _outside(labels, labels < 0, f"negative, which {name} has no gain for", "gain='linear' takes it as it is")
    gains = table(name)
    if gains is not None:
        bad = (labels != np.floor(labels)) | (labels >= len(gains))
        if bad.any():
            what = f"outside the gain table of {name} (labels 0 to {len(gains) - 1})"
            raise _outside(labels, bad, what, "give a table with a gain for every grade, or map your labels first")
        return np.take(np.asarray(gains), labels.astype(np.intp))
    if high >= _FLOAT64_EXPONENT:
        too_large = "so large that 2^label overflows float64"
        raise _outside(labels, labels >= _FLOAT64_EXPONENT, too_large, "use a linear gain or a table")
    powers = np.exp2(np.floor(labels) if name == "exp2-floor" else labels)
    powers -= 1.0
    return powers


def _outside(labels: Floats, bad: NDArray[np.bool_], what: str, hint: str) -> InputError:
    row = int(np.argmax(bad))
    return InputError(f"labels[{row}] is {labels[row]:g}, {what}.\nHint: {hint}.", row=row)
