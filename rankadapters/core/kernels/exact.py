"""Exact integer arithmetic on floats: sums that do not depend on their order, and hashes of rows."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import internal, kernel
from rankadapters.core.kernels.in_numpy import exact as in_numpy

_MASK = 0xFFFFFFFF
_MANTISSA = (1 << 52) - 1
_EXPONENT = 0x7FF


@kernel(in_numpy=in_numpy.add_exactly)
def add_exactly(bits, limbs):
    """Add float64s, given as their bits, to a fixed-point number in limbs; False where one is not finite.

    A mantissa of 53 bits, shifted to its place, meets three limbs; int64 limbs take 2^30 addends without a carry.
    """
    for b in bits:
        exponent = (b >> 52) & _EXPONENT
        if exponent == _EXPONENT:
            return False
        mantissa = b & _MANTISSA
        if exponent:
            mantissa |= _MANTISSA + 1
            exponent -= 1
        sign = -1 if b < 0 else 1
        limb, shift = exponent >> 5, exponent & 31
        low = (mantissa & _MASK) << shift
        high = (mantissa >> 32) << shift
        limbs[limb] += sign * (low & _MASK)
        limbs[limb + 1] += sign * ((low >> 32) + (high & _MASK))
        limbs[limb + 2] += sign * (high >> 32)
    return True


@internal
def mix(word):
    """Finalizer of splitmix64 (Steele, Lea & Flood 2014)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel(in_numpy=in_numpy.mix_all)
def mix_all(words, out):
    """Mix each word by itself."""
    for i in range(words.size):
        out[i] = mix(words[i] + np.uint64(0x9E3779B97F4A7C15))


@kernel(in_numpy=in_numpy.mix_queries)
def mix_queries(words, order, indptr, out):
    """Sum of the mixed words of each query's rows, the same for any order of them."""
    for q in range(indptr.size - 1):
        total = np.uint64(0)
        for i in range(indptr[q], indptr[q + 1]):
            row = order[i] if order.size else i
            total += mix(words[row] + np.uint64(0x9E3779B97F4A7C15))
        out[q] = total
