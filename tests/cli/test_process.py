"""The command `rankadapters` itself: version, help, unknown commands, processes of its own."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rankadapters as ra
from rankadapters import cli
from rankadapters.cli import parity as parity_command
from rankadapters.parity import trainers
from tests.helpers.toolkit_names import NAMES

ROOT = Path(__file__).parent.parent.parent  # where the package is found, installed or not


def run_module(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "rankadapters", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


def test_no_command_or_an_unknown_one_is_refused(capsys):
    for arguments in ([], ["compare"]):
        with pytest.raises(SystemExit) as stop:
            cli.main(arguments)
        assert stop.value.code == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_version_and_help_are_printed(capsys):
    for arguments, expected in ((["--version"], f"rankadapters {ra.__version__}\n"), (["parity", "--help"], "letor4")):
        with pytest.raises(SystemExit) as stop:
            cli.main(arguments)
        assert stop.value.code == 0
        assert expected in capsys.readouterr().out


def test_the_command_knows_the_toolkits_that_crosscheck_asks():
    assert tuple(trainers.TOOLKITS) == parity_command.TOOLKITS


def test_python_m_is_the_same_command_with_the_same_exit_codes():
    done = run_module("--version")
    assert (done.returncode, done.stdout) == (0, f"rankadapters {ra.__version__}\n")
    done = run_module("parity", "--k", "0")
    assert (done.returncode, done.stdout) == (2, "")
    said = (
        "argument --k: '0' is not a whole number from 1 to 2147483647. Hint: `rankadapters parity --help` has examples."
    )
    assert done.stderr == f"rankadapters: error: {said}\n"


def test_bad_arguments_import_nothing_heavy():
    code = (
        "import sys, rankadapters.cli as cli\n"
        "assert cli.main(['parity', '--convention', 'foo']) == 2\n"
        "assert cli.main(['evaluate', '--convention', 'yahoo@5', '--table', 'x', '--qrels', 'y']) == 2\n"
        "assert cli.main(['explain', '--a', 'yahoo@3', '--b', 'yahoo@3', '--format', 'json']) == 2\n"
        "heavy = {'numba', 'sklearn', 'lightgbm', 'xgboost', 'catboost', 'scipy', 'matplotlib', 'jinja2', 'pyarrow'}\n"
        "print(sorted({*heavy, 'rich.table'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"


def test_all_toolkits_agree_on_the_generated_data_in_a_process_of_its_own():
    for package in NAMES:
        pytest.importorskip(package)
    done = run_module("parity", "--format", "json", PYTHONWARNINGS="error")
    assert done.stderr == ""
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["ok"] is True
    assert [row["toolkit"] for row in found["rows"]] == list(NAMES)
    assert all(abs(row["difference"]) <= 1e-9 for row in found["rows"])
    values = [value for row in found["rows"] for value in row["declared"].values()]
    assert len(values) == 16
    assert all(0 < value < 1 for value in values)


def test_an_error_of_the_system_is_told_as_it_is(capsys, monkeypatch):
    def fail(*_):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "rows.txt")

    monkeypatch.setattr("rankadapters.cli.conventions._run", fail)
    assert cli.main(["conventions"]) == 2
    line = capsys.readouterr().err
    assert line.startswith("rankadapters: error: [Errno 24] Too many open files: 'rows.txt'. Hint: check that the ")
    assert line.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["conventions"],
        ["conventions", "--fields"],
        ["evaluate", "--convention", "yahoo@3", "letor4@3", "--per-query"],
        ["explain", "--a", "yahoo@3", "--b", "letor4@3"],
        ["identify", "0.8155", "--k", "3"],
        ["order", "--convention", "yahoo@3", "--resamples", "9"],
        ["profile", "--k", "3"],
        ["parity", "--toolkits", "sklearn"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_every_command_prints_every_format(capsys, tmp_path, arguments):
    pytest.importorskip("rich")
    pytest.importorskip("sklearn")
    (tmp_path / "features").write_text("1 qid:1 1:0.5 2:1\n0 qid:1 1:0.25 2:2\n0 qid:2 1:0.5 2:3\n2 qid:2 1:0.25 2:4\n")
    files = [] if arguments[0] in {"conventions", "parity"} else ["--features", str(tmp_path / "features")]
    score = [] if not files else ["--feature", "1", *(["2"] if arguments[0] == "order" else [])]
    for form in ("table", "markdown", "latex", "json", "csv", "html"):
        assert cli.main([*arguments, *files, *score, "--format", form]) in {0, 1}
        out = capsys.readouterr().out
        assert out.endswith("</html>\n") is (form == "html"), form
        assert ("| ---" in out) is (form == "markdown"), form
        assert ("\\begin{" in out) is (form == "latex"), form
        if form == "json":
            json.loads(out)
        if form == "csv":
            lines = list(csv.reader(io.StringIO(out)))
            assert len(lines) > 1
            assert len({len(line) for line in lines}) == 1
