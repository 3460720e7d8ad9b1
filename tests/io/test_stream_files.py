"""Streamed Parquet, CSV and Arrow files have the values and errors of files that are read whole."""

from __future__ import annotations

import bz2
import gzip

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import progress
from rankadapters.io import read_table, streams, table_files
from tests.helpers import stream_batches
from tests.helpers.parameters import short

NAMES = {"label": "label", "score": "score", "qid": "qid"}


@pytest.fixture(params=[40, 10**6])
def small_blocks(request, monkeypatch):
    """Read and evaluate 40 rows at a time, and then everything at once."""
    monkeypatch.setattr(table_files, "BATCH_ROWS", request.param)
    monkeypatch.setattr(streams, "ROWS_AT_ONCE", request.param)


def evaluate_whole(path, convention, **names):
    judgments = read_table(path, **NAMES, **names)
    return ra.evaluate(judgments.queries, judgments.scores, convention)


def save_parquet(columns, path, rows_in_group=37):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table(columns), path, row_group_size=rows_in_group)
    return path


def save_csv(columns, path, compress=bytes):
    names = list(columns)
    lines = [",".join(names), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_bytes(compress("\n".join(lines).encode() + b"\n"))
    return path


SAVE = {
    "Parquet": save_parquet,
    "CSV": save_csv,
    "CSV in gzip": lambda columns, path: save_csv(columns, path, gzip.compress),
    "CSV in bzip2": lambda columns, path: save_csv(columns, path, bz2.compress),
}


@pytest.mark.parametrize("save", SAVE.values(), ids=SAVE)
@pytest.mark.parametrize("text", [False, True])
def test_a_streamed_table_has_the_bits_of_the_whole_table(small_blocks, arrow, tmp_path, save, text):
    path = save(stream_batches.rows(5, text=text), tmp_path / "table")
    for columns, convention in (({}, "mslr@5"), ({"docid": "docid"}, "trec_eval_9@5")):
        score = ra.evaluate_table(path, convention, **NAMES, **columns)
        assert score.to_dict() == evaluate_whole(path, convention, **columns).to_dict()
    weighted = ra.parse("lightgbm@10").replace(average="query")
    assert (
        ra.evaluate_table(path, weighted, query_weight="weight").to_dict()
        == evaluate_whole(path, weighted, query_weight="weight").to_dict()
    )


def test_several_files_are_one_stream(small_blocks, arrow, tmp_path):
    columns = stream_batches.rows(6)
    parts = stream_batches.cut_at(columns, stream_batches.even_bounds(columns["label"].size, 4))
    paths = [save_parquet(part, tmp_path / f"part-{number}") for number, part in enumerate(parts)]
    expected = ra.evaluate(columns["label"], columns["score"], "mslr@5", qid=columns["qid"])
    assert ra.evaluate_table(paths, "mslr@5").to_dict() == expected.to_dict()
    with pytest.raises(ra.InputError, match=r"part-0, row 1: query -?\d+ returns after it began in .*part-0, row 1"):
        ra.evaluate_table([*paths, paths[0]], "mslr@5")


@pytest.mark.parametrize("kind", ["dataset", "ParquetFile", "Table", "reader"])
def test_arrow_datasets_tables_and_readers_can_be_streamed(small_blocks, arrow, tmp_path, kind):
    from pyarrow import dataset, parquet

    columns = stream_batches.rows(7)
    path = save_parquet(columns, tmp_path / "table.parquet")
    stream = {
        "dataset": lambda: dataset.dataset(path),
        "ParquetFile": lambda: parquet.ParquetFile(path),
        "Table": lambda: arrow.table(columns),
        "reader": lambda: arrow.table(columns).to_reader(max_chunksize=11),
    }[kind]
    assert ra.evaluate_table(stream(), "mslr@5").to_dict() == evaluate_whole(path, "mslr@5").to_dict()
    with pytest.raises(ra.InputError, match="has no column 'clicks'"):
        ra.evaluate_table(stream(), "mslr@5", label="clicks")


GOOD = "".join(f"{row // 5},{row % 3},{row * 7 % 11},x\n" for row in range(40))
HEADER = "qid,label,score,text\n"


def message_and_row(call):
    with pytest.raises(ra.InputError) as caught:
        call()
    return str(caught.value).replace("Compressed data", "Compressed file"), caught.value.row


@pytest.mark.parametrize(
    "text",
    [
        HEADER + GOOD + "9,1,high,d\n" + GOOD,
        HEADER + GOOD + "9,1,,d\n",
        HEADER + GOOD + "9,1,0x10,d\n",
        HEADER + GOOD + "9,1,inf,d\n",
        HEADER + GOOD + "9,1\n" + GOOD,
        HEADER + GOOD + ",1,1,d\n",
        HEADER + GOOD + '9,1,"high\n",d\n',
        "qid,label,score,score\n7,1,1,1\n",
        "qid;label;score\n7;1;1\n",
        HEADER,
        "",
        "\n\n",
        "\ufeff",
        HEADER.encode() + GOOD.encode() + b"\xe9,1,1\n",
        gzip.compress(HEADER.encode() + GOOD.encode(), mtime=0)[:-9],
        gzip.compress(b"", mtime=0),
        bz2.compress(HEADER.encode() + GOOD.encode())[:-9],
        b"PAR1 and no more",
    ],
)
def test_a_bad_csv_file_has_the_same_error_when_streamed(small_blocks, write, arrow, text):
    path = write(text, "table.csv")
    streamed = message_and_row(lambda: ra.evaluate_table(path, "yahoo@2"))
    assert streamed == message_and_row(lambda: evaluate_whole(path, "yahoo@2"))
    assert streamed[0].startswith(str(path))


@pytest.mark.parametrize(
    "change",
    [
        {"label": None}, {"score": None}, {"qid": None}, {"docid": None}, {"score": float("nan")}, {"label": 2**53 + 1},
        {"score": float("inf")}, {"docid": "d3"}, {"weight": 9.0},
    ],
    ids=short,
)  # fmt: skip
def test_a_bad_parquet_file_has_the_same_error_when_streamed(small_blocks, tmp_path, arrow, change):
    columns = stream_batches.rows(8)
    columns["docid"] = np.array([f"d{row}" for row in range(columns["label"].size)])
    columns["qid"] = np.arange(columns["label"].size) // 60
    columns["weight"] = np.ones(columns["label"].size)
    columns = {name: column.tolist() for name, column in columns.items()}
    if change == {"label": 2**53 + 1}:
        columns["label"] = list(map(int, columns["label"]))
    for name, value in change.items():
        columns[name][43] = value
    path = save_parquet(columns, tmp_path / "table")
    optional_columns = {"docid": "docid", "query_weight": "weight"}
    convention = ra.parse("trec_eval_9@5").replace(average="query")
    streamed = message_and_row(lambda: ra.evaluate_table(path, convention, **optional_columns))
    assert streamed == message_and_row(lambda: evaluate_whole(path, convention, **optional_columns))
    assert f"{path}{'' if change == {'label': 2**53 + 1} else ', row 44'}: " in streamed[0]


def test_the_progress_bar_moves_while_a_table_is_read(small_blocks, arrow, tmp_path, monkeypatch):
    fractions = []
    monkeypatch.setattr(progress, "advance", lambda done, total: fractions.append(done / total))
    for save in (save_parquet, save_csv):
        ra.evaluate_table(save(stream_batches.rows(5), tmp_path / "table"), "mslr@5")
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1
        fractions.clear()
