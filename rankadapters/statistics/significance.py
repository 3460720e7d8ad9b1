"""Whether differences of means could be chance: paired randomization tests, bootstrap intervals, Holm's correction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Floats
from rankadapters.core.declaration import arguments

CELLS = 1 << 15  # numbers in a block of resamples, which stays in the cache; a larger row is a block
PART = 1 << 13  # numbers that BLAS multiplies without its threads, whose waiting would double the CPU time
ROWS = 16  # resamples of many queries in such a part, so that BLAS packs the columns once for all of them
SUMS = 1 << 24  # resampled sums in memory at once
MANY = 1 << 12  # queries from which on samples share counts, which takes a tenth of the time
SHARED = 16  # samples of many queries with the same counts, each for a different order of the queries
WORD = 64  # random bits per draw
ROUNDING = 2.0**-49  # sums that differ by less than this share of the largest possible sum, per query, are equal


class PairedTest(NamedTuple):
    """The two-sided p-value of a difference, and the ends of its confidence interval."""

    p_value: float
    low: float
    high: float


def checked_resampling(n_resamples: object, confidence: object, random_state: object) -> tuple[int, float, int]:
    """Check and return the number of resamples, the confidence and the seed.

    >>> checked_resampling(99, np.float32(0.5), 0)
    (99, 0.5, 0)
    """
    return (
        arguments.whole("n_resamples", n_resamples, hint="n_resamples=9999"),
        arguments.number("confidence", confidence, least=0, most=1, above=True, below=True, hint="confidence=0.95"),
        arguments.seed(random_state),
    )


def paired_tests(
    differences: Floats,
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
    progress: Callable[[int, int], object],
) -> list[PairedTest]:
    """Test differences of two means over the same queries, from what each query adds to them: (n_tests, n_queries).

    `n_resamples` is the number of random swaps of the two within queries (every swap, if there are no more than that),
    and of samples of queries with replacement, whose percentiles are the interval. From 4,096 queries on, 16 samples
    share their counts, each for a different random order of the queries. The result of one test does not depend on the
    others, nor on the BLAS of numpy: what each query adds is rounded, so that no sum has to be. `progress` is called
    with the number of blocks of resamples that are done, and their total.

    References
    ----------
    Smucker, Allan, Carterette (2007), A comparison of statistical significance tests for information retrieval
    evaluation, CIKM. Efron, Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.

    Examples
    --------
    >>> [test] = paired_tests(np.array([[0.2, 0.1, 0.3]]), n_resamples=99, confidence=0.9, seed=0, progress=max)
    >>> test.p_value  # 2 of the 8 possible swaps leave the means this far apart: swapping no query, or all
    0.25
    """
    n_tests, n_queries = differences.shape
    scales = np.abs(differences).max(axis=1, initial=0)  # sums of the scaled differences cannot overflow
    scaled = np.divide(differences.T, scales, out=np.zeros((n_queries, n_tests)), where=scales > 0)
    # BLAS adds up in an order that depends on the machine and on the number of columns. The order does not matter for
    # multiples of this unit, since float64 holds all their sums.
    unit = _unit(n_queries)
    scaled = np.round(scaled / unit) * unit
    orders = _orders(n_queries, seed)
    size = max(1, SUMS // max(n_resamples, n_queries * len(orders)))
    tested = [scaled[:, first : first + size] for first in range(0, n_tests, size)]
    swaps = _blocks(n_queries, n_swaps(n_queries, n_resamples))
    samples = _blocks(n_queries, -(-n_resamples // len(orders)))
    steps, n_steps = count(1), len(tested) * (len(swaps) + len(samples))

    def sums(resamples: Iterator[NDArray[Any]], columns: Floats) -> Iterator[Floats]:
        for resample in resamples:
            yield _product(resample, columns)
            progress(next(steps), n_steps)

    p_values, ends = [], []
    for columns in tested:
        p_values.append(_p_values(sums(_swaps(n_queries, swaps, n_resamples, seed), columns), columns, n_resamples))
        in_orders = np.concatenate([columns[order] for order in orders], axis=1)
        sampled = np.concatenate(list(sums(_samples(n_queries, samples, seed), in_orders)))
        sampled = sampled.reshape(-1, columns.shape[1])[:n_resamples]
        ends.append(np.quantile(sampled, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0))
    low, high = np.concatenate(ends, axis=1) * scales
    return list(map(PairedTest, np.concatenate(p_values).tolist(), low.tolist(), high.tolist()))


def n_swaps(n_queries: int, n_resamples: int) -> int:
    """Return the number of swaps to try: all 2 ** n_queries if `n_resamples` suffices for them, else `n_resamples`."""
    return 1 << n_queries if n_queries < n_resamples.bit_length() else n_resamples


def _p_values(swapped: Iterator[Floats], columns: Floats, n_resamples: int) -> Floats:
    """Return two-sided p-values: twice the smaller of the shares of swaps with at least and at most the difference.

    A swap lowers the difference by twice the sum of the swapped queries' differences, so the new difference is at
    least as large if that sum is at most 0. If the swaps are random, the observed difference counts as one of them.
    """
    tolerance = len(columns) * (_unit(len(columns)) + ROUNDING * np.abs(columns).sum(axis=0))
    tails = np.zeros((2, columns.shape[1]))
    for sums in swapped:
        tails += (sums <= tolerance).sum(axis=0), (sums >= -tolerance).sum(axis=0)
    n_tried = n_swaps(len(columns), n_resamples)
    observed = 0 if n_tried == 1 << len(columns) else 1
    p_values: Floats = np.minimum(1.0, 2 * (tails.min(axis=0) + observed) / (n_tried + observed))
    return p_values


def _unit(n_queries: int) -> float:
    """Return the smallest power of two of which float64 holds every multiple up to the number of queries."""
    return float(2.0 ** (n_queries.bit_length() - 53))


def _blocks(n_queries: int, n_rows: int) -> list[range]:
    size = max(1 if n_queries < MANY else ROWS, CELLS // n_queries)
    return [range(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]


def _swaps(n_queries: int, blocks: Sequence[range], n_resamples: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    """Yield a block of matrix rows at a time: 1 for a query in which the two models are swapped, else 0."""
    rng, n_words = np.random.default_rng([seed, 0]), -(-n_queries // WORD)
    for rows in blocks:
        if n_swaps(n_queries, n_resamples) == 1 << n_queries:
            words = np.arange(rows.start, rows.stop, dtype=np.uint64)[:, None]
        else:
            words = rng.integers(2**WORD, size=(len(rows), n_words), dtype=np.uint64)
        # Little-endian on every machine, so that all machines swap the same queries.
        yield np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, count=n_queries, bitorder="little")


def _product(resample: NDArray[Any], columns: Floats) -> Floats:
    """Return the matrix product, computed in parts of at most `PART` numbers."""
    n_resamples, n_queries = resample.shape
    sums = np.zeros((n_resamples, columns.shape[1]))
    n_rows = max(1, PART // n_queries) if n_queries < MANY else min(ROWS, n_resamples)
    n_columns = PART // n_rows
    for rows in (slice(first, first + n_rows) for first in range(0, n_resamples, n_rows)):
        for queries in (slice(first, first + n_columns) for first in range(0, n_queries, n_columns)):
            sums[rows] += resample[rows, queries].astype(np.float64) @ columns[queries]
    return sums


def _orders(n_queries: int, seed: int) -> list[slice | NDArray[np.intp]]:
    """Return the orders of the queries that share the counts of a sample: for few queries, only that of the data.

    Counts applied to queries in random order are a bootstrap sample too. The sums of two samples with the same counts
    have a correlation of about 1 / sqrt(n_queries), too small to matter for percentiles.
    """
    if n_queries < MANY:
        return [slice(None)]
    rng = np.random.default_rng([seed, 2])
    return [rng.permutation(n_queries) for _ in range(SHARED)]


def _samples(n_queries: int, blocks: Sequence[range], seed: int) -> Iterator[NDArray[np.intp]]:
    """Yield a block of matrix rows at a time: how often each query is in a bootstrap sample."""
    rng = np.random.default_rng([seed, 1])
    for rows in blocks:
        drawn = rng.integers(n_queries, size=(len(rows), n_queries))
        drawn += n_queries * np.arange(len(rows))[:, None]
        yield np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)


def holm(p_values: Sequence[float]) -> Floats:
    """Correct the p-values of a family of tests for the chance of even one false positive (Holm 1979).

    >>> holm([0.01, 0.04, 0.03]).round(10).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(factors * np.asarray(p_values, float)[order]))
    return corrected


def tau_b(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Kendall's rank correlation with ties (Kendall 1945); None if all values of one list are equal.

    >>> tau_b([1, 2, 3], [1, 3, 2]), tau_b([1, 1], [1, 2])
    (0.3333333333333333, None)
    """
    x, y = (np.sign(np.subtract.outer(values, values)) for values in (first, second))
    pairs = np.sqrt(np.sum(x * x) * np.sum(y * y))
    return float(np.sum(x * y) / pairs) if pairs else None
