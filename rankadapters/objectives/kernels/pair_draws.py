"""Random pairs as in XGBoost's `mean`: each row with rows of other grades, drawn by C++'s minstd_rand."""

from __future__ import annotations

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import merge_sort

MODULUS = 2147483647  # minstd_rand: x -> 48271 x mod (2^31 - 1)
MULTIPLIER = 48271


@jit(inline="always")
def first_state(seed):
    """Seed minstd_rand as the C++ library does."""
    return max((seed & 0xFFFFFFFF) % MODULUS, 1)


@jit(inline="always")
def draw(state, n):
    """Return the next state of minstd_rand, and a number from 0 to n - 1 as libstdc++'s uniform_int_distribution."""
    scaling = (MODULUS - 2) // n
    while True:
        state = state * MULTIPLIER % MODULUS
        if state - 1 < n * scaling:
            return state, (state - 1) // scaling


@jit(inline="always")
def draw_partners(state, order, first, last, left, right):
    """Pair each row of a grade, `order[first:last]`, with a random row of a different grade."""
    count = last - first
    for t in range(count):
        state, partner = draw(state, order.size - count)
        left[t] = order[first + t]
        right[t] = order[partner + (count if partner >= first else 0)]
    return state


@internal
def sort_by_grade(gains, order, spare):
    """Sort the ranks into `order` by descending gain; ranks of equal gain stay in rank order."""
    for r in range(order.size):
        order[r] = r
    merge_sort(gains, order, spare)


@jit(inline="always")
def end_of_grade(gains, order, first):
    """Return the index in `order` after the last rank whose gain equals that of `order[first]`."""
    last = first + 1
    while last < order.size and gains[order[last]] == gains[order[first]]:
        last += 1
    return last
