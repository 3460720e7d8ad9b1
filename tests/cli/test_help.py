"""What `--help` says and the shell completes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import rankadapters as ra
from rankadapters import cli
from rankadapters.core.measures import MEASURES

ROOT = Path(__file__).parent.parent.parent
SUBCOMMANDS = list(cli.COMMANDS)


def shown(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        cli.main([*arguments, "--help"])
    assert stop.value.code == 0
    return capsys.readouterr().out


def examples(text):
    _, _, after = text.partition("examples:\n")
    found, _, _ = after.partition("\n\n")
    return [shlex.split(line) for line in found.replace("\\\n", "").splitlines()]


@pytest.fixture(autouse=True)
def _width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_the_first_help_is_one_screen_with_every_command_and_examples(capsys):
    text = shown(capsys)
    assert text.count("\n") < 24  # and a prompt
    assert all(re.search(rf"^  {name} +\w.*$", text, re.MULTILINE) for name in SUBCOMMANDS)
    assert len(examples(text)) >= 4


@pytest.mark.parametrize("command", ["", *SUBCOMMANDS])
def test_a_help_fits_80_columns_and_says_what_the_exit_status_means(command, capsys):
    text = shown(capsys, *filter(None, [command]))
    assert max(map(len, text.splitlines())) <= 80
    assert not command or re.search(r"\nexit status:\n  0.*2 (on bad input|where .*)\n$", text)


@pytest.mark.parametrize("command", ["", *SUBCOMMANDS])
def test_the_examples_of_a_help_are_commands(command, capsys, monkeypatch):
    found = examples(shown(capsys, *filter(None, [command])))
    assert found
    for name, subcommand, *arguments in found:
        assert name == "rankadapters"
        assert not command or subcommand == command
        parsed = cli._parser().parse_args([subcommand, *arguments])
        for text in getattr(parsed, "convention", []):
            ra.parse(text)


@pytest.mark.parametrize("measure", MEASURES)
def test_every_field_of_a_measure_is_listed_with_what_it_may_be(measure, capsys):
    assert cli.main(["conventions", "--measure", measure, "--fields", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == list(MEASURES[measure].declared())
    assert all(field["about"] and field["allowed"] for field in found.values())


def test_fields_are_a_table_and_csv_too(capsys):
    pytest.importorskip("rich")
    assert cli.main(["conventions", "--measure", "ap", "--fields"]) == 0
    table = capsys.readouterr().out
    assert cli.main(["conventions", "--measure", "ap", "--fields", "--format", "csv"]) == 0
    head, *rows = csv.reader(io.StringIO(capsys.readouterr().out))
    assert head == ["field", "may be", "meaning"]
    assert ["divisor", "cutoff", "min(k, R)"] in rows
    assert table.count("\n") == len(rows) + 3
    assert re.search(r"^divisor +cutoff +min\(k, R\) *$", table, re.MULTILINE)


@pytest.mark.parametrize(("more", "named"), [(["letor4"], "letor4"), (["--diff", "yahoo"], "--diff yahoo")])
def test_fields_of_a_preset_are_refused(more, named, capsys):
    assert cli.main(["conventions", "--fields", "--format", "csv", *more]) == 2
    expected = f"--fields prints the fields of a measure, not of {named}. Hint: --fields --measure ndcg."
    assert capsys.readouterr().err == f"rankadapters: error: {expected}\n"


def completed(line, tmp_path):
    pytest.importorskip("argcomplete")
    answer = tmp_path / "answer"
    environment = {
        "_ARGCOMPLETE": "1", "_ARGCOMPLETE_STDOUT_FILENAME": str(answer), "_ARGCOMPLETE_IFS": "\n",
        "COMP_LINE": line, "COMP_POINT": str(len(line)),
    }  # fmt: skip
    subprocess.run(
        [sys.executable, "-c", "import rankadapters.cli as cli; cli.main()"],
        env={**os.environ, **environment}, cwd=ROOT, check=False, timeout=60,
    )  # fmt: skip
    return answer.read_text(encoding="utf-8").split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rankadapters ev", ["evaluate"]),
        ("rankadapters parity --se", ["--seed"]),
        ("rankadapters evaluate --convention letor4", ["letor4@10", "letor4.map@all", "letor4.p@10"]),
        ("rankadapters conventions sklearn.roc", ["sklearn.roc_auc_score"]),
    ],
)
def test_the_shell_completes(line, expected, tmp_path):
    assert completed(line, tmp_path) == expected
