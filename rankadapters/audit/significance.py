"""Whether a difference of two means could be chance: a paired randomisation test, an interval, and their correction."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import MissingToolkitError

Floats = NDArray[np.float64]

CELLS = 4_000_000  # resampled values held at once


class Tested(NamedTuple):
    """Two-sided p-value, and the ends of the interval of the difference."""

    p_value: float
    low: float
    high: float


def compare(first: Floats, second: Floats, *, n_resamples: int, confidence: float, seed: Sequence[int]) -> Tested:
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
        return Tested(1.0, 0.0, 0.0)
    batch = max(1, CELLS // first.size)
    tested = stats.permutation_test(
        (first, second), _difference, permutation_type="samples", vectorized=True, n_resamples=n_resamples, batch=batch,
        **_random(stats.permutation_test, [*seed, 0]),
    )  # fmt: skip
    interval = stats.bootstrap(
        (difference,), np.sum, vectorized=True, n_resamples=n_resamples, batch=batch, confidence_level=confidence,
        method="percentile", **_random(stats.bootstrap, [*seed, 1]),
    ).confidence_interval  # fmt: skip
    return Tested(float(tested.pvalue), float(interval.low), float(interval.high))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values of a family of tests, so that one false finding among all is as rare as each p-value says.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> [round(p, 10) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    stepped = np.minimum(1.0, np.maximum.accumulate(factors * np.asarray(p_values, float)[order]))
    corrected = np.empty(len(p_values))
    corrected[order] = stepped
    return [float(p) for p in corrected]


def tau_b(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's rank correlation with ties; None where one side ranks nothing.

    References
    ----------
    Kendall (1945), The treatment of ties in ranking problems.
    """
    if len(set(first)) < 2 or len(set(second)) < 2:  # noqa: PLR2004 - nothing is ranked
        return None
    return float(scipy_stats().kendalltau(first, second, variant="b").statistic)


def scipy_stats() -> Any:
    """Import scipy.stats, or name the extra that brings it."""
    try:
        from scipy import stats
    except ImportError:
        raise MissingToolkitError.of("scipy", "audit") from None
    return stats


def _difference(first: Floats, second: Floats, axis: int) -> Any:
    return np.sum(first - second, axis=axis)


def _random(function: Any, seed: Sequence[int]) -> dict[str, np.random.Generator]:
    """Name the argument that takes a generator: `rng` since scipy 1.15, `random_state` before."""
    name = "rng" if "rng" in inspect.signature(function).parameters else "random_state"
    return {name: np.random.default_rng(list(seed))}
