"""The command `rankadapters` as a whole: version, help, unknown commands, formats and new processes."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import sys

import pytest

import rankadapters as ra
from rankadapters import cli
from rankadapters.cli.parity import TOOLKITS
from rankadapters.parity import installed
from tests.helpers.python_processes import needs_posix, run_python, start_python


def test_python_m_runs_the_command_and_returns_its_exit_code():
    assert tuple(installed.TOOLKITS) == TOOLKITS
    assert run_python("-m", "rankadapters", "--version").stdout == f"rankadapters {ra.__version__}\n"
    process = run_python("-m", "rankadapters", "parity", "--k", "0", code=2)
    assert process.stdout == ""
    assert process.stderr.startswith("rankadapters: error: argument --k: '0' is not a whole number from 1")


def test_bad_arguments_are_refused_without_heavy_imports():
    code = (
        "import sys, rankadapters.cli as cli\n"
        "try:\n    cli.main(['parity', '--convention', 'foo'])\n"
        "except SystemExit as stop:\n    assert stop.code == 2\n"
        "assert cli.main(['evaluate', '--convention', 'yahoo@5', '--table', 'x', '--qrels', 'y']) == 2\n"
        "assert cli.main(['explain', '--a', 'yahoo@3', '--b', 'yahoo@3', '--format', 'json']) == 2\n"
        "heavy = {'numba', 'sklearn', 'lightgbm', 'xgboost', 'catboost', 'scipy', 'matplotlib', 'pyarrow'}\n"
        "print(sorted({*heavy, 'rich.table'} & set(sys.modules)))"
    )
    assert run_python("-c", code).stdout == "[]\n"


@pytest.mark.long
def test_all_toolkits_agree_on_the_generated_data_in_a_new_process():
    for package in TOOLKITS:
        pytest.importorskip(package)
    process = run_python("-m", "rankadapters", "parity", "--format", "json", PYTHONWARNINGS="error")
    assert process.stderr == ""
    report = json.loads(process.stdout)
    assert report["ok"] is True
    assert [row["source"] for row in report["rows"]] == list(TOOLKITS)
    assert all(abs(row["difference"]) <= 1e-9 for row in report["rows"])
    values = [value for row in report["rows"] for value in row["declared"].values()]
    assert len(values) == 16
    assert all(0 < value < 1 for value in values)


def test_an_os_error_is_printed_unchanged(capsys, monkeypatch):
    pytest.importorskip("rich")

    def fail(*_):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "rows.txt")

    monkeypatch.setattr("rankadapters.cli.conventions.PresetFields", fail)
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
        pytest.param(["profile", "--k", "3"], marks=pytest.mark.long),
        pytest.param(["parity", "--toolkits", "sklearn"], marks=pytest.mark.long),
    ],
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


NAME = "\u00e9\u6a21"  # the second letter is in UTF-8 alone
ESCAPES = {"ascii": r"\xe9\u6a21", "latin-1": "\u00e9\\u6a21", "cp1252": "\u00e9\\u6a21", "utf-8": NAME}


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "json", "csv", "html"])
@pytest.mark.parametrize("encoding", ESCAPES)
def test_characters_that_the_encoding_of_stdout_lacks_are_escaped(capsys, monkeypatch, tmp_path, encoding, form):
    file = tmp_path / "table.csv"
    file.write_text(f"qid,label,{NAME},b\n1,1,0.5,0.1\n1,0,0.2,0.2\n", encoding="utf-8")
    arguments = ["evaluate", "--table", str(file), "--score", NAME, "b", "--convention", "textbook@2", "--format", form]
    stdout = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stdout)
    assert cli.main(arguments) == 0
    text = stdout.buffer.getvalue().decode("utf-8" if form == "html" else encoding)
    if form == "html":
        assert (NAME if encoding == "utf-8" else "&#233;&#27169;") in text
    else:
        assert (r"\u00e9\u6a21" if form == "json" else ESCAPES[encoding]) in text
    is_escaped = encoding != "utf-8" and form not in {"json", "html"}
    note = f"note: stdout is {encoding}, so that other characters are escaped; set PYTHONIOENCODING=utf-8.\n"
    assert capsys.readouterr().err == note * is_escaped


def test_the_line_below_the_head_of_a_table_needs_no_note(capsys, monkeypatch):
    pytest.importorskip("rich")
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", stdout)
    assert cli.main(["presets"]) == 0
    assert b"\n-----" in stdout.buffer.getvalue()
    assert capsys.readouterr().err == ""


@needs_posix
@pytest.mark.parametrize("arguments", [["presets"], pytest.param(["presets", "--help"], marks=pytest.mark.long)])
def test_a_reader_that_stops_early_is_no_error(arguments):
    with start_python("-m", "rankadapters", *arguments) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == ("", 0)
