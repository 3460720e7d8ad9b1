"""Exact sums of float64 numbers as Python integers, in limbs that any engine can add up, and of squares."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Floats
from rankadapters.core.errors import InputError

SMALLEST_EXPONENT = 1074  # the smallest float64 is 2^-1074
LIMB = 32  # bits
SUM_LIMBS = 70  # 2240 bits, in units of 2^-1074: enough for a sum of about 2^140 float64s

_FEW_TERMS = 16  # up to this many terms, adding Python's integers is faster
_BLOCK = 2**15  # terms, so that the arrays of a block stay in the processor's cache
_DIGITS = 53  # float64 holds every whole number up to 2^53
_LOWEST, _RAISED = -900, 800  # terms below 2^-900 are multiplied by 2^800, since float64 has no units for them

_LARGEST, _SMALLEST = 2.0**500, 2.0**-400  # the squares of numbers between these bounds lose no digits
# Rounding a mantissa to its upper 26 bits leaves 26 bits and a sign, so that products of two such halves are exact.
_HIGH, _ROUNDING = np.int64(-1 << 27), np.int64(1 << 26)

Limbs = NDArray[np.int64]


def exact_sum(terms: Floats) -> int:
    """Return the sum without rounding, in units of 2^-1074.

    Raises
    ------
    InputError
        A term is not finite.
    """
    if terms.size <= _FEW_TERMS and np.isfinite(terms).all():
        ratios = map(float.as_integer_ratio, terms.tolist())  # denominators are powers of two up to 2^1074
        return sum((numerator << SMALLEST_EXPONENT) // denominator for numerator, denominator in ratios)
    return sum(_sum_by_levels(terms[start : start + _BLOCK]) for start in range(0, terms.size, _BLOCK))


def _sum_by_levels(terms: Floats) -> int:
    """Return the sum of at least one term, in units of 2^-1074.

    The upper bits of all terms, as multiples of one unit, are whole numbers below 2^bits, whose sum is exact in
    float64. So is what remains of each term, which is below the unit.
    """
    rest, total, bits = terms, 0, _DIGITS - terms.size.bit_length()
    with np.errstate(under="ignore"):  # of terms far below the unit
        while largest := max(float(rest.max()), -float(rest.min())):
            if not math.isfinite(largest):
                raise InputError(
                    "a query's value times its weight overflows float64.", hint="smaller labels or weights"
                )
            exponent = math.frexp(largest)[1]
            if exponent < _LOWEST:
                return total + (_sum_by_levels(rest * 2.0**_RAISED) >> _RAISED)
            multiples = rest * 2.0 ** (bits - exponent)
            np.trunc(multiples, out=multiples)
            total += int(multiples.sum()) << (SMALLEST_EXPONENT + exponent - bits)
            multiples *= 2.0 ** (exponent - bits)
            rest = rest - multiples
    return total


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


def squares(terms: Floats, divisors: Floats) -> Limbs:
    """Return exact sums of the squares of terms and divisors, and of their products.

    Parameters
    ----------
    terms, divisors : float64 array, shape (n_queries,)
        Each query's summands in the two sums of a tally.

    Returns
    -------
    int64 array, shape (211,)
        Three sums in limbs, then the number of queries whose squares overflow. Such arrays add up element by element.
    """
    too_large = (np.abs(terms) > _LARGEST) | (divisors > _LARGEST)
    t, d = (np.where(too_large | (np.abs(column) < _SMALLEST), 0.0, column) for column in (terms, divisors))
    sums = (_products(t, t), _products(t, d), _products(d, d))
    return np.concatenate([*map(to_limbs, sums), [np.count_nonzero(too_large)]])


def _products(a: Floats, b: Floats) -> int:
    """Return the exact sum of products; rounded products would give equal values a standard error above 0."""
    highs = [(column.view(np.int64) + _ROUNDING & _HIGH).view(np.float64) for column in (a, b)]
    halves = [(high, column - high) for column, high in zip((a, b), highs, strict=True)]
    return exact_sum(np.concatenate([first * second for first in halves[0] for second in halves[1]]))
