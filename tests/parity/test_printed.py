"""A number as it was printed, with the decimals it has."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.parity import check_value
from rankadapters.statistics.printed import as_printed
from tests.tables import for_each


def short(value):
    return f"{value!r:.20}"


DECLARED = ra.presets.ranklib(3).replace(ties="input")


@pytest.fixture
def data():
    return [2, 0, 1, 0, 0, 3, 1], [0.3, 0.5, 0.5, 0.1, 0.2, 0.9, 0.4], {"group_sizes": [3, 4]}


@pytest.mark.parametrize(("text", "decimals"), [("0.6791", 4), (" 0.5\n", 1), ("1", 0), ("6.791E-01", 4), ("67e1", 0)])
def test_decimals_are_those_printed(text, decimals):
    assert as_printed(text).decimals == decimals


@pytest.mark.parametrize(("shift", "ok"), [(0, True), (9e-7, False), (-1.1e-6, False)])
def test_a_printed_number_is_trusted_to_its_decimals(data, shift, ok):
    labels, scores, columns = data
    value = ra.evaluate(labels, scores, DECLARED, **columns).value
    report = check_value(labels, scores, DECLARED, value=f"{value + shift:.6f}", source="log", version="2", **columns)
    assert report.ok is ok
    assert report.rows[0].tolerance == 5e-7
    assert (report.rows[0].source, report.rows[0].version) == ("log", "2")


@for_each(
    "value",
    [
        "0.5.1", "", "high", None, [0.5], True, np.True_, b"0.5", "0.5_0", "\u0660.\u0665", "½", "nan", "inf", 1j,
        10**400, np.array("0.5"), np.array([0.5]), np.datetime64(1, "D"), Decimal("NaN"),
    ],
    ids=short,
)  # fmt: skip
def test_what_is_no_number_is_refused(data, value):
    labels, scores, columns = data
    with pytest.raises(ra.InputError, match=r"value=.*(is not a number|allowed are Scores and numbers)"):
        check_value(labels, scores, DECLARED, value=value, **columns)


@pytest.mark.parametrize("value", ["0.5", ".5", "5e-1", Decimal("0.5"), Fraction(1, 2), np.array(0.5)], ids=short)
def test_a_number_is_read_in_every_form_that_python_prints(data, value):
    labels, scores, columns = data
    assert check_value(labels, scores, DECLARED, value=value, **columns).rows[0].value == 0.5


@pytest.mark.parametrize("tolerance", [-1, "x", True, float("nan"), float("inf"), 1j, 10**400, [0.1]], ids=short)
def test_what_is_no_tolerance_is_refused(data, tolerance):
    labels, scores, columns = data
    with pytest.raises(ra.InputError, match=r"tolerance=.*; allowed are finite numbers from 0 on"):
        check_value(labels, scores, DECLARED, value=0.5, tolerance=tolerance, **columns)


ONE_OF_TWO = ([0, 1], [2, 1], ra.presets.yahoo(2))  # 1 / log2(3) = 0.63093


@pytest.mark.parametrize("given", ["0.64", "0.7", "0.62", "0.6310", "0.63094", "0.63092", "0.630929753571", "1"])
def test_ours_must_round_to_what_was_printed(given):
    agrees = given in {"0.630929753571", "1"}
    assert check_value(*ONE_OF_TWO, value=given, group_sizes=[2]).ok is agrees
    assert check_value(*ONE_OF_TWO, value=Decimal(given), group_sizes=[2]).ok is agrees
    assert as_printed(given).holds(1 / np.log2(3)) is agrees


@pytest.mark.parametrize(("given", "ok"), [("0.12", True), ("0.13", True), ("0.11", False), ("0.14", False)])
def test_a_value_exactly_between_two_printed_numbers_rounds_to_both(given, ok):
    eighth = ra.presets.trec_eval_9.recip_rank()
    columns = {"group_sizes": [8], "docid": list("abcdefgh")}
    report = check_value([0, 0, 0, 0, 0, 0, 0, 1], -np.arange(8.0), eighth, value=given, **columns)
    assert report.rows[0].our_value == 0.125
    assert report.ok is ok


def test_a_float32_is_trusted_to_its_own_step():
    value = 1 / np.log2(3)
    assert check_value(*ONE_OF_TWO, value=np.float32(value), group_sizes=[2]).ok
    assert not check_value(*ONE_OF_TWO, value=np.float32(value + 1e-6), group_sizes=[2]).ok


def test_more_than_twelve_decimals_are_compared_as_twelve():
    digits = f"{1 / np.log2(3):.16f}"
    assert check_value(*ONE_OF_TWO, value=digits + "999", group_sizes=[2]).ok
    assert not check_value(*ONE_OF_TWO, value=digits[:11] + "9" + digits[12:], group_sizes=[2]).ok


def test_the_cause_of_a_printed_number_rounds_to_it_too():
    labels, scores = [1, 0, 2], [1, 2, 3]
    linear = ra.presets.yahoo(3).replace(gain="linear")
    found = ra.evaluate(labels, scores, linear, group_sizes=[3]).value
    report = check_value(labels, scores, ra.presets.yahoo(3), value=f"{found:.4f}", group_sizes=[3])
    assert "gain='linear' in place of" in report.rows[0].reason
    off = check_value(labels, scores, ra.presets.yahoo(3), value=f"{found + 1e-4:.4f}", group_sizes=[3])
    assert "gain='linear'" not in off.rows[0].reason


def test_a_stated_tolerance_counts(data):
    labels, scores, columns = data
    value = ra.evaluate(labels, scores, DECLARED, **columns).value
    assert check_value(labels, scores, DECLARED, value=value + 0.01, tolerance=0.02, **columns).ok
