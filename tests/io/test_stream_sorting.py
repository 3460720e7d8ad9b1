"""Streams whose queries are scattered: sorted on disk, of which nothing stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from importlib import import_module
from itertools import repeat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.io import cut_queries, sorting
from rankadapters.io.sorting import PREFIX
from rankadapters.io.stream_rows import StreamRows
from rankadapters.io.stream_sums import ClosedQueries
from tests.helpers import stream_batches
from tests.helpers.command import printed, refused
from tests.helpers.stream_batches import anyhow, cut, facts
from tests.helpers.tables import for_each

ROOT = Path(__file__).parents[2]
COLUMNS = ("--label", "label", "--score", "score", "--qid", "qid")

pytest.importorskip("duckdb")


def has_the_bits_of_evaluate(batches, columns):
    """Check that the batches, sorted, are evaluated as the columns are."""
    found = ra.evaluate_stream(batches, "textbook@5", unsorted=True)
    assert facts(found) == facts(ra.evaluate(columns["label"], columns["score"], "textbook@5", qid=columns["qid"]))


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Have temporary files in a folder of the test's."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def scattered(seed, *, text=False):
    columns = stream_batches.rows(seed, text=text)
    order = np.random.default_rng(seed).permutation(columns["label"].size)
    return {name: column[order] for name, column in columns.items()}


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("n_parts", [1, 3, 17])
def test_scattered_queries_have_the_bits_of_evaluate(scratch, monkeypatch, n_parts, text):
    monkeypatch.setattr(cut_queries, "ROWS_AT_ONCE", 50)
    monkeypatch.setattr(sorting, "BATCH_ROWS", 70)
    columns = scattered(n_parts, text=text)
    columns["score"] = np.floor(columns["score"] * 2)
    several = [
        ra.parse("mslr@5"), ra.parse("trec_eval_9@5"),
        *(ra.parse("textbook@5").replace(ties=ties) for ties in ("input", "reverse", "average")),
    ]  # fmt: skip
    batches = cut(columns, anyhow(columns["label"].size, n_parts, 0))
    found = ra.evaluate_stream(batches, several, docid="docid", unsorted=True)
    given = {"qid": columns["qid"], "docid": columns["docid"]}
    for convention, score in found.items():
        assert facts(score) == facts(ra.evaluate(columns["label"], columns["score"], convention, **given))
    assert list(scratch.iterdir()) == []


def test_weights_and_models_stay_with_their_rows(scratch):
    columns = scattered(3)
    convention = ra.parse("lightgbm@10").replace(average="query")
    found = ra.evaluate_stream(
        cut(columns, anyhow(columns["label"].size, 5, 1)), convention, score=["other", "score"], query_weight="weight",
        unsorted=True,
    )  # fmt: skip
    queries = ra.Queries(columns["label"], qid=columns["qid"])
    queries = queries.with_weights(queries.per_query(columns["weight"])[0])
    for name in ("other", "score"):
        assert facts(found[name]) == facts(ra.evaluate(queries, columns[name], convention))


@pytest.mark.parametrize(
    ("change", "match", "row"),
    [
        ({"label": -1.0}, r"batch 2, row 3: labels\[12\] is -1, negative", 12),
        ({"score": np.nan}, r"batch 2: scores\[2\] is nan", 12),
        ({"weight": 7.0}, "batch 2, row 3: weight is 7, but another row of its query has a different weight", 12),
    ],
)
def test_what_is_wrong_in_a_row_is_named_by_where_it_stood(scratch, change, match, row):
    columns = {"label": np.ones(20), "score": np.ones(20), "qid": np.arange(20) % 3, "weight": np.ones(20)}
    for name, value in change.items():
        columns[name][12] = value
    convention = ra.parse("lightgbm@10").replace(average="query")
    with pytest.raises(ra.InputError, match=match) as caught:
        ra.evaluate_stream(cut(columns, [0, 10, 20]), convention, query_weight="weight", unsorted=True)
    assert caught.value.row == row
    assert list(scratch.iterdir()) == []


WIDTHS = [
    ("int32", "int64"), ("int64", "int32"), ("int8", "int64"), ("uint8", "int16"), ("float32", "float64"),
    ("float16", "float64"), ("float16", "float16"), ("object", "int64"), ("uint64", "uint64"), ("bool", "bool"),
]  # fmt: skip


@for_each(("first", "second"), WIDTHS)
def test_ids_may_have_another_width_in_each_batch(scratch, first, second):
    columns = scattered(5)
    columns["qid"] = columns["qid"] % (2 if first == "bool" else 7)
    middle = columns["label"].size // 2
    batches = cut(columns, [0, middle, columns["label"].size])
    for batch, width in zip(batches, (first, second), strict=True):
        batch["qid"] = batch["qid"].astype(width)
    has_the_bits_of_evaluate(batches, columns)


def test_ids_may_have_another_width_in_each_file(scratch, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns, paths = scattered(5), []
    for width, batch in zip(("int32", "int64"), cut(columns, [0, 100, columns["label"].size]), strict=True):
        paths.append(tmp_path / f"{width}.parquet")
        parquet.write_table(pa.table({**batch, "qid": batch["qid"].astype(width)}), paths[-1])
    has_the_bits_of_evaluate(paths, columns)


@for_each("package", ["pandas", "polars", "numpy"])
def test_texts_of_any_frame_are_sorted(scratch, package):
    make = pytest.importorskip(package).DataFrame if package != "numpy" else lambda batch: batch
    columns = scattered(5, text=True)
    columns["qid"] = columns["qid"].astype(object)
    columns["qid"][columns["qid"] == columns["qid"][0]] = columns["qid"][-1] + "\0"  # which is another text
    has_the_bits_of_evaluate(map(make, cut(columns, anyhow(columns["label"].size, 3, 0))), columns)


def test_ids_that_cannot_be_sorted_are_refused(scratch):
    batch = {"label": [1, 0], "score": [1, 2], "qid": [(1, 2), (3, 4)]}
    with pytest.raises(ra.InputError, match="batch 1, row 1: queries of type object cannot be sorted"):
        ra.evaluate_stream([batch], "lightgbm@10", unsorted=True)


def test_without_duckdb_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ra.MissingToolkitError, match=r'pip install "rankadapters\[stream\]"'):
        ra.evaluate_stream([{"label": [1], "score": [1], "qid": [1]}], "lightgbm@10", unsorted=True)


def test_of_what_duckdb_says_the_first_line_is_told():
    given = sorting._UnsortedRows(None, iter([]))
    with pytest.raises(ra.InputError, match=r"^sorting failed: no room\nHint: TMPDIR"), given.failures(OSError):
        raise OSError("no room\nat: a.cpp")


@pytest.fixture
def shuffled(write):
    pytest.importorskip("pyarrow")
    return write("qid,label,score,doc\n7,2,0.5,b\n9,0,1,c\n7,0,0.75,a\n9,1,1,d\n", "table.csv")


@pytest.mark.parametrize("per_query", [(), ("--per-query",)])
def test_the_command_sorts_where_asked_for(capsys, scratch, shuffled, per_query):
    options = ("--table", shuffled, *COLUMNS, "--convention", "textbook@5", "--format", "json", *per_query)
    merged = printed(capsys, "evaluate", *options, "--split-queries", "merge")
    assert printed(capsys, "evaluate", *options, "--unsorted") == merged
    assert list(scratch.glob(f"{PREFIX}*")) == []


def test_a_convention_over_all_rows_takes_the_table_whole(capsys, shuffled):
    options = ("--table", shuffled, *COLUMNS, "--convention", "sklearn.roc_auc_score", "--format", "csv")
    binary = shuffled.read_text(encoding="utf-8").replace("7,2,", "7,1,")
    shuffled.write_text(binary)
    found = printed(capsys, "evaluate", *options, "--unsorted")
    assert found == printed(capsys, "evaluate", *options, "--split-queries", "merge")
    expected = ra.evaluate([1, 0, 0, 1], [0.5, 1, 0.75, 1], "sklearn.roc_auc_score", qid=[7, 9, 7, 9]).value
    assert f",{expected},2," in found or f",{expected},1," in found


def test_unsorted_stands_with_tables_alone(capsys, shuffled, write):
    table = ("evaluate", "--convention", "textbook@5", "--format", "csv", "--unsorted", "--table", shuffled, *COLUMNS)
    assert "--split-queries contradicts --unsorted" in refused(capsys, *table, "--split-queries", "merge")
    letor = write("1 qid:7 1:1\n", "rows.txt")
    options = ("--features", letor, "--feature", "1", "--unsorted", "--convention", "textbook@5", "--format", "csv")
    assert "--unsorted has no effect with --features" in refused(capsys, "evaluate", *options)


WAIT = """
import sys, time, rankadapters.io.streams as streams, rankadapters.io.sorting as sorting
from rankadapters.__main__ import main
def wait(rows):
    yield next(rows)
    print("begun", flush=True)
    while True:  # a signal that comes just before a call that blocks would not be seen
        time.sleep(0.01)
def endless(self, first):
    print("begun", flush=True)
    while True:
        yield first
if sys.argv.pop(1) == "in the middle of the stream":
    streams.whole_queries = wait
else:
    sorting._UnsortedRows._batches = endless
sys.exit(main())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals as on POSIX")
@pytest.mark.parametrize("where", ["in the middle of the stream", "in the middle of the sort"])
@pytest.mark.usefixtures("heeded")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_command_that_is_asked_to_end_leaves_nothing(scratch, where, sent, code):
    table = scratch / "table.csv"
    table.write_text("qid,label,score\n" + "7,1,0.5\n" * 10)
    options = ("--convention", "textbook@5", "--unsorted", "--format", "csv")
    command = [sys.executable, "-c", WAIT, where, "evaluate", "--table", table, *COLUMNS, *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout.readline() == "begun\n"
            assert list(scratch.glob(f"{PREFIX}*"))
            process.send_signal(sent)
            assert process.wait(timeout=30) == code
        finally:
            process.kill()
    assert list(scratch.glob(f"{PREFIX}*")) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals as on POSIX")
@pytest.mark.usefixtures("heeded")
def test_a_sort_that_no_interrupt_reaches_ends_for_want_of_rows():
    connection = import_module("duckdb").connect()

    def sql(query):
        os.kill(os.getpid(), signal.SIGINT)
        return connection.sql(query)

    deaf = SimpleNamespace(execute=connection.execute, register=connection.register, sql=sql, interrupt=lambda: None)
    rows = StreamRows(np.zeros(2), (np.ones(2),), np.array([1, 2]), np.array([0, 1]), {}, ())
    with pytest.raises(KeyboardInterrupt):
        sorting._sorted(deaf, sorting._UnsortedRows(rows, repeat(rows)))


def test_closed_queries_are_found_in_eight_bytes_each():
    rng, closed, known = np.random.default_rng(0), ClosedQueries(), set()
    for n in rng.integers(1, 200, 60).tolist():
        hashes = rng.integers(0, 20_000, n).astype(np.uint64)
        seen = set(known)
        again = [place for place, each in enumerate(hashes.tolist()) if each in seen or seen.add(each)]
        assert closed.first_returned(hashes) == (again[0] if again else -1)
        new = np.array(sorted(set(hashes.tolist()) - known), np.uint64)
        closed.close(new)
        known |= set(new.tolist())
    assert closed.nbytes == 8 * len(known)


@pytest.mark.parametrize("n", [1, 7])
def test_closed_queries_lie_in_a_few_runs_however_many_there_are(n):
    closed = ClosedQueries()
    for first in range(0, 1000 * n, n):
        closed.close(np.arange(first, first + n, dtype=np.uint64))
        assert len(closed._runs) <= 10
    assert closed.nbytes == 8000 * n
