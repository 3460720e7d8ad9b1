"""Limbs: large integers as int64 arrays of fixed length, which any engine can add up exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError

LIMB = 32  # bits
SMALLEST_EXPONENT = 1074  # the smallest float64 is 2^-1074
FEW_TERMS = 16  # up to this many terms, adding Python's integers is faster than numpy
_MANTISSA, _EXPONENT = (1 << 52) - 1, 0x7FF
SUM_LIMBS = 70  # 2240 bits, in units of 2^-1074: enough for a sum of about 2^140 float64s
_LOW = (1 << LIMB) - 1

Limbs = NDArray[np.int64]


def to_limbs(number: int, n_limbs: int = SUM_LIMBS) -> Limbs:
    """Return a number as limbs of 32 bits, the lowest first; the last limb has the sign.

    Examples
    --------
    >>> to_limbs(2**32 + 5, 3), to_limbs(-1, 3)
    (array([5, 1, 0]), array([4294967295, 4294967295,         -1]))
    """
    words = np.frombuffer(number.to_bytes(n_limbs * 4, "little", signed=True), "<u4")
    limbs = words.astype(np.int64)
    limbs[-1] = words[-1:].view("<i4")[0]
    return limbs


def unsigned_limbs(word: int) -> Limbs:
    """Return a number from 0 to 2^64 - 1 as two limbs."""
    return np.array([word & _LOW, word >> LIMB], np.int64)


def from_limbs(limbs: Limbs) -> int:
    """Return the number that limbs represent; sums of limbs are allowed, so each limb may be any int64.

    Examples
    --------
    >>> from_limbs(to_limbs(2**40) + to_limbs(-1)) == 2**40 - 1
    True
    """
    number = 0
    for limb in reversed(limbs.tolist()):
        number = (number << LIMB) + limb
    return number


def as_limbs(limbs: object, n_limbs: int) -> Limbs:
    """Return limbs of a tally as an int64 array, after checking them.

    Raises
    ------
    InputError
        `limbs` is not an array of `n_limbs` integers.
    """
    array = np.asarray(limbs)
    if array.dtype.kind not in "iu" or array.shape != (n_limbs,):
        raise InputError(
            f"limbs has dtype {array.dtype} and shape {array.shape}, but a tally's are {n_limbs} integers.",
            hint="pass what Tally.to_limbs() returned, or a sum of such arrays",
        )
    return array.astype(np.int64, copy=False)


def exact_sum(terms: NDArray[np.float64]) -> int:
    """Return the sum without rounding, in units of 2^-1074.

    Raises
    ------
    InputError
        A term is not finite.
    """
    if not np.isfinite(terms).all():
        raise InputError("a query's value times its weight overflows float64.", hint="smaller labels or weights")
    if terms.size <= FEW_TERMS:
        ratios = map(float.as_integer_ratio, terms.tolist())  # denominators are powers of two up to 2^1074
        return sum((numerator << SMALLEST_EXPONENT) // denominator for numerator, denominator in ratios)
    bits = np.ascontiguousarray(terms).view(np.int64)
    exponents = (bits >> 52) & _EXPONENT
    mantissas = (bits & _MANTISSA) | np.where(exponents > 0, _MANTISSA + 1, 0)
    limb, shift = np.divmod(np.maximum(exponents, 1) - 1, LIMB)
    sign, low, high = np.where(bits < 0, -1, 1), (mantissas & _LOW) << shift, (mantissas >> LIMB) << shift
    limbs = np.zeros(68, np.int64)  # a shifted mantissa of 53 bits spans three limbs
    np.add.at(limbs, limb, sign * (low & _LOW))
    np.add.at(limbs, limb + 1, sign * ((low >> LIMB) + (high & _LOW)))
    np.add.at(limbs, limb + 2, sign * (high >> LIMB))
    return from_limbs(limbs)
