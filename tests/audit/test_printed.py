"""A printed number has decimals, and values match it if they round to it."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.audit.numbers import read_number as read
from rankadapters.audit.numbers import read_numbers
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.statistics.printed import as_printed

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
    ("+.5", None, "0.5"),
    ("1.6E-1", None, "0.16"),
    (1, 1, "1.0"),
]


def test_a_number_has_the_decimals_with_which_it_is_written():
    for value, decimals, text in WRITTEN:
        assert str(read(value, decimals)) == text


REFUSED = [  # value, decimals, whether all values are in [0, 1], and a part of the message
    ("0.1_6", None, True, "value='0.1_6' is not a number"),
    ("\u0660.\u0665", None, True, "is not a number"),
    ("nan", None, True, "is not a number"),
    ("", None, True, "is not a number"),
    (True, 1, True, "value=True is not a number"),
    (None, None, True, "value=None is not a number"),
    ("1e9999999999999999999", None, False, "has over 1100 digits"),
    (10**4301, 1, False, "has over 1100 digits"),
    ("1e-1101", None, True, "has over 1100 digits"),
    ("1e1101", 1, False, "has over 1100 digits"),
    ("62", None, True, "value=62 is outside [0, 1]"),
    (-1, 1, True, "value=-1 is outside [0, 1]"),
    (2, 1, True, "value=2 is outside [0, 1]"),
    ("62", None, False, "decimals=0: allowed are 1 to 17, for value=62"),
    (f"0.{'1' * 18}", None, True, "decimals=18: allowed are 1 to 17"),
    (0.5, 18, True, "decimals=18: allowed are 1 to 17"),
    (0.5, 1.5, True, "decimals=1.5: allowed are 1 to 17"),
    (0.25, 1, True, "value=0.25 has 2 decimals, but decimals=1"),
    ("0.25", 1, True, "value=0.25 has 2 decimals, but decimals=1"),
    ("0.25", 3, True, "value=0.25 has 2 decimals, but decimals=3"),
]


@pytest.mark.parametrize(("value", "decimals", "bounded", "message"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_what_is_no_printed_number_is_refused(value, decimals, bounded, message):
    with pytest.raises(InputError) as caught:
        read(value, decimals, bounded=bounded)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("measure", "labels", "judged", "bounded"),
    [
        (ra.DCG, [3, 0], None, False),
        (ra.NDCG, [3, 0], None, True),
        (ra.NDCG, [3, -1], None, False),
        (ra.NDCG, [3, 0], [True, False], False),  # an unjudged row may have any label
        (ra.AP, [1, 0], [True, False], True),
        (ra.AP, [1, -1], None, False),
        (ra.AP, [1, -1], [True, False], True),
    ],
)
def test_values_are_from_0_to_1_unless_the_measure_or_labels_allow_others(measure, labels, judged, bounded):
    columns = {"judged": judged, "group_sizes": [2]}
    [number] = read_numbers(labels, [2, 1], measure, value="0.5", k=2, decimals=None, columns=columns)
    assert number.bounded == bounded


def test_numbers_of_1100_digits_are_read():
    assert as_printed("1e1100").value == Decimal("1e1100")
    assert as_printed("1e-1100").decimals == 1100
    assert as_printed(100).decimals == 0


def test_values_are_compared_to_12_decimals_or_to_a_step_of_float32():
    assert as_printed("0.12345678901234567").half == Decimal("5e-13")
    assert as_printed("0.12345678901").half == Decimal("5e-12")
    assert as_printed(np.float32(0.5)).half == Decimal("0.05")
    assert float(as_printed(np.float32(0.123456789)).half) == np.spacing(np.float32(0.123456789))


SCORES = {"a": [2.0, 1.0], "b": [1.0, 2.0]}
REFUSED_NUMBERS = [  # scores, value, k, measure, and a part of the message
    (SCORES, "0.5", 1, "ndcg", "scores has 2 models, but value='0.5' does not name the model of each number"),
    (SCORES, {"a": "0.5", "c": "0.5"}, 1, "ndcg", "value has a number for the model 'c'"),
    (SCORES, {}, 1, "ndcg", "value has no number"),
    (SCORES["a"], {}, 1, "ndcg", "value has no number"),
    (SCORES["a"], {1: "0.5", "unknown": "0.5"}, None, "ndcg", "the cutoff of ndcg is unknown, but other cutoffs are"),
    (SCORES, {"a": {"unknown": "0.5"}, "b": {2: "0.5"}}, None, "ndcg", "the cutoff of a ndcg is unknown"),
    (SCORES["a"], "0.5", 5, "auc", "k=5, but AUC has no cutoff"),
]


@pytest.mark.parametrize(("scores", "value", "k", "measure", "message"), REFUSED_NUMBERS)
def test_numbers_of_models_and_cutoffs_that_do_not_fit_are_refused(scores, value, k, measure, message):
    with pytest.raises((InputError, ConventionError)) as caught:
        ra.audit.identify([1, 0], scores, value=value, k=k, measure=measure, group_sizes=[2])
    assert message in str(caught.value)


OF_LABELS = [  # labels, which of them are judged, measure, and whether values above 1 are possible
    ([1, 0, 2], None, "ndcg", False),
    ([1, -1, 2], None, "ndcg", True),
    ([1, -1, 2], None, "recall", True),
    ([1, 0, 2], [True, False, True], "ndcg", True),  # the unjudged row may have a grade
    ([1, 0, 2], [True, False, True], "recall", False),
    ([1, -1, 2], [True, False, True], "recall", False),  # the label of an unjudged row does not count
    ([1, 0, 2], None, "dcg", True),
]


@pytest.mark.long
@pytest.mark.parametrize(("labels", "judged", "measure", "possible"), OF_LABELS)
def test_a_number_above_1_is_refused_unless_the_labels_make_it_possible(labels, judged, measure, possible):
    options = {"value": 2, "decimals": 1, "k": 2, "measure": measure, "judged": judged, "group_sizes": [3]}
    if possible:
        ra.audit.identify(labels, [3, 2, 1], **options)
    else:
        with pytest.raises(InputError, match=r"value=2 is outside \[0, 1\]"):
            ra.audit.identify(labels, [3, 2, 1], **options)


@pytest.mark.parametrize("text", ["0.3", "1.0", "123.4", "-0.7", "0.12345678901234", "1e-17", "1234567.8"])
def test_arrays_are_compared_exactly_like_single_values(text):
    printed = read(text, None, bounded=False)
    steps = np.arange(-40, 41).reshape(9, 9)
    for sign in (-1, 1):
        edge = float(printed.value + sign * printed.half)
        values = edge + steps * np.spacing(edge)
        assert printed.hold(values).tolist() == [[printed.holds(v) for v in row] for row in values.tolist()]
    assert not printed.hold([np.nan, np.inf, -np.inf]).any()
