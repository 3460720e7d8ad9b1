"""A few rows at once in Python's own numbers: numpy takes longer to start than they take."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

FEW_ROWS = 24  # up to here Python is faster

_WORD = 0xFFFFFFFF_FFFFFFFF


def stable_order(keys: Any, indptr: Any) -> list[int]:
    """Places of each segment's entries by ascending key, then place."""
    values = keys.tolist()
    segments = (range(first, last) for first, last in pairwise(indptr.tolist()))
    return [place for segment in segments for place in sorted(segment, key=values.__getitem__)]


def largest_first(values: Any, indptr: Any, cut: Any) -> list[float]:
    """Values of each segment in descending order, as many as `cut` says."""
    several, cuts = values.tolist(), cut.tolist()
    parts = (several[first:last] for first, last in pairwise(indptr.tolist()))
    return [value for part, most in zip(parts, cuts, strict=True) for value in sorted(part, reverse=True)[:most]]


def mixed(words: Any) -> list[int]:
    """As `exact.mix_all`."""
    found = []
    for given in words.tolist():
        word = (given + 0x9E3779B97F4A7C15) & _WORD
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
        found.append(word ^ (word >> 31))
    return found


def sums_of_mixed(words: Any, indptr: Any) -> list[int]:
    """As `exact.mix_queries` of words that stand query by query."""
    several = mixed(words)
    return [sum(several[first:last]) & _WORD for first, last in pairwise(indptr.tolist())]
