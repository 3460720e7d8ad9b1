from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import pytest

from rankadapters import cli, presets


def run(capsys, *arguments):
    try:
        code = cli.main(["conventions", *arguments])
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_every_preset_is_printed_with_every_field(capsys):
    code, out, err = run(capsys, "--format", "json", "--k", "5")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert list(found["presets"]) == list(presets.names())
    for name, fields in found["presets"].items():
        parts = str(getattr(presets, name)(5)).split("/")[1:-1]
        assert [f"{field}={text}" for field, text in fields.items()] == parts
    assert found["diff"] is None
    assert not any(found["differs"].values())


@pytest.mark.parametrize("other", ["yahoo", "yahoo@10", str(presets.yahoo(10))])
def test_what_differs_is_named(capsys, other):
    _, out, _ = run(capsys, "letor4", "yahoo", "--diff", other, "--format", "json")
    found = json.loads(out)
    assert found["diff"] == str(presets.yahoo(10))
    assert found["differs"] == {"letor4": ["gain", "discount", "short", "empty"], "yahoo": []}


def test_csv_marks_what_differs(capsys):
    _, out, _ = run(capsys, "letor4", "--diff", "yahoo", "--format", "csv")
    head, row = csv.reader(io.StringIO(out))
    marked = [name for name, cell in zip(head, row, strict=True) if cell.endswith("*")]
    assert marked == ["gain", "discount", "short", "empty"]


def test_the_table_is_never_cut(capsys, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "40")
    code, out, _ = run(capsys, "--diff", "lightgbm")
    assert code == 0
    for name in presets.names():
        [line] = [line for line in out.splitlines() if line.startswith(f"{name} ")]
        for part in str(getattr(presets, name)(10)).split("/")[1:-1]:
            assert part.partition("=")[2] in line
    assert f"* differs from ndcg@10/lightgbm: {presets.lightgbm(10)}" in out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["letor5", "--format", "csv"], "argument PRESET: 'letor5' is neither a preset@k such as"),
        (["--diff", "letor5", "--format", "csv"], "argument --diff: 'letor5' is neither"),
        (["--diff", "ndcg@10/v1", "--format", "csv"], "argument --diff: NDCG needs every field"),
        (["--k", "0"], "'0' is not a cutoff; allowed are whole numbers from 1 on"),
        (["--format", "yaml"], "invalid choice: 'yaml'"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, problem):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert problem in err


def test_json_needs_no_rich():
    code = "import sys; sys.modules['rich'] = None; from rankadapters.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "conventions"]
    assert subprocess.run([*command, "--format", "csv"], check=False, capture_output=True).returncode == 0
    refused = subprocess.run(command, check=False, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "rankadapters[cli]" in refused.stderr


def test_any_text_of_a_convention_is_printed_at_its_own_cutoff(capsys):
    code, out, _ = run(capsys, "lightgbm.map@5", "letor4", "--k", "all", "--diff", "yahoo", "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert found["presets"]["lightgbm.map@5"]["measure"] == "ap"  # unlike the other, which is an NDCG
    assert "measure" in found["differs"]["lightgbm.map@5"]
    assert "measure" not in found["presets"]["letor4"]
    assert found["presets"]["letor4"]["short"] == "pad"  # without a cutoff
    assert found["diff"] == str(presets.yahoo(None))
