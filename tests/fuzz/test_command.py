"""The command that fuzzes by hand."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import __main__ as command


def target(name, examples):
    """A test as pytest collects it."""

    @settings(max_examples=examples, database=None)
    @given(st.integers())
    def test(number):
        seen.append(name)

    seen = []
    return SimpleNamespace(name=f"test_{name}", obj=test, seen=seen)


def test_examples_are_shared_among_the_targets_that_are_named(monkeypatch):
    items = [target("csv", 30), target("csv_stream", 70), target("run", 10)]
    items.append(SimpleNamespace(name="test_csv", obj=print))  # which is no target

    def collect(arguments, plugins):
        plugins[0].pytest_collection_modifyitems(items)
        return 7

    monkeypatch.setattr(pytest, "main", collect)
    monkeypatch.setattr(sys, "argv", ["fuzz", "--plain", "--examples", "20", "--target", "csv", "csv_stream"])
    assert command.main() == 7
    for item in items:
        item.obj()
    assert [(item.name, len(item.seen)) for item in items] == [("test_csv", 6), ("test_csv_stream", 14)]


def test_a_guided_search_that_finds_something_fails(monkeypatch):
    items = [target("csv", 30), target("run", 10)]
    command.Budget(40, [], guided=True).pytest_collection_modifyitems(items)
    done = SimpleNamespace(returncode=77, stdout="ZeroDivisionError: the finding", stderr="")
    monkeypatch.setattr(command.subprocess, "run", lambda line, **options: ran.append(line[2:]) or done)
    ran = []
    with pytest.raises(AssertionError, match="the finding"):
        items[1].obj()
    assert ran == [["tests.fuzz.guided", __name__, "test_run", "10"]]
