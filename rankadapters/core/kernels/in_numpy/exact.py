"""Numpy form of `kernels.exact`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core.kernels.in_numpy import few_rows

_MASK = 0xFFFFFFFF
_HIDDEN_BIT = 1 << 52
_EXPONENT = 0x7FF


def add_exactly(bits: Any, limbs: Any) -> bool:
    """Add float64s, given as their bits, to a fixed-point number in limbs; False where one is not finite."""
    exponent = (bits >> 52) & _EXPONENT
    if (exponent == _EXPONENT).any():
        return False
    normal = exponent > 0
    mantissa = (bits & (_HIDDEN_BIT - 1)) | np.where(normal, _HIDDEN_BIT, 0)
    exponent -= normal
    sign = np.where(bits < 0, -1, 1)
    limb, shift = exponent >> 5, exponent & 31
    low, high = (mantissa & _MASK) << shift, (mantissa >> 32) << shift
    np.add.at(limbs, limb, sign * (low & _MASK))
    np.add.at(limbs, limb + 1, sign * ((low >> 32) + (high & _MASK)))
    np.add.at(limbs, limb + 2, sign * (high >> 32))
    return True


def mix_all(words: Any, out: Any) -> None:
    """Mix each word by itself: the finalizer of splitmix64 (Steele, Lea & Flood 2014)."""
    if words.size <= few_rows.FEW_ROWS:
        out[:] = few_rows.mixed(words)
        return
    np.add(words, np.uint64(0x9E3779B97F4A7C15), out=out)
    out ^= out >> np.uint64(30)
    out *= np.uint64(0xBF58476D1CE4E5B9)
    out ^= out >> np.uint64(27)
    out *= np.uint64(0x94D049BB133111EB)
    out ^= out >> np.uint64(31)


def mix_queries(words: Any, order: Any, indptr: Any, out: Any) -> None:
    """Sum of the mixed words of each query's rows, the same for any order of them."""
    if words.size <= few_rows.FEW_ROWS:
        out[:] = few_rows.sums_of_mixed(words[order] if order.size else words, indptr)
        return
    each = np.empty_like(words)
    mix_all(words, each)
    total = np.zeros(words.size + 1, np.uint64)
    np.cumsum(each[order] if order.size else each, out=total[1:])
    out[:] = total[indptr[1:]] - total[indptr[:-1]]
