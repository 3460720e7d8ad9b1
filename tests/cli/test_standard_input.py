"""`rankadapters evaluate` reads one file from standard input, named `-`."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest

from tests.helpers.evaluate_files import LEFT_OUT, ROWS, error_of, output_of


@pytest.mark.parametrize("source", ["letor", "trec", "table"])
def test_one_file_may_be_standard_input(capsys, request, stdin, source):
    files = request.getfixturevalue(source)
    options = ("--convention", "textbook@5+missing=zero", "--format", "csv")
    note = f"{LEFT_OUT}\n" if source == "trec" else ""
    expected = output_of(capsys, *files, *options, note=note)
    for option in ("--features", "--predictions", "--qrels", "--run", "--table"):
        if option in files:
            index = files.index(option) + 1
            stdin(Path(files[index]).read_bytes())
            assert output_of(capsys, *files[:index], "-", *files[index + 1 :], *options, note=note) == expected


def test_standard_input_may_be_compressed_or_parquet(capsys, stdin, letor, table, tmp_path):
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    options = ("--convention", "textbook@5", "--format", "csv")
    expected = output_of(capsys, *letor, *options)
    stdin(gzip.compress(ROWS.encode()))
    assert output_of(capsys, "--features", "-", *letor[2:], *options) == expected
    parquet.write_table(arrow_csv.read_csv(table[1]), tmp_path / "table")
    stdin((tmp_path / "table").read_bytes())
    assert output_of(capsys, "--table", "-", *table[2:], *options) == output_of(capsys, *table, *options)


def test_standard_input_is_named_in_errors(capsys, stdin, letor, table):
    stdin("x\n")
    assert "error: standard input, line 1: 'x' is not a label" in error_of(capsys, "--features", "-", *letor[2:])
    stdin("")
    assert "error: standard input is empty" in error_of(capsys, *letor[:2], "--predictions", "-")
    stdin(ROWS.replace("0 qid:9", "-1 qid:9"))
    assert "error: standard input, line 3: labels[2] is -1" in error_of(
        capsys, "--features", "-", *letor[2:], "--convention", "yahoo@5"
    )
    stdin("query,grade,model\n7,1,nan\n")
    assert "error: standard input, line 2: model is nan" in error_of(capsys, "--table", "-", *table[2:])
    stdin(b"PAR1")
    assert "error: standard input: " in error_of(capsys, "--table", "-", *table[2:])


def test_closed_standard_input_is_refused(capsys, monkeypatch, letor):
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in error_of(capsys, "--features", "-", *letor[2:])


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("--features", "-", "--predictions", "-"), "--features, --predictions"),
        (("--features", "-", "-", "--feature", "1"), "--features, --features"),
        (("--qrels", "-", "--run", "-"), "--qrels, --run"),
    ],
)
def test_two_files_cannot_both_be_standard_input(capsys, stdin, arguments, options):
    stdin(ROWS)
    assert f"'-' was given 2 times ({options}), but standard input can be read only once. Hint: " in error_of(
        capsys, *arguments
    )
