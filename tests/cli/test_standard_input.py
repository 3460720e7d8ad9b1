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


@pytest.mark.parametrize("source", ["letor", "trec"])
def test_the_segments_of_queries_may_be_standard_input(capsys, request, stdin, write, source):
    segments = "7 long tail\n9 head\n" + "8 head\n" * (source == "trec")
    arguments = (*request.getfixturevalue(source), "--convention", "textbook@5+missing=zero", "--format", "csv", "--by")
    note = f"{LEFT_OUT}\n" if source == "trec" else ""
    expected = output_of(capsys, *arguments, write(segments, "segments.txt"), note=note)
    stdin(segments)
    assert output_of(capsys, *arguments, "-", note=note) == expected


def test_segments_on_standard_input_are_named_in_errors(capsys, stdin, letor, trec, tmp_path):
    stdin("7 head\n9\n")
    assert "error: standard input, line 2 is '9'; expected a query and its only segment" in error_of(
        capsys, *letor, "--by", "-"
    )
    stdin("7 head\n")
    out = ("--out", str(tmp_path / "out.txt"))
    assert "'-' was given 2 times (--run, --by)" in error_of(capsys, *trec[:3], "-", "--by", "-", *out)


def test_a_column_of_segments_may_be_named_like_standard_input(capsys, stdin, table):
    rows = Path(table[1]).read_text(encoding="utf-8").splitlines()
    stdin("\n".join([f"{rows[0]},-", *(f"{row},{row[0]}" for row in rows[1:])]))
    options = ("--convention", "textbook@5", "--format", "csv", "--by", "-")
    segments = output_of(capsys, "--table", "-", *table[2:], *options).splitlines()[1:]
    assert [line.partition(",")[0] for line in segments] == ["7", "9", ""]


def test_closed_standard_input_is_refused(capsys, monkeypatch, letor):
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in error_of(capsys, "--features", "-", *letor[2:])


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("--features", "-", "--predictions", "-"), "--features, --predictions"),
        (("--features", "-", "-", "--feature", "1"), "--features, --features"),
        (("--qrels", "-", "--run", "-"), "--qrels, --run"),
        (("--features", "-", "--feature", "1", "--by", "-"), "--features, --by"),
    ],
)
def test_two_files_cannot_both_be_standard_input(capsys, stdin, arguments, options):
    stdin(ROWS)
    assert f"'-' was given 2 times ({options}), but standard input can be read only once. Hint: " in error_of(
        capsys, *arguments
    )
