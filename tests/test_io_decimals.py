"""Decimal numbers in text: what is one, and that each is the float64 that Python reads."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rankadapters.io.byte_words import PAD, Text
from rankadapters.io.decimals import are_plain, read_decimals

PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
DECIMAL = re.compile(PLAIN.pattern + r"([eE][+-]?\d+)?")


def tokens_in(tokens):
    """A text of the tokens with a blank between any two, and where each begins and ends."""
    lengths = np.array([len(token) for token in tokens])
    ends = PAD + np.cumsum(lengths + 1) - 1
    return Text.of(" ".join(tokens).encode()), ends - lengths, ends


def written(number):
    """A number as files hold it."""
    return st.sampled_from(["%.6f", "%.5g", "%.9g", "%.16g", "%.17g", "%.18e", "%r", "%d.", "+%.3f"]).map(
        lambda form: form % number
    )


NUMBERS = st.floats(-1e6, 1e6).flatmap(written) | st.floats(allow_nan=False, allow_infinity=False).flatmap(written)
DIGITS = st.from_regex(r"\A[+-]?[0-9]{1,20}\.?[0-9]{0,20}([eE][+-]?[0-9]{1,4})?\Z")
PIECES = st.text(st.sampled_from("0123456789.:+-eE_xn\v"), min_size=1, max_size=26)


@settings(max_examples=500, deadline=None)
@given(st.lists(NUMBERS | DIGITS | PIECES, min_size=1, max_size=12))
@example(["9007199254740993", "9007199254740993.0", "4503599627370496.5", "1.7976931348623157e308", "1e5.", "5.e1"])
@example(["-0", "-0.0", ".", "-", "+.", "e5", "1e", "1e+", "1.e", ".e1", "0x10", "1_0", "nan", "inf", "1e-05", "1E5"])
@example(["0.00012345678901234567890", "18446744073709551615", "18446744073709551616", "999999999999999999999999"])
@example(["4051692092760321.5", "904339736107840873.", "9.223372036854775807e+18", "2.2250738585072011e-308"])
def test_a_number_is_what_python_reads_and_anything_else_is_none(tokens):
    text, starts, ends = tokens_in(tokens)
    values = read_decimals(text, starts, ends)
    for token, value in zip(tokens, values.tolist(), strict=True):
        if not np.isnan(value):
            assert DECIMAL.fullmatch(token)
            assert repr(value) == repr(float(token))
    short = [bool(PLAIN.fullmatch(token)) and len(token.lstrip("+-")) <= 24 for token in tokens]
    assert are_plain(text, starts, ends).tolist() == short


@pytest.mark.parametrize("form", ["%.6f", "%.5g", "%.9g", "%.16g", "%.17g", "%.18e", "%.8e", "%d"])
def test_what_files_hold_is_hardly_ever_left_to_python(form):
    numbers = np.random.default_rng(0).normal(size=5000) * 100
    tokens = [form % number for number in numbers.tolist()]
    values = read_decimals(*tokens_in(tokens))
    left = np.isnan(values)
    assert left.mean() < 0.01
    assert values[~left].tolist() == [float(token) for token, out in zip(tokens, left, strict=True) if not out]
