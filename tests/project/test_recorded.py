"""Values, tallies, call signatures, meanings of texts and reports equal the recorded ones, to the last bit.

Only `python -m tests.recorded` compares digests of gradients: the last bit of their sums may depend on the machine.
"""

from __future__ import annotations

import json

import pytest

from tests import recorded, recorded_reports
from tests.helpers.parameters import long_except

RECORDED = json.loads(recorded.FILE.read_text(encoding="utf-8"))
SHORT = (  # one report of each kind
    "profile of graded labels and scores at 3", "order of 2 models under textbook@3, xgboost@5, letor4@1",
    "identify 0.91", "probe rounded", "explain sklearn@5 and lightgbm@5, 4", "winning numbers by measure",
    "front against iwn, strict False", "leave one out over dataset", "3 segments", "a number of letor4",
)  # fmt: skip


@pytest.mark.parametrize("part", long_except(["values", "calls", "texts"], "calls", "texts"))
def test_values_calls_and_texts_equal_the_recorded_ones(part):
    current = recorded.PARTS[part]()
    assert {key: current.get(key) for key in RECORDED[part]} == RECORDED[part]


@pytest.mark.parametrize("name", long_except(RECORDED["reports"], *SHORT))
def test_a_report_equals_the_recorded_one(name):
    assert recorded_reports.recorded(recorded_reports.makers()[name]) == RECORDED["reports"][name]


def test_every_report_is_recorded():
    assert list(recorded_reports.makers()) == list(RECORDED["reports"])
