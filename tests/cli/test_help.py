"""`--help`, the list of fields, and shell completion."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from rankadapters import cli
from rankadapters.core.measures import MEASURES
from tests.helpers.python_processes import run_python

SUBCOMMANDS = list(cli.COMMANDS)


def help_of(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        cli.main([*arguments, "--help"])
    assert stop.value.code == 0
    return capsys.readouterr().out


def examples(text):
    _, _, after = text.partition("examples:\n")
    lines, _, _ = after.partition("\n\n")
    return [shlex.split(line) for line in lines.replace("\\\n", "").splitlines()]


@pytest.fixture(autouse=True)
def _width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_the_top_level_help_is_short_and_has_every_command_and_examples(capsys):
    text = help_of(capsys)
    assert text.count("\n") < 30
    assert all(re.search(rf"^    {name}\s+\w.*$", text, re.MULTILINE) for name in SUBCOMMANDS)
    assert len(examples(text)) >= 4


@pytest.mark.parametrize("command", ["", *SUBCOMMANDS])
def test_a_help_fits_80_columns_and_explains_the_exit_status(command, capsys):
    text = help_of(capsys, *filter(None, [command]))
    assert max(map(len, text.splitlines())) <= 80
    assert not command or re.search(r"\nexit status:\n  0.*2 (on bad input|where .*)\n$", text)


@pytest.mark.parametrize("command", ["", *SUBCOMMANDS])
def test_the_examples_of_a_help_are_valid_commands(command, capsys, monkeypatch):
    commands = examples(help_of(capsys, *filter(None, [command])))
    assert commands
    for name, subcommand, *arguments in commands:
        assert name == "rankadapters"
        assert not command or subcommand == command
        parsed = cli._parser().parse_args([subcommand, *arguments])
        assert callable(parsed.print_answer)


@pytest.mark.parametrize("measure", MEASURES)
def test_every_field_of_a_measure_is_listed_with_its_allowed_values(measure, capsys):
    assert cli.main(["conventions", "--measure", measure, "--fields", "--format", "json"]) == 0
    fields = json.loads(capsys.readouterr().out)
    assert list(fields) == list(MEASURES[measure].declared())
    assert all(field["about"] and field["allowed"] for field in fields.values())


def completions(line, tmp_path):
    pytest.importorskip("argcomplete")
    answer = tmp_path / "answer"
    environment = {
        "_ARGCOMPLETE": "1", "_ARGCOMPLETE_STDOUT_FILENAME": answer, "_ARGCOMPLETE_IFS": "\n",
        "COMP_LINE": line, "COMP_POINT": len(line),
    }  # fmt: skip
    run_python("-c", "import rankadapters.cli as cli; cli.main()", **environment)
    return answer.read_text(encoding="utf-8").split()


@pytest.mark.long
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rankadapters ev", ["evaluate"]),
        ("rankadapters parity --se", ["--seed"]),
        ("rankadapters evaluate --features - --per", ["--per-query"]),  # without reading standard input
    ],
)
def test_the_shell_completes_a_line(line, expected, tmp_path):
    assert completions(line, tmp_path) == expected
