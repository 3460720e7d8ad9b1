"""CatBoost's random number generator: a pair of PCG XSH-RR streams for each query.

A query's numbers depend only on the seed of the call and the query's index, so they are the same for any number of
threads.
"""

from __future__ import annotations

import numpy as np

from rankadapters.core.ranking.jit import internal, jit

MULTIPLIER = np.uint64(6364136223846793005)
ONE, TWO, SHORT = np.uint64(1), np.uint64(2), np.uint64(11)
MIXED, DROPPED, TURNED = np.uint64(18), np.uint64(27), np.uint64(59)
WORD, LOW_WORD, LOW_31 = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(0x7FFFFFFF)
TURN = np.uint64(31)
REALS = 2.0**53 - 1
LOGISTIC, GAUSS, NO_NOISE = range(3)
BEYOND_ONE = np.float32(1.000001)  # CatBoost's: the logistic noise of u is log(u / (1.000001 - u))
SMALLEST_RATIO = 1e-300  # its logarithm is finite
BLOCKS = 128  # CatBoost's CB_THREAD_LIMIT: number of blocks of queries, whatever the number of threads


@internal
def word_of(x):
    """Return the 32-bit output of a PCG state: the state is shifted, then rotated by its upper five bits."""
    word = (((x >> MIXED) ^ x) >> DROPPED) & LOW_WORD
    turn = x >> TURNED
    return ((word >> turn) | (word << ((WORD - turn) & TURN))) & LOW_WORD


@internal
def started(seed):
    """Seed a third stream, draw the states and increments of the generator's two streams from it, and return them."""
    x = seed * MULTIPLIER + ONE
    low = word_of(x)
    x = x * MULTIPLIER + ONE
    first = (word_of(x) << WORD) | low
    x = x * MULTIPLIER + ONE
    first_word = word_of(x)
    x = x * MULTIPLIER + ONE
    low = word_of(x)
    x = x * MULTIPLIER + ONE
    second = (word_of(x) << WORD) | low
    x = x * MULTIPLIER + ONE
    second_word = word_of(x)
    if first_word & LOW_31 == second_word & LOW_31:
        second_word = ~second_word & LOW_WORD
    return first, second, TWO * first_word + ONE, TWO * second_word + ONE


@internal
def advanced(x, increment, steps):
    """Return the state of a stream `steps` draws later, in log2(steps) operations."""
    multiplier, total_increment, factor, offset = MULTIPLIER, increment, ONE, np.uint64(0)
    while steps > 0:
        if steps & 1:
            factor *= multiplier
            offset = offset * multiplier + total_increment
        total_increment *= multiplier + ONE
        multiplier *= multiplier
        steps >>= 1
    return factor * x + offset


@internal
def drawn(first, second):
    """Return 64 random bits: 32 from the state of each of the two streams."""
    return (word_of(first) << WORD) | word_of(second)


@internal
def real(first, second):
    """Return a uniform random number in [0, 1], both ends included."""
    return np.float64(drawn(first, second) >> SHORT) / REALS


@internal
def draw_normals(seed, out):
    """Write standard normal numbers by the polar method, which makes two at a time; the second is dropped."""
    first, second, first_step, second_step = started(seed)
    for i in range(out.size):
        square = 2.0
        x = 0.0
        while square > 1.0 or square == 0.0:
            first, second = first * MULTIPLIER + first_step, second * MULTIPLIER + second_step
            x = 2.0 * real(first, second) - 1.0
            first, second = first * MULTIPLIER + first_step, second * MULTIPLIER + second_step
            y = 2.0 * real(first, second) - 1.0
            square = x * x + y * y
        out[i] = x * np.sqrt(-2.0 * np.log(square) / square)


@internal
def block_started(seed, block, draws):
    """Return the random streams of a block after `draws` draws. The block-th number drawn from `seed` seeds them."""
    first, second, first_step, second_step = started(seed)
    first, second = advanced(first, first_step, block + 1), advanced(second, second_step, block + 1)
    first, second, first_step, second_step = started(drawn(first, second))
    return advanced(first, first_step, draws), advanced(second, second_step, draws), first_step, second_step


@jit
def query_seeds(seed, n_queries, start, seeds):
    """Write the seeds of the queries from `start` on, which each block of queries draws from streams of its own."""
    size = (n_queries + BLOCKS - 1) // BLOCKS
    first, second, first_step, second_step = block_started(seed, start // size, start % size)
    for i in range(seeds.size):
        q = start + i
        if i > 0 and q % size == 0:
            first, second, first_step, second_step = block_started(seed, q // size, 0)
        first, second = first * MULTIPLIER + first_step, second * MULTIPLIER + second_step
        seeds[i] = drawn(first, second)


@internal
def draw_logistic(seed, out):
    """Write logistic noise, whose ratio is rounded to float32 as in CatBoost."""
    first, second, first_step, second_step = started(seed)
    for i in range(out.size):
        first, second = first * MULTIPLIER + first_step, second * MULTIPLIER + second_step
        uniform = np.float32(real(first, second))
        out[i] = uniform / (BEYOND_ONE - uniform)
    for i in range(out.size):
        out[i] = np.log(max(out[i], SMALLEST_RATIO))


@jit
def noisy_copies(queries, scores, noise, scale, seeds, out):
    """Write the noisy copies of each query's scores: score + scale x noise. The query's seed determines its noise.

    CatBoost's YetiRank multiplies exp(score) by noise; adding the logarithm ranks the same and does not underflow.
    """
    indptr, copyptr, copies = queries.indptr, queries.copyptr, queries.copies
    for q in range(indptr.size - 1):
        start, n = indptr[q] - indptr[0], indptr[q + 1] - indptr[q]
        own = out[copyptr[q * copies] : copyptr[(q + 1) * copies]]
        if own.size == 0:
            continue
        if noise == LOGISTIC:
            draw_logistic(seeds[q], own)
        elif noise == GAUSS:
            draw_normals(seeds[q], own)
        else:
            own[:] = 0.0
        for begin in range(0, own.size, n):
            for i in range(n):
                own[begin + i] = scores[start + i] + scale * own[begin + i]
