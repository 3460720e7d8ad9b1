"""Standard errors from exact sums of squares, the same for any partition of the queries."""

from __future__ import annotations

import math

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.evaluation.limbs import SUM_LIMBS, Limbs, from_limbs, to_limbs
from rankadapters.core.evaluation.members import SMALLEST_EXPONENT, exact_sum
from rankadapters.core.evaluation.tally import Tally

_LARGEST, _SMALLEST = 2.0**500, 2.0**-400  # between which the square of a float64 has all its digits
_HIGH = np.int64(-1 << 27)  # the upper 26 bits of a float64's digits, whose products are exact


def squares(terms: Floats, divisors: Floats) -> Limbs:
    """Sum the squares of terms and divisors and their products, without rounding.

    Parameters
    ----------
    terms, divisors : float64 array, shape (n_queries,)
        What each query adds to the two sums of a tally.

    Returns
    -------
    int64 array, shape (211,)
        Three sums in limbs, then how many queries have no square in float64; such arrays add up, place by place.
    """
    beyond = (np.abs(terms) > _LARGEST) | (divisors > _LARGEST)
    columns = [np.where(beyond | (np.abs(column) < _SMALLEST), 0.0, column) for column in (terms, divisors)]
    sums = (_products(columns[0], columns[0]), _products(*columns), _products(columns[1], columns[1]))
    return np.concatenate([*map(to_limbs, sums), [np.count_nonzero(beyond)]])


def standard_error(tally: Tally, limbs: Limbs) -> float:
    """Return the standard error of a tally's value, as `Measured.standard_errors` defines it.

    Parameters
    ----------
    tally : Tally
        Sums over the queries.
    limbs : int64 array, shape (211,)
        `squares` of the same queries.

    Returns
    -------
    float
        NaN where fewer than two queries are scored, or where a weight is beyond 2^500.
    """
    m, numerator, denominator = tally.n_scored, tally.numerator, tally.denominator
    of_terms, mixed, of_divisors, [beyond] = np.split(limbs, [SUM_LIMBS, 2 * SUM_LIMBS, 3 * SUM_LIMBS])
    total = from_limbs(of_divisors)
    if m < 2 or not denominator or beyond or not total:  # noqa: PLR2004 - a spread needs two
        return math.nan
    mean_free = (
        from_limbs(of_terms) * denominator**2 - 2 * from_limbs(mixed) * numerator * denominator + total * numerator**2
    )  # the sum of squared residuals, times the square of the denominator
    variance = max((m * mean_free << SMALLEST_EXPONENT) / ((m - 1) * denominator**4), 0.0)
    return math.sqrt(variance) * tally.convention.link_slope(tally.score().value)


def _products(a: Floats, b: Floats) -> int:
    """Sum the products of two columns, each as four products of halves of the digits."""
    halves = [(high, column - high) for column in (a, b) for high in [(column.view(np.int64) & _HIGH).view(np.float64)]]
    return exact_sum(np.concatenate([first * second for first in halves[0] for second in halves[1]]))
