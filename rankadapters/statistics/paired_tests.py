"""Test whether differences of two means could be chance: paired randomization tests and bootstrap intervals.

The resamples are the rows of a matrix. Its product with the per-query differences of all tests gives every resampled
sum. The differences are first rounded to whole numbers, so these sums are exact: no result depends on the order in
which a machine and its threads add.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.declaration import arguments
from rankadapters.statistics.resamples import Resamples

Floats = NDArray[np.float64]

IN_MEMORY = 1 << 24  # number of differences and resampled sums in memory at once
SUM_BITS = 48  # bits of a sum of whole numbers; float64 has 53, so a bootstrap sample may repeat a query 32 times


class PairedTest(NamedTuple):
    """The two-sided p-value of a difference, and the ends of its confidence interval."""

    p_value: float
    low: float
    high: float


def checked_resampling(n_resamples: object, confidence: object, random_state: object) -> tuple[int, float, int]:
    """Check and return the number of resamples, the confidence and the seed.

    >>> checked_resampling(99, np.float32(0.5), 0)
    (99, 0.5, 0)

    Raises
    ------
    InputError
        An argument is not a number or out of range.
    """
    return (
        arguments.whole("n_resamples", n_resamples, hint="n_resamples=9999"),
        arguments.number("confidence", confidence, least=0, most=1, above=True, below=True, hint="confidence=0.95"),
        arguments.seed(random_state),
    )


def paired_tests(
    pairs: Sequence[tuple[Floats, Floats]],
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
    strata: tuple[int, ...] = (),
    progress: Callable[[int, int], object] | None = None,
) -> list[PairedTest]:
    """Test pairs of means over the same queries, given each query's contribution to each mean.

    All pairs share the same resamples, so the result of one pair does not depend on the others.

    Parameters
    ----------
    pairs : sequence of (float64 array, float64 array), shape (n_queries,) each
        The queries' contributions, which add up to the two means.
    n_resamples : int
        Number of random swaps of the two within queries (every swap, if there are no more than that), and of samples
        of queries with replacement.
    confidence : float
        Confidence of the interval, whose ends are percentiles of the resampled differences.
    seed : int
        The same seed gives the same numbers.
    strata : tuple of int
        Number of queries of each data set if there is more than one; each data set is sampled on its own.
    progress : callable, optional
        Called with the number of blocks of resamples that are done, and their total.

    References
    ----------
    Smucker, Allan, Carterette (2007), A comparison of statistical significance tests for information retrieval
    evaluation, CIKM. Efron, Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.

    Examples
    --------
    >>> pair = np.array([0.3, 0.2, 0.4]), np.array([0.1, 0.1, 0.1])
    >>> [test] = paired_tests([pair], n_resamples=99, confidence=0.9, seed=0)
    >>> test.p_value  # 2 of the 8 possible swaps leave the means this far apart: swapping no query, or all
    0.25
    """
    if not pairs:
        return []
    resamples = Resamples(pairs[0][0].size, n_resamples, seed, strata)
    size = max(1, IN_MEMORY // max(resamples.n_queries, n_resamples))
    groups = [pairs[first : first + size] for first in range(0, len(pairs), size)]
    steps, n_steps = count(1), len(groups) * resamples.n_blocks

    def products(blocks: Iterator[NDArray[Any]], whole: Floats) -> Iterator[Floats]:
        for block in blocks:
            yield block.astype(np.float64) @ whole
            if progress is not None:
                progress(next(steps), n_steps)

    tests: list[PairedTest] = []
    for group in groups:
        whole, exponents = whole_numbers(np.stack([first - second for first, second in group]))
        p_values = _p_values(products(resamples.swaps(), whole), resamples)
        ends = _ends(products(resamples.samples(), whole), confidence)
        low, high = np.ldexp(ends, exponents)
        tests += map(PairedTest, p_values.tolist(), low.tolist(), high.tolist())
    return tests


def whole_numbers(differences: Floats) -> tuple[Floats, NDArray[np.int32]]:
    """Round differences, shape (n_tests, n_queries), to multiples of a tiny power of 2, so that sums are exact.

    Returns the multiples, shape (n_queries, n_tests), and the exponent of each test.

    >>> whole, exponents = whole_numbers(np.array([[0.5, -0.25]]))
    >>> np.ldexp(whole, exponents).ravel().tolist(), bool(np.abs(whole).sum() <= 2**SUM_BITS)
    ([0.5, -0.25], True)
    """
    _, largest = np.frexp(np.abs(differences).max(axis=1))  # the maximum, since the sum may overflow float64
    scaled = np.ldexp(differences, -largest[:, None])
    _, total = np.frexp(np.abs(scaled).sum(axis=1))
    spare = SUM_BITS - 1 - total
    return np.ascontiguousarray(np.rint(np.ldexp(scaled, spare[:, None])).T), largest - spare


def _p_values(swapped: Iterator[Floats], resamples: Resamples) -> Floats:
    """Return two-sided p-values: twice the smaller of the shares of swaps with at least and at most the difference.

    A swap lowers the difference by twice the sum of the swapped queries' differences. The new difference is at least
    as large if that sum is at most 0, within the rounding of half a unit per query. If the swaps are random, the
    observed difference counts as one of them.
    """
    above, below = 0, 0
    for sums in swapped:
        above = above + (sums <= resamples.n_queries / 2).sum(axis=0)
        below = below + (sums >= -resamples.n_queries / 2).sum(axis=0)
    observed = 0 if resamples.holds_all_swaps else 1
    p_values: Floats = np.minimum(1.0, 2 * (np.minimum(above, below) + observed) / (resamples.n_swaps + observed))
    return p_values


def _ends(sampled: Iterator[Floats], confidence: float) -> Floats:
    """Return the two percentiles with this share of the bootstrap sums between them, shape (2, n_tests)."""
    tail = (1 - confidence) / 2
    ends: Floats = np.quantile(np.concatenate(list(sampled)), [tail, 1 - tail], axis=0)
    return ends
