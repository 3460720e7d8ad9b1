"""Pytester sessions that load the plugin of this checkout and no other plugin."""

from __future__ import annotations

import os

import pytest

import rankadapters as ra
from rankadapters.parity import check_value, crosscheck
from tests.helpers.checkout import CHECKOUT
from tests.helpers.python_processes import NO_AUTOLOAD, PLUGIN_OPTIONS, PREAMBLE


@pytest.fixture(autouse=True, scope="module")
def import_everything_first():
    """Import numba and the toolkits here: pytester unloads what its sessions import, and they cannot be re-imported."""
    crosscheck([1, 0, 1], [0.5, 0.5, 0.25], ra.presets.textbook(2), group_sizes=[2, 1])
    check_value([1, 0, 1], [0.5, 0.5, 0.25], ra.presets.textbook(2), value=0.123, group_sizes=[2, 1])


@pytest.fixture(autouse=True)
def load_no_other_plugin(monkeypatch):
    monkeypatch.setenv(NO_AUTOLOAD, "1")
    monkeypatch.setenv("PYTHONPATH", str(CHECKOUT), prepend=os.pathsep)  # so that every session imports this checkout


@pytest.fixture
def run(pytester):
    def run(body, *options):
        name = f"test_{len(list(pytester.path.glob('test_*.py')))}"  # no session finds compiled files of another
        path = pytester.makepyfile(**{name: PREAMBLE + body})
        return pytester.runpytest_inprocess(*PLUGIN_OPTIONS, *options, path)

    return run
