"""Streams whose queries are scattered are sorted on disk, and no temporary file stays."""

from __future__ import annotations

import signal
import sys
import tempfile

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.io import sorting, streams
from rankadapters.io.sorting import PREFIX
from rankadapters.io.streams import SeenQueries
from tests.helpers import stream_batches
from tests.helpers.command import error_of, output_of
from tests.helpers.python_processes import TIMEOUT, WAIT_FOR_SIGNAL, needs_posix, start_python
from tests.helpers.stream_batches import cut_at, random_bounds

COLUMNS = ("--label", "label", "--score", "score", "--qid", "qid")

pytest.importorskip("duckdb")


def check_sorted_stream(batches, columns):
    score = ra.evaluate_table(batches, "textbook@5", unsorted=True)
    assert (
        score.to_dict() == ra.evaluate(columns["label"], columns["score"], "textbook@5", qid=columns["qid"]).to_dict()
    )


@pytest.fixture
def temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def scattered_rows(seed, *, text=False):
    columns = stream_batches.rows(seed, text=text)
    order = np.random.default_rng(seed).permutation(columns["label"].size)
    return {name: column[order] for name, column in columns.items()}


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("n_parts", [1, 3, 17])
def test_a_sorted_stream_has_the_bits_of_evaluate(temporary_folder, monkeypatch, n_parts, text):
    monkeypatch.setattr(streams, "ROWS_AT_ONCE", 50)
    monkeypatch.setattr(sorting, "BATCH_ROWS", 70)
    columns = scattered_rows(n_parts, text=text)
    columns["score"] = np.floor(columns["score"] * 2)
    conventions = [
        ra.parse("mslr@5"), ra.parse("trec_eval_9@5"),
        *(ra.parse("textbook@5").replace(ties=ties) for ties in ("input", "reverse", "average")),
    ]  # fmt: skip
    batches = cut_at(columns, random_bounds(columns["label"].size, n_parts, 0))
    scores = ra.evaluate_table(batches, conventions, docid="docid", unsorted=True)
    ids = {"qid": columns["qid"], "docid": columns["docid"]}
    for convention, score in scores.items():
        assert score.to_dict() == ra.evaluate(columns["label"], columns["score"], convention, **ids).to_dict()
    assert list(temporary_folder.iterdir()) == []


def test_weights_and_models_stay_with_their_rows(temporary_folder):
    columns = scattered_rows(3)
    convention = ra.parse("lightgbm@10").replace(average="query")
    scores = ra.evaluate_table(
        cut_at(columns, random_bounds(columns["label"].size, 5, 1)), convention, score=["other", "score"],
        query_weight="weight", unsorted=True,
    )  # fmt: skip
    queries = ra.Queries(columns["label"], qid=columns["qid"])
    queries = queries.with_weights(queries.per_query(columns["weight"])[0])
    for name in ("other", "score"):
        assert scores[name].to_dict() == ra.evaluate(queries, columns[name], convention).to_dict()


@pytest.mark.parametrize(
    ("change", "match", "row"),
    [
        ({"label": -1.0}, r"batch 2, row 3: labels\[12\] is -1, negative", 12),
        ({"score": np.nan}, "batch 2, row 3: score is nan", 12),
        ({"weight": 7.0}, "batch 2, row 3: weight varies within query .*: one row has .*, another 7", 12),
    ],
)
def test_an_error_names_the_row_before_sorting(temporary_folder, change, match, row):
    columns = {"label": np.ones(20), "score": np.ones(20), "qid": np.arange(20) % 3, "weight": np.ones(20)}
    for name, value in change.items():
        columns[name][12] = value
    convention = ra.parse("lightgbm@10").replace(average="query")
    with pytest.raises(ra.InputError, match=match) as caught:
        ra.evaluate_table(cut_at(columns, [0, 10, 20]), convention, query_weight="weight", unsorted=True)
    assert caught.value.row == row
    assert list(temporary_folder.iterdir()) == []


WIDTHS = [
    ("int32", "int64"), ("int64", "int32"), ("int8", "int64"), ("uint8", "int16"), ("float32", "float64"),
    ("float16", "float64"), ("float16", "float16"), ("object", "int64"), ("uint64", "uint64"), ("bool", "bool"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), WIDTHS)
def test_ids_may_have_a_different_width_in_each_batch(temporary_folder, first, second):
    columns = scattered_rows(5)
    columns["qid"] = columns["qid"] % (2 if first == "bool" else 7)
    middle = columns["label"].size // 2
    batches = cut_at(columns, [0, middle, columns["label"].size])
    for batch, width in zip(batches, (first, second), strict=True):
        batch["qid"] = batch["qid"].astype(width)
    check_sorted_stream(batches, columns)


@pytest.mark.parametrize("package", ["pandas", "polars", "numpy"])
def test_text_ids_of_any_frame_are_sorted(temporary_folder, package):
    make = pytest.importorskip(package).DataFrame if package != "numpy" else lambda batch: batch
    columns = scattered_rows(5, text=True)
    columns["qid"] = columns["qid"].astype(object)
    columns["qid"][columns["qid"] == columns["qid"][0]] = columns["qid"][-1] + "\0"  # differs only in a trailing NUL
    check_sorted_stream(map(make, cut_at(columns, random_bounds(columns["label"].size, 3, 0))), columns)


def test_without_duckdb_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ra.MissingToolkitError, match=r'pip install "rankadapters\[stream\]"'):
        ra.evaluate_table([{"label": [1], "score": [1], "qid": [1]}], "lightgbm@10", unsorted=True)


@pytest.fixture
def scattered_table(write):
    pytest.importorskip("pyarrow")
    return write("qid,label,score,doc\n7,2,0.5,b\n9,0,1,c\n7,0,0.75,a\n9,1,1,d\n", "table.csv")


@pytest.mark.parametrize("per_query", [(), ("--per-query",)])
def test_the_command_sorts_with_unsorted(capsys, temporary_folder, scattered_table, per_query):
    options = ("--table", scattered_table, *COLUMNS, "--convention", "textbook@5", "--format", "json", *per_query)
    merged = output_of(capsys, "evaluate", *options, "--split-queries", "merge")
    assert output_of(capsys, "evaluate", *options, "--unsorted") == merged
    assert list(temporary_folder.glob(f"{PREFIX}*")) == []


def test_unsorted_is_refused_without_a_table_or_with_split_queries(capsys, scattered_table, write):
    options = ("evaluate", "--convention", "textbook@5", "--format", "csv", "--unsorted")
    table = ("--table", scattered_table, *COLUMNS)
    assert "--split-queries contradicts --unsorted" in error_of(capsys, *options, *table, "--split-queries", "merge")
    letor = ("--features", write("1 qid:7 1:1\n", "rows.txt"), "--feature", "1")
    assert "--unsorted has no effect with --features" in error_of(capsys, *options, *letor)


WAIT_FOREVER = f"""{WAIT_FOR_SIGNAL}
import sys, rankadapters.io.streams as streams, rankadapters.io.sorting as sorting
from rankadapters.__main__ import main
where, read_tables = sys.argv.pop(1), streams.read_tables
def wait(rows):
    yield next(iter(rows))
    wait_for_signal()
def endless(*arguments):
    import pyarrow as pa
    [table] = read_tables(*arguments)
    many = pa.concat_tables([table] * 100_000)
    yield many
    print("begun", flush=True)
    while True:
        yield many
if where == "in the middle of the stream":
    streams.whole_queries = wait
else:
    streams.read_tables = endless
sys.exit(main())
"""


@pytest.mark.long
@needs_posix
@pytest.mark.parametrize("where", ["in the middle of the stream", "in the middle of the sort"])
@pytest.mark.usefixtures("default_sigint")
@pytest.mark.parametrize(("signal_number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_command_ended_by_a_signal_leaves_no_temporary_files(temporary_folder, where, signal_number, code):
    table = temporary_folder / "table.csv"
    table.write_text("qid,label,score\n" + "7,1,0.5\n" * 10)
    options = ("--convention", "textbook@5", "--unsorted", "--format", "csv")
    command = ("-c", WAIT_FOREVER, where, "evaluate", "--table", table, *COLUMNS, *options)
    with start_python(*command) as process:
        assert process.stdout.readline() == "begun\n"
        assert list(temporary_folder.glob(f"{PREFIX}*"))
        process.send_signal(signal_number)
        assert process.wait(TIMEOUT) == code
    assert list(temporary_folder.glob(f"{PREFIX}*")) == []


def test_a_query_is_found_among_all_that_were_seen_by_a_few_searches(monkeypatch):
    rng, seen, expected = np.random.default_rng(0), SeenQueries(), set()
    searches, search = [], np.searchsorted
    monkeypatch.setattr(np, "searchsorted", lambda *columns: searches.append(1) or search(*columns))
    for n in rng.integers(1, 200, 60).tolist():
        hashes = np.unique(rng.integers(0, 200_000, n).astype(np.uint64))
        rng.shuffle(hashes)
        returned = [index for index, value in enumerate(hashes.tolist()) if value in expected]
        assert seen.add(hashes) == (returned[0] if returned else -1)
        expected |= set(hashes.tolist())
        assert len(searches) <= 10
        searches.clear()
