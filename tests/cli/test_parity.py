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
from rankadapters.parity import trainers
from tests.helpers.command import Terminal, error_of, output_of, run
from tests.helpers.stand_in_toolkit import stand_in_trainer
from tests.helpers.tables import for_each
from tests.helpers.toolkit_names import TOOLKITS

ROW_KEYS = [
    "model", "toolkit", "version", "native_metric", "native_value", "native_convention", "our_value", "difference",
    "declared", "note",
]  # fmt: skip


def stand_in(name, shift=0.0, noise=None):
    """Return a toolkit that is always installed and prints our value plus a shift."""

    def train(task, words):
        if noise:
            noise()
        return task.test.X[:, 0] + task.seed

    model = f"{name.capitalize()}StandInRanker"
    return stand_in_trainer(name, train=train, shift=shift, model=model, convention=getattr(presets, name))


@pytest.fixture
def installed(monkeypatch):
    """Replace the toolkits by stand-ins, so that the command can be tested without any."""

    def install(*names, **options):
        for name in TOOLKITS:
            monkeypatch.setitem(trainers.TOOLKITS, name, stand_in(name, **options))
            if name not in names:
                missing = stand_in_trainer(name, package=f"missing_{name}", model=f"{name}Ranker")
                monkeypatch.setitem(trainers.TOOLKITS, name, missing)

    return install


def test_json_has_the_documented_shape(capsys, installed):
    installed(*TOOLKITS)
    report = json.loads(output_of(capsys, "parity", "--format", "json", "--convention", "letor4@10", "textbook@5"))
    assert list(report) == ["ok", "conventions", "rows"]
    assert report["conventions"] == [str(presets.letor4(10)), str(presets.textbook(5))]
    assert report["ok"] is True
    assert [row["toolkit"] for row in report["rows"]] == list(TOOLKITS)
    for row in report["rows"]:
        assert list(row) == ROW_KEYS
        assert list(row["declared"]) == report["conventions"]
        assert row["difference"] == row["native_value"] - row["our_value"] == 0


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
    assert list(rows[0]) == [*(key for key in ROW_KEYS if key != "declared"), str(presets.letor4(10))]
    assert [row["toolkit"] for row in rows] == list(TOOLKITS)
    assert float(rows[0]["native_value"]) == float(rows[0]["our_value"])
    assert rows[3]["native_value"] == rows[3][str(presets.letor4(10))] == ""


def test_the_table_fits_80_columns_and_signatures_are_printed_below_it(capsys, installed, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "80")
    installed("lightgbm", "xgboost", "sklearn")
    conventions = ("letor4@10", "textbook@10", "yahoo@10", "sklearn@10")
    out = output_of(capsys, "parity", "--convention", *conventions)
    table, _, legend = out.partition("\n\n")
    assert max(map(len, table.splitlines())) <= 80
    assert all(head in table for head in ("letor4", "textbook", "yahoo", f"sklearn {np.__version__}"))
    assert f"\n{presets.letor4(10).name}: {presets.letor4(10)}\n" in f"\n{legend}"
    assert f"lightgbm: LightgbmStandInRanker, its ndcg is {presets.lightgbm(10)}\n" in legend
    assert "sklearn: SklearnStandInRanker, its ndcg is ndcg@10/sklearn\n" in legend
    assert "catboost: missing_catboost is not installed" in legend
    assert out.endswith("parity holds: 3 models compared, largest difference 0.0e+00\n")


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
        assert "parity fails: 1 models compared, largest difference 1.0e-06" in out


def test_a_missing_toolkit_is_a_row_of_nulls(capsys, installed):
    installed("sklearn")
    report = json.loads(output_of(capsys, "parity", "--format", "json", "--toolkits", "catboost", "sklearn"))
    assert [row["toolkit"] for row in report["rows"]] == ["catboost", "sklearn"]
    missing = report["rows"][0]
    assert missing["native_value"] is missing["our_value"] is missing["difference"] is missing["version"] is None
    assert set(missing["declared"].values()) == {None}
    assert "not installed" in missing["note"]


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
    assert out.startswith("model,")
    assert run("parity", "--format", "csv") == 0
    assert capsys.readouterr().err == ""


def test_a_seed_decides_the_generated_data(capsys, installed):
    installed("sklearn")
    reports = [output_of(capsys, "parity", "--format", "json", "--seed", seed) for seed in ("1", "1", "2")]
    assert reports[0] == reports[1] != reports[2]
