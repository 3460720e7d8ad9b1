"""Sessions of pytester with the checkout's plugin and no other."""

from __future__ import annotations

import os

import pytest

import rankadapters as ra
from rankadapters.parity import check_value, crosscheck
from tests.helpers.plugin_sessions import AUTOLOAD, DATA, LOADED, ROOT


@pytest.fixture(autouse=True, scope="module")
def everything_is_imported():
    """A session of pytester's forgets what it imported, and neither numba nor a toolkit can be imported twice."""
    crosscheck([1, 0, 1], [0.5, 0.5, 0.25], ra.presets.textbook(2), group_sizes=[2, 1])
    check_value([1, 0, 1], [0.5, 0.5, 0.25], ra.presets.textbook(2), value=0.123, group_sizes=[2, 1])


@pytest.fixture(autouse=True)
def no_other_plugin(monkeypatch):
    monkeypatch.setenv(AUTOLOAD, "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)  # sessions elsewhere test this checkout too


@pytest.fixture
def run(pytester):
    def run(body, *options):
        pytester.makepyfile(test_it=DATA + body)
        return pytester.runpytest_inprocess(*LOADED, *options)

    return run
