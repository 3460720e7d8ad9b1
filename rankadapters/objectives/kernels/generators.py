"""CatBoost's generator of random numbers: two PCG XSH-RR streams, of which every query has its own.

What a query draws depends on the seed of the call and the query's number alone, so that any number of threads draws
the same.
"""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import internal, kernel

MULTIPLIER = np.uint64(6364136223846793005)
ONE, TWO, SHORT = np.uint64(1), np.uint64(2), np.uint64(11)
MIXED, DROPPED, TURNED = np.uint64(18), np.uint64(27), np.uint64(59)
WORD, LOW_WORD, LOW_31 = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(0x7FFFFFFF)
TURN = np.uint64(31)
REALS = 2.0**53 - 1
BLOCKS = 128  # CatBoost's CB_THREAD_LIMIT: into as many its queries are divided, whatever the number of threads


@internal
def word_of(x):
    """Give 32 bits of a state: shifted, and rotated by its upper five bits."""
    word = (((x >> MIXED) ^ x) >> DROPPED) & LOW_WORD
    turn = x >> TURNED
    return ((word >> turn) | (word << ((WORD - turn) & TURN))) & LOW_WORD


@internal
def started(seed):
    """States and increments of the two streams of a seed, drawn from a stream that starts there."""
    x = seed * MULTIPLIER + ONE
    low = word_of(x)
    x = x * MULTIPLIER + ONE
    first = (word_of(x) << WORD) | low
    x = x * MULTIPLIER + ONE
    one = word_of(x)
    x = x * MULTIPLIER + ONE
    low = word_of(x)
    x = x * MULTIPLIER + ONE
    second = (word_of(x) << WORD) | low
    x = x * MULTIPLIER + ONE
    other = word_of(x)
    if one & LOW_31 == other & LOW_31:
        other = ~other & LOW_WORD
    return first, second, TWO * one + ONE, TWO * other + ONE


@internal
def advanced(x, increment, steps):
    """State of a stream that many draws later, in as many steps as the number has binary digits."""
    multiplier, added, whole, sum_of = MULTIPLIER, increment, ONE, np.uint64(0)
    while steps > 0:
        if steps & 1:
            whole *= multiplier
            sum_of = sum_of * multiplier + added
        added *= multiplier + ONE
        multiplier *= multiplier
        steps >>= 1
    return whole * x + sum_of


@internal
def drawn(first, second):
    """64 bits of the states of both streams."""
    return (word_of(first) << WORD) | word_of(second)


@internal
def real(first, second):
    """A number from 0 to 1, both included."""
    return np.float64(drawn(first, second) >> SHORT) / REALS


@internal
def draw_normals(seed, count, out):
    """Write standard normal numbers by the polar method, which keeps one of each pair."""
    first, second, one, other = started(seed)
    for i in range(count):
        square = 2.0
        x = 0.0
        while square > 1.0 or square == 0.0:
            first, second = first * MULTIPLIER + one, second * MULTIPLIER + other
            x = 2.0 * real(first, second) - 1.0
            first, second = first * MULTIPLIER + one, second * MULTIPLIER + other
            y = 2.0 * real(first, second) - 1.0
            square = x * x + y * y
        out[i] = x * np.sqrt(-2.0 * np.log(square) / square)


@internal
def block_started(seed, block, draws):
    """Streams of a block of queries after that many draws; the block's seed is the call's draw of its number."""
    first, second, one, other = started(seed)
    first, second = advanced(first, one, block + 1), advanced(second, other, block + 1)
    first, second, one, other = started(drawn(first, second))
    return advanced(first, one, draws), advanced(second, other, draws), one, other


@kernel
def query_seeds(seed, n_queries, start, seeds):
    """Write the seeds of the queries from `start` on, drawn block by block."""
    size = (n_queries + BLOCKS - 1) // BLOCKS
    first, second, one, other = block_started(seed, start // size, start % size)
    for i in range(seeds.size):
        q = start + i
        if i > 0 and q % size == 0:
            first, second, one, other = block_started(seed, q // size, 0)
        first, second = first * MULTIPLIER + one, second * MULTIPLIER + other
        seeds[i] = drawn(first, second)
