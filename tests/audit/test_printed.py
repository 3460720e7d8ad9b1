"""A printed number has decimals, and values match it if they round to it."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from rankadapters.audit.numbers import read_number as read
from tests.helpers.tables import for_each

WRITTEN = [  # value, decimals, text
    ("0.1620", None, "0.1620"),
    (0.162, None, "0.162"),
    (0.162, 4, "0.1620"),
    (np.float32(0.1623), None, "0.1623"),
    (Decimal("0.50"), None, "0.50"),
    (1.0, None, "1.0"),
    (0, 3, "0.000"),
    (0.5, 17, "0.50000000000000000"),
    ("1e-17", None, "0.00000000000000001"),
    ("1e-3", None, "0.001"),
    (" 0.16 ", None, "0.16"),
]


def test_a_number_has_the_decimals_with_which_it_is_written():
    for value, decimals, text in WRITTEN:
        assert str(read(value, decimals)) == text


def test_a_value_matches_a_number_if_it_rounds_to_it():
    printed = read("0.125", None)
    assert [printed.holds(v) for v in (0.12450001, 0.12549999, 0.12449999, 0.12550001)] == [True, True, False, False]
    assert read("0.2", None).holds(0.25)  # a tie: printf and round-half-up disagree, so both match
    assert read("0.3", None).holds(0.25)


@for_each("text", ["0.3", "1.0", "123.4", "-0.7", "0.12345678901234", "1e-17", "1234567.8"])
def test_arrays_are_compared_exactly_like_single_values(text):
    printed = read(text, None, bounded=False)
    steps = np.arange(-40, 41).reshape(9, 9)
    for sign in (-1, 1):
        edge = float(printed.value + sign * printed.half)
        values = edge + steps * np.spacing(edge)
        assert printed.hold(values).tolist() == [[printed.holds(v) for v in row] for row in values.tolist()]
    assert not printed.hold([np.nan, np.inf, -np.inf]).any()


def test_at_most_twelve_decimals_are_compared():
    assert [str(read(f"0.5{'0' * zeros}", None).half) for zeros in (10, 11, 12)] == ["5E-12", "5E-13", "5E-13"]


@for_each("kind", [np.float32, np.float16])
def test_numbers_of_narrow_types_match_their_value(kind):
    for value in np.random.default_rng(0).random(500):
        assert read(kind(value), None).holds(value)
