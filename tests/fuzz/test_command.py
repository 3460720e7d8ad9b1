"""The command that fuzzes by hand."""

from __future__ import annotations

import sys

import pytest

from tests.fuzz import __main__ as command
from tests.fuzz import targets as all_targets


def run(monkeypatch, *options):
    monkeypatch.setattr(sys, "argv", ["fuzz", "--plain", *options])
    return command.main()


def test_examples_are_shared_among_targets(monkeypatch, capsys):
    assert run(monkeypatch, "--examples", "27", "--target", "letor_stream", "qrels", "parquet_with_other_bytes") == 0
    rows = [line.split("|")[1:3] for line in capsys.readouterr().out.splitlines()[4:]]
    assert [int(n) for _, n in rows][-1] == sum(int(n) for _, n in rows[:-1])
    assert [name.strip() for name, _ in rows] == ["letor_stream", "qrels", "parquet_with_other_bytes", "all"]


def test_a_finding_is_counted_and_shown(monkeypatch, capsys):
    from hypothesis import given, settings
    from hypothesis import strategies as st

    @settings(max_examples=5, database=None)
    @given(st.integers())
    def broken(number):
        msg = "this is the finding"
        raise ZeroDivisionError(msg)

    monkeypatch.setattr(command, "targets", lambda: {"broken": broken})
    assert run(monkeypatch, "--examples", "5") == 1
    told = capsys.readouterr()
    assert "| broken | 5 |" in told.out
    assert told.out.splitlines()[-1].endswith("| 1 |")
    assert "ZeroDivisionError: this is the finding" in told.err


@pytest.mark.parametrize("name", ["letor", "csv", "texts_of_conventions", "callbacks_of_lightgbm", "measures_in_numpy"])
def test_every_kind_of_target_is_found(name):
    pytest.importorskip("lightgbm")
    pytest.importorskip("pyarrow")
    assert callable(all_targets.targets()[name].hypothesis.fuzz_one_input)
