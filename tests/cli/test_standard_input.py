"""`rankadapters evaluate` reads one file from standard input, named `-`."""

from __future__ import annotations

import gzip
import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from tests.cli.evaluate_files import LEFT_OUT, ROWS, error_of, output_of
from tests.helpers.python_processes import TIMEOUT, WAIT_FOR_SIGNAL, needs_posix, start_python


def with_each_file_replaced(files, name):
    """Yield the path of each file, and the arguments with the name that `name` gives for it in its place."""
    for option in ("--features", "--predictions", "--qrels", "--run", "--table"):
        if option in files:
            index = files.index(option) + 1
            path = Path(files[index])
            yield path, (*files[:index], name(option, path), *files[index + 1 :])


@pytest.mark.parametrize("source", ["letor", "trec", "table"])
def test_one_file_may_be_standard_input(capsys, request, stdin, source):
    files = request.getfixturevalue(source)
    options = ("--convention", "textbook@5+missing=zero", "--format", "csv")
    note = f"{LEFT_OUT}\n" if source == "trec" else ""
    expected = output_of(capsys, *files, *options, note=note)
    for path, arguments in with_each_file_replaced(files, lambda *_: "-"):
        stdin(path.read_bytes())
        assert output_of(capsys, *arguments, *options, note=note) == expected


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


def test_standard_input_is_named_in_errors(capsys, stdin, letor, table, monkeypatch):
    stdin("x\n")
    assert "error: standard input, line 1: 'x' is not a label" in error_of(capsys, "--features", "-", *letor[2:])
    stdin("")
    assert "error: standard input is empty" in error_of(capsys, *letor[:2], "--predictions", "-")
    stdin(ROWS.replace("0 qid:9", "-1 qid:9"))
    assert "error: standard input, line 3: labels[2] is -1" in error_of(
        capsys, "--features", "-", *letor[2:], "--convention", "yahoo@5"
    )
    stdin("query,grade,model\n7,1,nan\n")
    assert "error: standard input, row 1: model is nan" in error_of(capsys, "--table", "-", *table[2:])
    stdin(b"PAR1")
    assert "error: standard input: " in error_of(capsys, "--table", "-", *table[2:])
    stdin("7 head\n9\n")
    expected = "error: standard input, line 2 is '9'; expected a query and its only segment"
    assert expected in error_of(capsys, *letor, "--by", "-")
    for arguments, message in (
        (("--predictions", "-"), "standard input, line 1 is '2 qid:7 1:1 #docid = b'; expected one"),
        (("-", "--feature", "1"), "standard input, line 1: query 7 returns"),
        (("--feature", "1", "--by", "-"), "standard input, line 3 is '0 qid:9 #docid = c'; expected a query"),
    ):
        stdin(ROWS)
        assert message in error_of(capsys, "--features", "-", *arguments)
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in error_of(capsys, "--features", "-", *letor[2:])


@pytest.mark.parametrize("source", ["letor", "trec"])
def test_the_segments_of_queries_may_be_standard_input(capsys, request, stdin, write, source):
    segments = "7 long tail\n9 head\n" + "8 head\n" * (source == "trec")
    arguments = (*request.getfixturevalue(source), "--convention", "textbook@5+missing=zero", "--format", "csv", "--by")
    note = f"{LEFT_OUT}\n" if source == "trec" else ""
    expected = output_of(capsys, *arguments, write(segments, "segments.txt"), note=note)
    stdin(segments)
    assert output_of(capsys, *arguments, "-", note=note) == expected


def test_a_column_of_segments_may_be_named_like_standard_input(capsys, stdin, table):
    rows = Path(table[1]).read_text(encoding="utf-8").splitlines()
    stdin("\n".join([f"{rows[0]},-", *(f"{row},{row[0]}" for row in rows[1:])]))
    options = ("--convention", "textbook@5", "--format", "csv", "--by", "-")
    segments = output_of(capsys, "--table", "-", *table[2:], *options).splitlines()[1:]
    assert [line.partition(",")[0] for line in segments] == ["7", "9", ""]


def test_the_copy_of_standard_input_is_removed(capsys, stdin, letor, tmp_path, monkeypatch):
    folder = tmp_path / "a=b"  # a name as of NAME=FILE
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    stdin(ROWS)
    assert output_of(capsys, "--features", "-", *letor[2:], "--convention", "textbook@5", "--format", "csv")
    stdin("x\n")
    error_of(capsys, "--features", "-", "--predictions", "-")
    stdin(ROWS)
    error_of(capsys, "--features", "-", "--no-such-option")
    assert list(folder.iterdir()) == []


WAIT_FOR_MORE = f"""{WAIT_FOR_SIGNAL}
import shutil, sys
from rankadapters.__main__ import main
shutil.copyfileobj = lambda *_: wait_for_signal()
sys.exit(main())
"""


@pytest.mark.long
@needs_posix
@pytest.mark.parametrize(("signal_name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.usefixtures("default_sigint")
def test_a_signal_removes_the_copy_of_standard_input(tmp_path, signal_name, code):
    command = ("evaluate", "--convention", "textbook@3", "--features", "-", "--feature", "1")
    with start_python("-c", WAIT_FOR_MORE, *command, TMPDIR=tmp_path) as process:
        assert process.stdout.readline() == "begun\n"
        assert list(tmp_path.glob("rankadapters-*/*"))
        process.send_signal(getattr(signal, signal_name))
        assert process.wait(TIMEOUT) == code
    assert list(tmp_path.iterdir()) == []


@needs_posix
@pytest.mark.parametrize("source", ["letor", "trec", "table"])
def test_a_pipe_is_read_as_a_file(capsys, request, tmp_path, monkeypatch, source):
    """Such as <(command) in a shell; runs read the qrels once each, and a column of segments is read apart."""
    files = list(request.getfixturevalue(source))
    options = ("--convention", "textbook@5+missing=zero", "--format", "csv", "--per-query")
    if source == "trec":
        files += [f"again={files[-1]}"]
    options += ("--by", "query") * (source == "table")
    note = f"run: {LEFT_OUT}\nagain: {LEFT_OUT}\n" if source == "trec" else ""
    expected = output_of(capsys, *files, *options, note=note)
    folder = tmp_path / "copies"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    for path, arguments in with_each_file_replaced(files, lambda option, path: tmp_path / option / path.name):
        [pipe] = {*arguments} - {*files}
        pipe.parent.mkdir()
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(path.read_bytes(),))
        writer.start()
        assert output_of(capsys, *arguments, *options, note=note) == expected
        writer.join()
    assert list(folder.iterdir()) == []


@needs_posix
def test_errors_name_the_pipe(capsys, tmp_path, table):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("query,grade,model\n7,1,nan\n",))
    writer.start()
    assert f"error: {pipe}, row 1: model is nan" in error_of(capsys, "--table", str(pipe), *table[2:])
    writer.join()
