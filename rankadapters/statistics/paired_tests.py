"""Whether differences of two means could be chance: paired randomisation tests and intervals, many at once.

The resamples are the rows of a matrix, whose product with the differences of all tests has every resampled sum. The
differences are whole numbers there, so that these sums are exact: no result depends on the order in which a machine
and its threads add.
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

HELD = 1 << 24  # differences, and resampled sums, held at once
SUM_BITS = 48  # of the whole numbers; float64 holds 53, so that a query may be drawn 32 times


class PairedTest(NamedTuple):
    """Two-sided p-value, and the ends of the interval of the difference."""

    p_value: float
    low: float
    high: float


def checked_resampling(n_resamples: object, confidence: object, random_state: object) -> tuple[int, float, int]:
    """Return how often queries are resampled, the confidence and the seed.

    >>> checked_resampling(99, np.float32(0.5), 0)
    (99, 0.5, 0)

    Raises
    ------
    InputError
        One of them is not a number, or out of range.
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
    """Test what each query adds to two means, for several pairs of means over the same queries.

    All pairs meet the same resamples, so that the result of one does not depend on the others.

    Parameters
    ----------
    pairs : sequence of (float64 array, float64 array), shape (n_queries,) each
        They add up to the means.
    n_resamples : int
        Random swaps of the two within queries (all of them where there are no more), and samples of queries with
        replacement.
    confidence : float
        Of the interval, from the percentiles of the resampled differences.
    seed : int
        The same seed gives the same numbers.
    strata : tuple of int
        Queries of each data set, where there are several, one after the other: each is sampled apart.
    progress : callable, optional
        Called with how many blocks of resamples are done, and how many there are.

    References
    ----------
    Smucker, Allan, Carterette (2007), A comparison of statistical significance tests for information retrieval
    evaluation, CIKM. Efron, Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.

    Examples
    --------
    >>> pair = np.array([0.3, 0.2, 0.4]), np.array([0.1, 0.1, 0.1])
    >>> [found] = paired_tests([pair], n_resamples=99, confidence=0.9, seed=0)
    >>> found.p_value  # of the 8 swaps, none and all of them bring the means as far apart
    0.25
    """
    if not pairs:
        return []
    drawn = Resamples(pairs[0][0].size, n_resamples, seed, strata)
    size = max(1, HELD // max(drawn.n_queries, n_resamples))
    groups = [pairs[first : first + size] for first in range(0, len(pairs), size)]
    steps, n_steps = count(1), len(groups) * drawn.n_blocks

    def products(blocks: Iterator[NDArray[Any]], whole: Floats) -> Iterator[Floats]:
        for block in blocks:
            yield block.astype(np.float64) @ whole
            if progress is not None:
                progress(next(steps), n_steps)

    found: list[PairedTest] = []
    for group in groups:
        whole, exponents = whole_numbers(np.stack([first - second for first, second in group]))
        p_values = _p_values(products(drawn.swaps(), whole), drawn)
        ends = _ends(products(drawn.samples(), whole), confidence)
        low, high = np.ldexp(ends, exponents)
        found += map(PairedTest, p_values.tolist(), low.tolist(), high.tolist())
    return found


def whole_numbers(differences: Floats) -> tuple[Floats, NDArray[np.int32]]:
    """Round differences, shape (n_tests, n_queries), to multiples of a power of 2 that is far below their sum.

    Returns the multiples, shape (n_queries, n_tests), and the exponent of each test.

    >>> whole, exponents = whole_numbers(np.array([[0.5, -0.25]]))
    >>> np.ldexp(whole, exponents).ravel().tolist(), bool(np.abs(whole).sum() <= 2**SUM_BITS)
    ([0.5, -0.25], True)
    """
    _, largest = np.frexp(np.abs(differences).max(axis=1))  # apart, since the sum may be beyond float64
    scaled = np.ldexp(differences, -largest[:, None])
    _, total = np.frexp(np.abs(scaled).sum(axis=1))
    spare = SUM_BITS - 1 - total
    return np.ascontiguousarray(np.rint(np.ldexp(scaled, spare[:, None])).T), largest - spare


def _p_values(swapped: Iterator[Floats], drawn: Resamples) -> Floats:
    """Twice the share of swaps after which the difference is as far to one side, the side with fewer.

    A swap takes twice the sum of what it swaps from the difference, which is compared with 0 but for rounding: half a
    unit for each query. Where swaps are drawn, the difference as it is counts as one of them.
    """
    above, below = 0, 0
    for sums in swapped:
        above = above + (sums <= drawn.n_queries / 2).sum(axis=0)
        below = below + (sums >= -drawn.n_queries / 2).sum(axis=0)
    itself = 0 if drawn.holds_all_swaps else 1
    found: Floats = np.minimum(1.0, 2 * (np.minimum(above, below) + itself) / (drawn.n_swaps + itself))
    return found


def _ends(sampled: Iterator[Floats], confidence: float) -> Floats:
    """Percentiles between which that share of the sums lies, shape (2, n_tests)."""
    tail = (1 - confidence) / 2
    found: Floats = np.quantile(np.concatenate(list(sampled)), [tail, 1 - tail], axis=0)
    return found
