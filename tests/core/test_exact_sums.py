"""Exact sums of floats, of their squares and products, and numbers as limbs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.exact_sums import SMALLEST_EXPONENT, SUM_LIMBS, exact_sum, from_limbs, squares, to_limbs

INTEGERS = st.integers(-(2**2200), 2**2200)


@given(st.lists(INTEGERS, min_size=1, max_size=5))
def test_the_sum_of_limbs_is_the_limbs_of_the_sum(numbers):
    assert from_limbs(np.sum([to_limbs(number) for number in numbers], axis=0)) == sum(numbers)


FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def by_fractions(terms):
    """Return the sum in units of 2^-1074, by rational numbers."""
    return sum(map(Fraction, terms.tolist())) * 2**SMALLEST_EXPONENT


@given(st.lists(FLOATS, max_size=9), st.sampled_from([0, 1, 16, 17, 40]))
@example([1e308, 5e-324], 17)
@example([1.0, 2.0**-899, 2.0**-900, 2.0**-901, -(2.0**-1022), 5e-324], 40)
@example([-5e-324, 2.0**-1022 - 5e-324, -0.0], 40)
@example([np.finfo(float).max, -np.finfo(float).max], 17)
def test_floats_are_added_without_rounding(numbers, n_terms):
    terms = np.resize(numbers or [0.0], n_terms)
    with np.errstate(all="raise"):
        assert exact_sum(terms) == by_fractions(terms)


@pytest.mark.parametrize("n_terms", [2**15 - 1, 2**15, 2**15 + 1, 2**17])
@pytest.mark.parametrize("largest", [1 - 2.0**-53, np.finfo(float).max])
def test_many_terms_of_full_width_are_added_without_rounding(n_terms, largest):
    assert exact_sum(np.full(n_terms, largest)) == n_terms * by_fractions(np.array([largest]))


@pytest.mark.parametrize("n_terms", [3, 40, 2**15 + 1])
@pytest.mark.parametrize("term", [np.nan, np.inf, -np.inf])
def test_a_sum_of_other_than_finite_terms_is_refused(n_terms, term):
    with pytest.raises(ra.InputError, match="overflows float64"):
        exact_sum(np.append(np.ones(n_terms - 1), term))


@given(st.lists(st.floats(1e-100, 1e100), min_size=2, max_size=2))
@example([2.0**53 - 1, 2.0**53 - 1])
@example([2.0**52 + 2**26 - 1, 2.0**52 + 2**26])
@example([2.0**53 - 2**26 - 1, 2.0**52 + 2**27 - 1])
def test_squares_and_products_are_added_without_rounding(pair):
    (term, divisor), (a, b) = (np.array([number]) for number in pair), map(Fraction, pair)
    sums = np.split(squares(-term, divisor), [SUM_LIMBS, 2 * SUM_LIMBS, 3 * SUM_LIMBS])[:3]
    assert [from_limbs(limbs) for limbs in sums] == [
        product * 2**SMALLEST_EXPONENT for product in (a * a, -a * b, b * b)
    ]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("size", "counted", "n_too_large"),
    [
        (2.0**-400, 2.0**-400, 0),
        (np.nextafter(2.0**-400, 0), 0.0, 0),
        (2.0**500, 2.0**500, 0),
        (np.nextafter(2.0**500, np.inf), 0.0, 1),
    ],
)
def test_squares_of_numbers_below_2_to_minus_400_are_0_and_those_above_2_to_500_too_large(
    size, counted, n_too_large, sign
):
    found = squares(np.array([sign * size, 1.0]), np.array([1.0, 2.0]))
    assert from_limbs(found[:SUM_LIMBS]) == (Fraction(counted) ** 2 + 1) * 2**SMALLEST_EXPONENT
    assert found[-1] == n_too_large


@pytest.mark.parametrize("number", [0, 1, -1, 2**32, -(2**32), 2**2239 - 1, -(2**2239)])
def test_limbs_hold_integers_up_to_both_ends_of_their_range(number):
    limbs = to_limbs(number)
    assert (limbs.dtype, limbs.shape) == (np.int64, (SUM_LIMBS,))
    assert from_limbs(limbs) == number
