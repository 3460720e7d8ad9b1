"""How XGBoost's `mean` draws pairs: each row with rows of other grades, by the C++ library's smallest generator."""

from __future__ import annotations

from rankadapters.core.kernels import inlined, internal
from rankadapters.core.kernels.sorting import merge_sort

MODULUS = 2147483647  # minstd_rand: x -> 48271 x mod (2^31 - 1)
MULTIPLIER = 48271


@inlined
def first_state(seed):
    """Seed minstd_rand as the C++ library does."""
    return max((seed & 0xFFFFFFFF) % MODULUS, 1)


@inlined
def draw(state, n):
    """Next state of minstd_rand, and libstdc++'s uniform_int_distribution(0, n - 1) on it."""
    scaling = (MODULUS - 2) // n
    while True:
        state = state * MULTIPLIER % MODULUS
        if state - 1 < n * scaling:
            return state, (state - 1) // scaling


@inlined
def draw_partners(state, order, first, last, left, right):
    """Pair each row of a grade, at the places from `first` to before `last` of the order, with one of another grade."""
    count = last - first
    for t in range(count):
        state, other = draw(state, order.size - count)
        left[t] = order[first + t]
        right[t] = order[other + (count if other >= first else 0)]
    return state


@internal
def sort_by_grade(gains, order, spare):
    """List ranks by falling gain, and those of one gain as they are ranked."""
    for r in range(order.size):
        order[r] = r
    merge_sort(gains, order, spare)


@inlined
def end_of_grade(gains, order, first):
    """Where the gain at the place `first` of the order ends."""
    last = first + 1
    while last < order.size and gains[order[last]] == gains[order[first]]:
        last += 1
    return last
