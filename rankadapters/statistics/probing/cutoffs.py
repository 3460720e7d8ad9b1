"""Finding the cutoff that a function applies."""

from __future__ import annotations

import math

from rankadapters.statistics.probing.answers import Function
from rankadapters.statistics.probing.cases import Maker

MOST_RANKS = 256  # a larger cutoff is taken for none


def find_cutoff(function: Function, maker: Maker) -> int | None:
    """Return the last rank at which a single relevant row counts; None where every rank does, or none is told apart.

    A relevant row counts the same at every rank beyond the cutoff, and otherwise at any rank up to it.
    """
    beyond = function.answer(maker.one_relevant(MOST_RANKS, MOST_RANKS)).value

    def counts(rank: int) -> bool:
        value = function.answer(maker.one_relevant(MOST_RANKS, rank)).value
        return not math.isnan(value) and value != beyond

    if counts(MOST_RANKS - 1) or not counts(1):
        return None
    first, last = 1, MOST_RANKS - 1  # counts at the first, and not at the last
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if counts(middle) else (first, middle)
    return first
