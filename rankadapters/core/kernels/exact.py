"""Exact integer arithmetic: sums of floats that do not depend on their order, and hashes of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core.kernels import internal, kernel

_MASK = 0xFFFFFFFF
_MANTISSA = (1 << 52) - 1
_EXPONENT = 0x7FF
_GAMMA, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # constants of splitmix64


def _add_in_numpy(bits: Any, limbs: Any) -> bool:
    exponent = (bits >> 52) & _EXPONENT
    if (exponent == _EXPONENT).any():
        return False
    normal = exponent > 0
    mantissa = (bits & (_MANTISSA)) | np.where(normal, _MANTISSA + 1, 0)
    exponent -= normal
    sign = np.where(bits < 0, -1, 1)
    limb, shift = exponent >> 5, exponent & 31
    low, high = (mantissa & _MASK) << shift, (mantissa >> 32) << shift
    np.add.at(limbs, limb, sign * (low & _MASK))
    np.add.at(limbs, limb + 1, sign * ((low >> 32) + (high & _MASK)))
    np.add.at(limbs, limb + 2, sign * (high >> 32))
    return True


@kernel(in_numpy=_add_in_numpy)
def add_exactly(bits, limbs):
    """Add float64s, passed as their bits, to a fixed-point number in limbs; return False if one is not finite.

    A shifted mantissa of 53 bits spans three limbs; int64 limbs hold 2^30 addends without a carry.
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


def _mixed(words: Any) -> Any:
    """`mix` for many words in numpy."""
    words = words + np.uint64(_GAMMA)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(_FIRST)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(_SECOND)
    return words ^ (words >> np.uint64(31))


def _mix_all_in_numpy(words: Any, out: Any) -> None:
    out[:] = _mixed(words)


def _mix_queries_in_numpy(words: Any, order: Any, indptr: Any, ids: Any, added: Any, weights: Any, out: Any) -> None:
    mixed, sums = _mixed(words), np.zeros(words.size + 1, np.uint64)
    np.cumsum(mixed[order] if order.size else mixed, out=sums[1:])
    out[:] = _mixed(_mixed((sums[indptr[1:]] - sums[indptr[:-1]] + added) ^ ids) ^ weights)


@internal
def mix(word):
    """Finalizer of splitmix64 (Steele, Lea & Flood 2014)."""
    word += np.uint64(_GAMMA)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(_FIRST)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(_SECOND)
    return word ^ (word >> np.uint64(31))


@kernel(in_numpy=_mix_all_in_numpy)
def mix_all(words, out):
    """Hash each word separately."""
    for i in range(words.size):
        out[i] = mix(words[i])


@kernel(in_numpy=_mix_queries_in_numpy)
def mix_queries(words, order, indptr, ids, added, weights, out):
    """Hash each query: its id, its weight, and the sum of its rows' hashes, so that the order of the rows is ignored.

    `added` is added to the sum before `ids` and `weights` are mixed in.
    """
    for q in range(indptr.size - 1):
        total = added[q]
        for i in range(indptr[q], indptr[q + 1]):
            row = order[i] if order.size else i
            total += mix(words[row])
        out[q] = mix(mix(total ^ ids[q]) ^ weights[q])
