"""`rankadapters parity` on generated data, with stand-ins for the toolkits."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from rankadapters import presets
from rankadapters.cli.parity import TOOLKITS
from rankadapters.datasets import mq2008_like
from tests.helpers.command import Terminal, error_of, output_of, report_of, run
from tests.helpers.parameters import long_except
from tests.helpers.stand_in_toolkit import use_stand_in


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


def test_the_default_conventions_are_those_of_the_installed_toolkits(capsys, installed):
    installed("xgboost", "sklearn")
    report = report_of(capsys, "parity", "--k", "3")
    assert report["conventions"] == [str(presets.sklearn(3)), str(presets.xgboost(3))]


def test_conventions_may_be_signatures_and_the_option_may_be_repeated(capsys, installed):
    installed("sklearn")
    conventions = [presets.yahoo(None).replace(ties="worst"), presets.letor4(2)]
    specs = [argument for convention in conventions for argument in ("--convention", str(convention))]
    report = report_of(capsys, "parity", *specs)
    assert report["conventions"] == list(map(str, conventions))


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


@pytest.mark.parametrize("form", long_except(["json", "csv", "table"], "json"))
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


def test_without_any_chosen_toolkit_installed_the_command_exits_with_2(capsys, installed):
    installed("sklearn")
    line = error_of(capsys, "parity", "--format", "json", "--toolkits", "catboost", "xgboost")
    assert "no toolkit to ask" in line
    assert "missing_catboost is not installed" in line


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


# Files


@pytest.fixture
def files(tmp_path):
    """Paths of a small data set: two training files and one test file."""
    train, test = mq2008_like(random_state=2, n_train_queries=40, n_test_queries=20)
    first = train.qid <= 20
    parts = {"a": (train, first), "b": (train, ~first), "test": (test, np.ones(test.qid.size, bool))}
    for name, (data, rows) in parts.items():
        (tmp_path / f"{name}.txt").write_text(
            "".join(
                f"{label:g} qid:{qid} {' '.join(f'{j}:{v:g}' for j, v in enumerate(x, 1))}\n"
                for x, label, qid in zip(data.X[rows], data.labels[rows], data.qid[rows], strict=True)
            )
        )
    return {name: str(tmp_path / f"{name}.txt") for name in parts}


@pytest.mark.long
def test_several_training_files_are_joined(capsys, files, tmp_path):
    pytest.importorskip("sklearn")
    joined = tmp_path / "both.txt"
    joined.write_text("".join(Path(files[name]).read_text(encoding="utf-8") for name in "ab"))
    reports = []
    for train in ([files["a"], files["b"]], [str(joined)], [files["a"]]):
        arguments = ["--toolkits", "sklearn", "--train", *train, "--test", files["test"]]
        reports.append(report_of(capsys, "parity", *arguments))
    assert reports[0] == reports[1] != reports[2]


def test_a_training_file_may_be_standard_input(capsys, files, stdin):
    pytest.importorskip("sklearn")
    reports = []
    for train in (files["a"], "-"):
        stdin(Path(files["a"]).read_bytes())
        arguments = ["--toolkits", "sklearn", "--train", train, "--test", files["test"]]
        reports.append(report_of(capsys, "parity", *arguments))
    assert reports[0] == reports[1]
    stdin(Path(files["a"]).read_bytes())
    arguments = ["--toolkits", "sklearn", "--format", "json"]
    both = output_of(capsys, "parity", *arguments, "--train", "-", "--test", "-")
    assert both == output_of(capsys, "parity", *arguments, "--train", files["a"], "--test", files["a"])
