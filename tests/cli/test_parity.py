"""`rankadapters parity` on generated data, with stand-ins for the toolkits."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys

import numpy as np
import pytest

from rankadapters import presets
from tests.helpers.command import Terminal, error_of, output_of, run
from tests.helpers.stand_in_toolkit import use_stand_in
from tests.helpers.tables import for_each
from tests.helpers.toolkit_names import TOOLKITS

ROW_KEYS = [
    "source", "version", "convention", "value", "our_value", "difference", "tolerance", "verdict", "reason",
    "per_query", "declared",
]  # fmt: skip


@pytest.fixture
def installed(monkeypatch):
    """Replace the toolkits by stand-ins, so that the command can be tested without any."""

    def install(*names, shift=0.0, noise=lambda: None):
        def train(task):
            noise()
            return task.test.X[:, 0] + task.seed

        for name in TOOLKITS:
            package = "numpy" if name in names else f"missing_{name}"
            use_stand_in(monkeypatch, name, train=train, shift=shift, package=package)

    return install


def test_json_has_the_documented_shape(capsys, installed):
    installed(*TOOLKITS)
    report = json.loads(output_of(capsys, "parity", "--format", "json", "--convention", "letor4@10", "textbook@5"))
    assert list(report) == ["ok", "unmet", "rows", "conventions"]
    assert report["ok"] is True
    assert [row["source"] for row in report["rows"]] == list(TOOLKITS)
    for row in report["rows"]:
        assert list(row) == ROW_KEYS
        assert list(row["declared"]) == [str(presets.letor4(10)), str(presets.textbook(5))]
        assert row["difference"] == row["value"] - row["our_value"] == 0


def test_the_default_conventions_are_those_of_the_installed_toolkits(capsys, installed):
    installed("xgboost", "sklearn")
    report = json.loads(output_of(capsys, "parity", "--format", "json", "--k", "3"))
    assert report["conventions"] == [str(presets.sklearn(3)), str(presets.xgboost(3))]


def test_conventions_may_be_signatures_and_the_option_may_be_repeated(capsys, installed):
    installed("sklearn")
    conventions = [presets.yahoo(None).replace(ties="worst"), presets.letor4(2)]
    specs = [argument for convention in conventions for argument in ("--convention", str(convention))]
    report = json.loads(output_of(capsys, "parity", "--format", "json", *specs))
    assert report["conventions"] == list(map(str, conventions))


def test_csv_has_a_row_per_model_and_a_column_per_convention(capsys, installed):
    installed("sklearn", "lightgbm", "xgboost")
    assert run("parity", "--format", "csv", "--convention", "letor4@10") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    head = "verdict", "source", "version", "its value", "our value", "difference", "tolerance"
    assert list(rows[0]) == [*head, str(presets.letor4(10)), "reason"]
    assert [row["source"] for row in rows] == list(TOOLKITS)
    assert float(rows[0]["its value"]) == float(rows[0]["our value"])
    assert rows[3]["its value"] == rows[3][str(presets.letor4(10))] == ""


def test_the_table_fits_80_columns_and_signatures_are_printed_below_it(capsys, installed, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "80")
    installed("lightgbm", "xgboost", "sklearn")
    conventions = ("letor4@10", "textbook@10", "yahoo@10", "sklearn@10")
    out = output_of(capsys, "parity", "--convention", *conventions)
    summary, table, legend = out.split("\n\n", 2)
    assert summary == "parity holds: 3 equal, 1 not-comparable"
    assert max(map(len, table.splitlines())) <= 80
    assert all(head in table for head in ("letor4", "textbook", "yahoo", f"sklearn {np.__version__}"))
    assert f"\n{presets.letor4(10).name}: {presets.letor4(10)}\n" in f"\n{legend}"
    assert f"2. {presets.lightgbm(10)}\nIts own metric is its ndcg.\n" in legend
    assert 'missing_catboost is not installed: pip install "rankadapters[catboost]"\n' in legend


def test_many_conventions_do_not_cut_the_numbers(capsys, installed, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "60")
    installed("sklearn")
    out = output_of(capsys, "parity", "--convention", *(f"letor4@{k}" for k in range(1, 13)))
    assert "…" not in out
    assert "letor4@" not in out
    row = next(line for line in out.splitlines() if line.startswith("sklearn "))
    assert len(row.split()) == 2 + 3 + 12


@pytest.mark.parametrize("form", ["json", "csv", "table"])
def test_a_difference_above_the_tolerance_exits_with_1(capsys, installed, form):
    if form == "table":
        pytest.importorskip("rich")
    installed("sklearn", shift=1e-6)
    out = output_of(capsys, "parity", "--format", form, code=1)
    assert out
    if form == "json":
        assert json.loads(out)["ok"] is False
    if form == "table":
        assert out.startswith("parity fails: 1 different, 3 not-comparable\n")
        assert " 1e-06" in out


def test_a_missing_toolkit_is_a_row_of_nulls(capsys, installed):
    installed("sklearn")
    report = json.loads(output_of(capsys, "parity", "--format", "json", "--toolkits", "catboost", "sklearn"))
    assert [row["source"] for row in report["rows"]] == ["catboost", "sklearn"]
    missing = report["rows"][0]
    assert missing["value"] is missing["our_value"] is missing["difference"] is None
    assert set(missing["declared"].values()) == {None}
    assert "not installed" in missing["reason"]


def test_without_any_chosen_toolkit_installed_the_command_exits_with_2(capsys, installed):
    installed("sklearn")
    line = error_of(capsys, "parity", "--format", "json", "--toolkits", "catboost", "xgboost")
    assert "no toolkit to ask" in line
    assert "missing_catboost is not installed" in line


def test_without_rich_every_format_is_printed(capsys, installed, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    installed("sklearn")
    for form in ("table", "json", "csv"):
        assert run("parity", "--format", form) == 0
        out, err = capsys.readouterr()
        assert out
        assert err == ""


@for_each(
    ("arguments", "match"),
    [
        (["--convention", "foo@10"], "argument --convention: 'foo@10' is neither a preset@k"),
        (["--convention", "letor4@0"], "argument --convention: '0' in 'letor4@0' is not a cutoff"),
        (["--convention", "ndcg@10/gain=exp2"], "argument --convention: .*truncated"),
        (["--k", "0"], "argument --k: '0' is not a whole number from 1"),
        (["--k", "-3"], "argument --k: "),
        (["--k", "2.5"], r"argument --k: '2\.5' is not a whole number"),
        (["--k", "4294967296"], "argument --k: '4294967296' is not a whole number from 1 to 2147483647"),
        (["--seed", "-1"], "argument --seed: "),
        (["--seed", "x"], "argument --seed: 'x' is not a whole number from 0"),
        (["--format", "xml"], "argument --format: invalid choice: 'xml'"),
        (["--toolkits", "ranklib"], "argument --toolkits: invalid choice: 'ranklib'"),
        (["--train", "somewhere.txt"], "--train was given without --test"),
        (["--test", "somewhere.txt"], "--test was given without --train"),
        (["--depth", "3"], "unrecognized arguments: --depth"),
        (["--tool", "sklearn"], "unrecognized arguments: --tool"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(capsys, installed, arguments, match):
    installed("sklearn")
    assert re.search(match, error_of(capsys, "parity", "--format", "csv", *arguments))


def test_output_of_the_toolkits_is_kept_off_stdout(capfd, installed):
    def noise():
        sys.stdout.write("noise from Python\n")
        os.write(1, b"noise from C\n")

    installed("sklearn", noise=noise)
    assert run("parity", "--format", "json") == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["ok"] is True
    assert "noise from Python" in err
    assert "noise from C" in err


def test_progress_is_printed_only_on_a_terminals_stderr(capsys, installed, monkeypatch):
    pytest.importorskip("rich")

    installed("sklearn", "catboost")
    terminal = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        patch.setenv("TERM", "xterm")
        assert run("parity", "--format", "csv") == 0
    assert "training" in terminal.getvalue()
    out, _ = capsys.readouterr()
    assert out.startswith("verdict,")
    assert run("parity", "--format", "csv") == 0
    assert capsys.readouterr().err == ""


def test_a_seed_decides_the_generated_data(capsys, installed):
    installed("sklearn")
    reports = [output_of(capsys, "parity", "--format", "json", "--seed", seed) for seed in ("1", "1", "2")]
    assert reports[0] == reports[1] != reports[2]
