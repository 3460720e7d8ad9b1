"""The command `python -m tests.fuzz` shares examples among targets and reports failures."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import __main__ as command


def target(name, examples):
    """Return a test as pytest collects it."""

    @settings(max_examples=examples, database=None)
    @given(st.integers())
    def test(number):
        runs.append(name)

    runs = []
    return SimpleNamespace(name=f"test_{name}", obj=test, runs=runs)


def test_the_examples_are_shared_among_the_named_targets(monkeypatch):
    items = [target("csv", 30), target("csv_stream", 70), target("run", 10)]
    items.append(SimpleNamespace(name="test_csv", obj=print))  # not a target, since hypothesis does not run it

    def collect(arguments, plugins):
        plugins[0].pytest_collection_modifyitems(items)
        return 7

    monkeypatch.setattr(pytest, "main", collect)
    monkeypatch.setattr(sys, "argv", ["fuzz", "--plain", "--examples", "20", "--target", "csv", "csv_stream"])
    assert command.main() == 7
    for item in items:
        item.obj()
    assert [(item.name, len(item.runs)) for item in items] == [("test_csv", 6), ("test_csv_stream", 14)]


def test_a_guided_search_with_a_failure_fails(monkeypatch):
    items = [target("csv", 30), target("run", 10)]
    command.Budget(40, [], guided=True).pytest_collection_modifyitems(items)
    failed_process = SimpleNamespace(returncode=77, stdout="ZeroDivisionError: the finding", stderr="")
    monkeypatch.setattr(command.subprocess, "run", lambda line, **options: commands.append(line[2:]) or failed_process)
    commands = []
    with pytest.raises(AssertionError, match="the finding"):
        items[1].obj()
    assert commands == [["tests.fuzz.guided", __name__, "test_run", "10"]]
