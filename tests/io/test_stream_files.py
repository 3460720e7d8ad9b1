"""Streamed Parquet, CSV and Arrow files have the values and errors of files that are read whole."""

from __future__ import annotations

import bz2
import gzip
import json

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import progress
from rankadapters.io import read_table, streams, table
from tests.helpers import stream_batches
from tests.helpers.command import error_of, output_of
from tests.helpers.tables import for_each, short

NAMES = {"label": "label", "score": "score", "qid": "qid"}
OPTIONS = ("--label", "label", "--score", "score", "--qid", "qid")


@pytest.fixture(params=[40, 10**6])
def small_blocks(request, monkeypatch):
    """Read and evaluate 40 rows at a time, and then everything at once."""
    monkeypatch.setattr(table, "BATCH_ROWS", request.param)
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


@for_each("kind", ["float16", "float32", "bool", "int8", "uint64", "decimal128(30, 3)"])
@pytest.mark.parametrize("unsorted", [False, True])
def test_scores_of_any_type_have_the_bits_of_the_whole_table(arrow, tmp_path, kind, unsorted):
    if unsorted:
        pytest.importorskip("duckdb")
    columns = stream_batches.rows(5)
    types = {"decimal128(30, 3)": arrow.decimal128(30, 3), "float16": arrow.float16()}
    scores = arrow.array(np.arange(columns["label"].size) % 2)
    columns["score"] = scores.cast("float32" if kind == "float16" else scores.type).cast(types.get(kind, kind))
    path = save_parquet(columns, tmp_path / "table")
    score = ra.evaluate_table(path, "trec_eval_9@5", docid="docid", unsorted=unsorted)
    assert score.to_dict() == evaluate_whole(path, "trec_eval_9@5", docid="docid").to_dict()


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


@pytest.mark.parametrize("unsorted", [False, True])
def test_texts_that_differ_in_a_trailing_nul_are_different(arrow, tmp_path, unsorted):
    if unsorted:
        pytest.importorskip("duckdb")
    columns = {"label": [1.0, 0.0, 1.0], "score": [0.5, 0.25, 0.5], "qid": ["a", "a\0", "b"], "doc": ["x", "y", "z"]}
    path = save_parquet(columns, tmp_path / "rows.parquet")
    assert read_table(path, **NAMES).queries.query_ids.tolist() == columns["qid"]
    assert ra.evaluate_table(path, "lightgbm@10", unsorted=unsorted).n_queries == 3
    path = save_parquet(columns | {"qid": ["a"] * 3, "doc": ["a\0", "a", "a\0\0"]}, tmp_path / "rows.parquet")
    assert read_table(path, **NAMES, docid="doc").queries.docid_rank.tolist() == [1, 0, 2]


GOOD = "".join(f"{row // 5},{row % 3},{row * 7 % 11},x\n" for row in range(40))
HEADER = "qid,label,score,text\n"


def message_and_row(call):
    with pytest.raises(ra.InputError) as caught:
        call()
    return str(caught.value).replace("Compressed data", "Compressed file"), caught.value.row


@for_each("form", [str.encode, lambda text: text.replace("\n", "\r\n"), "\ufeff{}".format, lambda text: text[:-1]])
def test_line_ends_and_a_byte_order_mark_do_not_change_a_csv_file(small_blocks, write, arrow, form):
    path = write(form('qid,label,score,text\n7,2,0.5,"a,\nb"\n\n7,0,0.75,c\n'), "table.csv")
    assert ra.evaluate_table(path, "yahoo@2").to_dict() == evaluate_whole(path, "yahoo@2").to_dict()


@for_each(
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


@for_each(
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


def test_a_query_that_returns_is_refused_with_both_rows(small_blocks, write, arrow):
    path = write(HEADER + GOOD + "2,1,1,x\n", "table.csv")
    text, row = message_and_row(lambda: ra.evaluate_table(path, "yahoo@2"))
    assert text.startswith(f"{path}, row 41: query 2 returns after it began in {path}, row 11.\nHint: sort the rows")
    assert row == 40


@pytest.mark.parametrize("save", [save_parquet, SAVE["CSV in gzip"]], ids=["Parquet", "CSV in gzip"])
def test_the_command_prints_the_values_of_the_whole_table(small_blocks, arrow, capsys, tmp_path, save):
    path = save(stream_batches.rows(9, text=True), tmp_path / "table")
    conventions = ["mslr@5", "lightgbm@10"]
    files = ("--table", path, *OPTIONS[:4], "other", *OPTIONS[4:])
    options = (*files, "--convention", *conventions, "--per-query", "--format", "json")
    report = json.loads(output_of(capsys, "evaluate", *options))
    for model in ("score", "other"):
        judgments = read_table(path, **NAMES | {"score": model})
        for convention in conventions:
            evaluator = ra.Evaluator(judgments.queries, convention)
            score, signature = evaluator.evaluate(judgments.scores), str(ra.parse(convention))
            [row] = [row for row in report["conventions"] if (row["model"], row["signature"]) == (model, signature)]
            assert (row["value"], row["n_queries"], row["n_short"]) == (score.value, score.n_queries, score.n_short)
            query_ids = judgments.queries.query_ids.tolist()
            values = dict(zip(query_ids, evaluator.per_query(judgments.scores).tolist(), strict=True))
            assert report["queries"][signature][model] == values


def test_the_command_names_the_row_that_it_refuses(small_blocks, arrow, capsys, write):
    options = ("evaluate", "--convention", "textbook@5", "--format", "csv", *OPTIONS, "--table")
    negative = write(HEADER + GOOD + "9,-1,1,x\n", "table.csv")
    assert f"{negative}, row 41: labels[40] is -1, negative" in error_of(capsys, *options, negative)
    returning = write(HEADER + GOOD + "2,1,1,x\n", "table.csv")
    assert f"{returning}, row 41: query 2 returns after it began in {returning}, row 11. Hint: " in error_of(
        capsys, *options, returning
    )
    for choice, n_queries in (("merge", 8), ("separate", 9)):
        assert f",{n_queries}," in output_of(capsys, *options, returning, "--split-queries", choice)


def test_the_command_reads_the_whole_table_for_conventions_over_all_rows(arrow, capsys, write):
    path = write(HEADER + "".join(f"{row // 5},{row % 2},{row * 7 % 11},x\n" for row in range(40)), "table.csv")
    options = ("--table", path, *OPTIONS, "--convention", "sklearn.roc_auc_score", "yahoo@5", "--format", "json")
    rows = json.loads(output_of(capsys, "evaluate", *options))["conventions"]
    judgments = read_table(path, **NAMES)
    scores = ra.evaluate(judgments.queries, judgments.scores, ["sklearn.roc_auc_score", "yahoo@5"])
    assert [row["value"] for row in rows] == [score.value for score in scores.values()]


def test_the_progress_bar_moves_while_a_table_is_read(small_blocks, arrow, tmp_path, monkeypatch):
    fractions = []
    monkeypatch.setattr(progress, "advance", lambda done, total: fractions.append(done / total))
    for save in (save_parquet, save_csv):
        ra.evaluate_table(save(stream_batches.rows(5), tmp_path / "table"), "mslr@5")
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1
        fractions.clear()
