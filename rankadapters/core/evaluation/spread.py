"""Standard errors from exact sums of squares, the same for any partition of the queries."""

from __future__ import annotations

import math

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.evaluation.limbs import SUM_LIMBS, Limbs, from_limbs, to_limbs
from rankadapters.core.evaluation.members import SMALLEST_EXPONENT, exact_sum
from rankadapters.core.evaluation.tally import Tally

_LARGEST, _SMALLEST = 2.0**500, 2.0**-400  # the squares of numbers between these bounds lose no digits
# Rounding a mantissa to its upper 26 bits leaves 26 bits and a sign, so that products of two such halves are exact.
_HIGH, _ROUNDING = np.int64(-1 << 27), np.int64(1 << 26)


def squares(terms: Floats, divisors: Floats) -> Limbs:
    """Return exact sums of the squares of terms and divisors, and of their products.

    Parameters
    ----------
    terms, divisors : float64 array, shape (n_queries,)
        Each query's summands in the two sums of a tally.

    Returns
    -------
    int64 array, shape (211,)
        Three sums in limbs, then the number of queries whose squares overflow. Such arrays add up element by element.
    """
    too_large = (np.abs(terms) > _LARGEST) | (divisors > _LARGEST)
    columns = [np.where(too_large | (np.abs(column) < _SMALLEST), 0.0, column) for column in (terms, divisors)]
    sums = (_products(columns[0], columns[0]), _products(*columns), _products(columns[1], columns[1]))
    return np.concatenate([*map(to_limbs, sums), [np.count_nonzero(too_large)]])


def standard_error(tally: Tally, limbs: Limbs) -> float:
    """Return the standard error of a tally's value, as `Measured.standard_errors` defines it.

    Parameters
    ----------
    tally : Tally
        Sums over the queries.
    limbs : int64 array, shape (211,)
        The result of `squares` for the same queries.

    Returns
    -------
    float
        NaN for fewer than two scored queries, or if a weight exceeds 2^500.
    """
    m, numerator, denominator = tally.n_scored, tally.numerator, tally.denominator
    term_squares, products, divisor_squares, [n_too_large] = np.split(limbs, [SUM_LIMBS, 2 * SUM_LIMBS, 3 * SUM_LIMBS])
    term_sum, product_sum, divisor_sum = map(from_limbs, (term_squares, products, divisor_squares))
    if m < 2 or not denominator or n_too_large or not divisor_sum:  # noqa: PLR2004 - a standard error needs two
        return math.nan
    # The sum of squared residuals, times the square of the denominator.
    squared = term_sum * denominator**2 - 2 * product_sum * numerator * denominator + divisor_sum * numerator**2
    variance = max((m * squared << SMALLEST_EXPONENT) / ((m - 1) * denominator**4), 0.0)
    return math.sqrt(variance) * tally.convention.link_slope(tally.score().value)


def _products(a: Floats, b: Floats) -> int:
    """Return the exact sum of products of two columns, by splitting each product into four exact products."""
    highs = [(column.view(np.int64) + _ROUNDING & _HIGH).view(np.float64) for column in (a, b)]
    halves = [(high, column - high) for column, high in zip((a, b), highs, strict=True)]
    return exact_sum(np.concatenate([first * second for first in halves[0] for second in halves[1]]))
