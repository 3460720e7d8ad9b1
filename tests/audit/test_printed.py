"""A printed number has decimals, and values match it if they round to it."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from rankadapters.audit.numbers import read_number as read

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


@pytest.mark.parametrize("text", ["0.3", "1.0", "123.4", "-0.7", "0.12345678901234", "1e-17", "1234567.8"])
def test_arrays_are_compared_exactly_like_single_values(text):
    printed = read(text, None, bounded=False)
    steps = np.arange(-40, 41).reshape(9, 9)
    for sign in (-1, 1):
        edge = float(printed.value + sign * printed.half)
        values = edge + steps * np.spacing(edge)
        assert printed.hold(values).tolist() == [[printed.holds(v) for v in row] for row in values.tolist()]
    assert not printed.hold([np.nan, np.inf, -np.inf]).any()
