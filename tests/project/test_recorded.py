"""What was recorded before: values and tallies bit for bit, call signatures, and what every text means.

The digests of gradients are compared by `python -m tests.recorded`: a sum's last bit may depend on the machine there.
"""

from __future__ import annotations

import json

import pytest

from tests import recorded, recorded_reports

RECORDED = json.loads(recorded.FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("part", ["values", "calls", "texts"])
def test_nothing_that_was_recorded_has_changed(part):
    found = recorded.PARTS[part]()
    assert {key: found.get(key) for key in RECORDED[part]} == RECORDED[part]


@pytest.mark.parametrize("name", RECORDED["reports"])
def test_a_report_says_what_was_recorded(name):
    assert recorded_reports.recorded(recorded_reports.makers()[name]) == RECORDED["reports"][name]


def test_every_report_is_recorded():
    assert list(recorded_reports.makers()) == list(RECORDED["reports"])
