"""Whether a difference of two means could be chance: a paired randomisation test and an interval."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.statistics.scipy_stats import scipy_stats

Floats = NDArray[np.float64]

CELLS = 4_000_000  # resampled values held at once


class PairedTest(NamedTuple):
    """Two-sided p-value, and the ends of the interval of the difference."""

    p_value: float
    low: float
    high: float


def paired_test(
    first: Floats, second: Floats, *, n_resamples: int, confidence: float, seed: Sequence[int]
) -> PairedTest:
    """Test what each query adds to two means, shape (n_queries,) each, at least two queries.

    Parameters
    ----------
    first, second : float64 array, shape (n_queries,)
        They add up to the means.
    n_resamples : int
        Random swaps of the two within queries (all of them where there are no more), and samples of queries with
        replacement.
    confidence : float
        Of the interval, from the percentiles of the resampled differences.
    seed : sequence of int
        The same seed gives the same numbers.

    Raises
    ------
    MissingToolkitError
        scipy is not installed.

    References
    ----------
    Smucker, Allan, Carterette (2007), A comparison of statistical significance tests for information retrieval
    evaluation, CIKM. Efron, Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
    """
    stats = scipy_stats()
    difference = first - second
    if not difference.any():
        return PairedTest(1.0, 0.0, 0.0)
    batch = max(1, CELLS // first.size)
    tested = stats.permutation_test(
        (first, second), _difference, permutation_type="samples", vectorized=True, n_resamples=n_resamples, batch=batch,
        **_random(stats.permutation_test, [*seed, 0]),
    )  # fmt: skip
    interval = stats.bootstrap(
        (difference,), np.sum, vectorized=True, n_resamples=n_resamples, batch=batch, confidence_level=confidence,
        method="percentile", **_random(stats.bootstrap, [*seed, 1]),
    ).confidence_interval  # fmt: skip
    return PairedTest(float(tested.pvalue), float(interval.low), float(interval.high))


def _difference(first: Floats, second: Floats, axis: int) -> Any:
    return np.sum(first - second, axis=axis)


def _random(function: Any, seed: Sequence[int]) -> dict[str, np.random.Generator]:
    """Name the argument that takes a generator: `rng` since scipy 1.15, `random_state` before."""
    name = "rng" if "rng" in inspect.signature(function).parameters else "random_state"
    return {name: np.random.default_rng(list(seed))}
