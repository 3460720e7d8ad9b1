"""Files as streams: Parquet, CSV, Arrow datasets and LETOR files, read as strictly as whole."""

from __future__ import annotations

import bz2
import gzip
import json

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import progress
from rankadapters.io import csv_lines, cut_queries, line_blocks, read_letor, read_table, stream_letor, table
from tests.helpers import stream_batches
from tests.helpers.command import printed, refused
from tests.helpers.stream_batches import facts
from tests.helpers.tables import for_each, short

NAMES = {"label": "label", "score": "score", "qid": "qid"}
OPTIONS = ("--label", "label", "--score", "score", "--qid", "qid")


@pytest.fixture
def arrow():
    return pytest.importorskip("pyarrow")


@pytest.fixture(params=[40, 10**6])
def small(request, monkeypatch):
    """Read and evaluate a few bytes and rows at once."""
    monkeypatch.setattr(line_blocks, "BLOCK", request.param)
    monkeypatch.setattr(csv_lines, "ROWS_AT_ONCE", request.param)
    monkeypatch.setattr(table, "BATCH_ROWS", request.param)
    monkeypatch.setattr(cut_queries, "ROWS_AT_ONCE", request.param)


def whole(path, convention, **names):
    found = read_table(path, **NAMES, **names)
    return ra.evaluate(found.queries, found.scores, convention)


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


SAVED = {
    "Parquet": save_parquet,
    "CSV": save_csv,
    "CSV in gzip": lambda columns, path: save_csv(columns, path, gzip.compress),
    "CSV in bzip2": lambda columns, path: save_csv(columns, path, bz2.compress),
}


@pytest.mark.parametrize("save", SAVED.values(), ids=SAVED)
@pytest.mark.parametrize("text", [False, True])
def test_a_table_has_the_bits_of_the_whole_table(small, arrow, tmp_path, save, text):
    path = save(stream_batches.rows(5, text=text), tmp_path / "table")
    for given, convention in (({}, "mslr@5"), ({"docid": "docid"}, "trec_eval_9@5")):
        found = ra.evaluate_stream(path, convention, **NAMES, **given)
        assert facts(found) == facts(whole(path, convention, **given))
    weighted = ra.parse("lightgbm@10").replace(average="query")
    assert facts(ra.evaluate_stream(path, weighted, query_weight="weight")) == facts(
        whole(path, weighted, query_weight="weight")
    )


@for_each("kind", ["float16", "float32", "bool", "int8", "uint64", "decimal128(30, 3)"])
@pytest.mark.parametrize("unsorted", [False, True])
def test_scores_of_any_type_are_what_they_are_in_the_whole_table(arrow, tmp_path, kind, unsorted):
    if unsorted:
        pytest.importorskip("duckdb")
    columns = stream_batches.rows(5)
    types = {"decimal128(30, 3)": arrow.decimal128(30, 3), "float16": arrow.float16()}
    scores = arrow.array(np.arange(columns["label"].size) % 2)
    columns["score"] = scores.cast("float32" if kind == "float16" else scores.type).cast(types.get(kind, kind))
    path = save_parquet(columns, tmp_path / "table")
    found = ra.evaluate_stream(path, "trec_eval_9@5", docid="docid", unsorted=unsorted)
    assert facts(found) == facts(whole(path, "trec_eval_9@5", docid="docid"))


def test_several_files_are_one_stream(small, arrow, tmp_path):
    columns = stream_batches.rows(6)
    parts = stream_batches.cut(columns, stream_batches.evenly(columns["label"].size, 4))
    paths = [save_parquet(part, tmp_path / f"part-{number}") for number, part in enumerate(parts)]
    expected = ra.evaluate(columns["label"], columns["score"], "mslr@5", qid=columns["qid"])
    assert facts(ra.evaluate_stream(paths, "mslr@5")) == facts(expected)
    with pytest.raises(ra.InputError, match=r"part-0, row 1: query -?\d+ returns after it began in .*part-0, row 1"):
        ra.evaluate_stream([*paths, paths[0]], "mslr@5")


@pytest.mark.parametrize("form", ["dataset", "ParquetFile", "Table", "reader"])
def test_what_arrow_reads_in_batches_is_a_stream(small, arrow, tmp_path, form):
    from pyarrow import dataset, parquet

    columns = stream_batches.rows(7)
    path = save_parquet(columns, tmp_path / "table.parquet")
    batches = {
        "dataset": lambda: dataset.dataset(path),
        "ParquetFile": lambda: parquet.ParquetFile(path),
        "Table": lambda: arrow.table(columns),
        "reader": lambda: arrow.table(columns).to_reader(max_chunksize=11),
    }[form]
    assert facts(ra.evaluate_stream(batches(), "mslr@5")) == facts(whole(path, "mslr@5"))
    with pytest.raises(ra.InputError, match="has no column 'clicks'"):
        ra.evaluate_stream(batches(), "mslr@5", label="clicks")


@pytest.mark.parametrize("unsorted", [False, True])
def test_texts_of_parquet_that_differ_in_a_nul_at_their_end_are_two(arrow, tmp_path, unsorted):
    if unsorted:
        pytest.importorskip("duckdb")
    columns = {"label": [1.0, 0.0, 1.0], "score": [0.5, 0.25, 0.5], "qid": ["a", "a\0", "b"], "doc": ["x", "y", "z"]}
    path = save_parquet(columns, tmp_path / "rows.parquet")
    assert read_table(path, **NAMES).queries.query_ids.tolist() == columns["qid"]
    assert ra.evaluate_stream(path, "lightgbm@10", unsorted=unsorted).n_queries == 3
    path = save_parquet(columns | {"qid": ["a"] * 3, "doc": ["a\0", "a", "a\0\0"]}, tmp_path / "rows.parquet")
    assert read_table(path, **NAMES, docid="doc").queries.docid_rank.tolist() == [1, 0, 2]


GOOD = "".join(f"{row // 5},{row % 3},{row * 7 % 11},x\n" for row in range(40))
HEAD = "qid,label,score,text\n"


def message(call):
    with pytest.raises(ra.InputError) as caught:
        call()
    return str(caught.value).replace("Compressed data", "Compressed file"), caught.value.row


@for_each("form", [str.encode, lambda text: text.replace("\n", "\r\n"), "\ufeff{}".format, lambda text: text[:-1]])
def test_the_same_csv_is_found_however_it_is_written(small, write, arrow, form):
    path = write(form('qid,label,score,text\n7,2,0.5,"a,\nb"\n\n7,0,0.75,c\n'), "table.csv")
    assert facts(ra.evaluate_stream(path, "yahoo@2")) == facts(whole(path, "yahoo@2"))


@for_each(
    "text",
    [
        HEAD + GOOD + "9,1,high,d\n" + GOOD,
        HEAD + GOOD + "9,1,,d\n",
        HEAD + GOOD + "9,1,0x10,d\n",
        HEAD + GOOD + "9,1,inf,d\n",
        HEAD + GOOD + "9,1\n" + GOOD,
        HEAD + GOOD + "9,1,9007199254740993,d\n",
        HEAD + GOOD + ",1,1,d\n",
        HEAD + GOOD + '9,1,"high\n",d\n',
        "qid,label,score,score\n7,1,1,1\n",
        "qid;label;score\n7;1;1\n",
        HEAD,
        "",
        "\n\n",
        "\ufeff",
        HEAD.encode() + GOOD.encode() + b"\xe9,1,1\n",
        HEAD.encode() + GOOD.encode() + b"9,1,1,\0\n",
        gzip.compress(HEAD.encode() + GOOD.encode(), mtime=0)[:-9],
        gzip.compress(b"", mtime=0),
        bz2.compress(HEAD.encode() + GOOD.encode())[:-9],
        b"PAR1 and no more",
    ],
)
def test_a_fault_in_a_csv_file_is_named_as_by_the_whole_reader(small, write, arrow, text):
    path = write(text, "table.csv")
    found = message(lambda: ra.evaluate_stream(path, "yahoo@2"))
    assert found == message(lambda: whole(path, "yahoo@2"))
    assert found[0].startswith(str(path))


@for_each(
    "change",
    [
        {"label": None}, {"score": None}, {"qid": None}, {"docid": None}, {"score": float("nan")}, {"label": 2**53 + 1},
        {"score": float("inf")}, {"docid": "d3"}, {"weight": 9.0},
    ],
    ids=short,
)  # fmt: skip
def test_a_fault_in_a_parquet_file_is_named_as_by_the_whole_reader(small, tmp_path, arrow, change):
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
    given = {"docid": "docid", "query_weight": "weight"}
    convention = ra.parse("trec_eval_9@5").replace(average="query")
    found = message(lambda: ra.evaluate_stream(path, convention, **given))
    assert found == message(lambda: whole(path, convention, **given))
    assert f"{path}, row 44: " in found[0]


def test_a_query_that_returns_names_both_lines(small, write, arrow):
    path = write(HEAD + GOOD + "2,1,1,x\n", "table.csv")
    text, row = message(lambda: ra.evaluate_stream(path, "yahoo@2"))
    assert text.startswith(f"{path}, line 42: query 2 returns after it began in {path}, line 12.\nHint: sort the rows")
    assert row == 40


LETOR = "".join(
    f"{row % 3}\tqid:q{row // 7}  1:{row * 7 % 5} 3:0.5 # docid = d{row}\n" + "# a comment\n\n" * (row % 3 == 1)
    for row in range(70)
)
NUMBERS = "".join(f"{row * 11 % 13 / 8}\n" for row in range(70))


@pytest.mark.parametrize("compress", [str.encode, lambda text: gzip.compress(text.encode())])
def test_letor_files_have_the_bits_of_the_whole_files(small, write, compress):
    files = [write(compress(LETOR), "a.txt"), write(compress(LETOR.replace("qid:q", "qid:r")), "b.txt")]
    numbers = [write(NUMBERS * 2 + "\n \n", "scores.txt")]
    for given in ({"predictions": numbers}, {"feature": 1}):
        read = read_letor(files, **given, docids=True)
        for convention in ("yahoo@5", "trec_eval_9@5"):
            found = ra.evaluate_stream(stream_letor(files, **given, docids=True), convention, docid="docid")
            assert facts(found) == facts(ra.evaluate(read.queries, read.scores, convention))


@for_each(
    ("rows", "numbers"),
    [
        (LETOR + "x\n", NUMBERS),
        (LETOR + "1 qid:z 1:0.5 1:0.5\n", NUMBERS),
        (LETOR.rstrip() + LETOR, NUMBERS),
        (LETOR.replace("\n", "\r"), NUMBERS),
        (LETOR + "1 qid:z\r 1:1\n", NUMBERS),
        (LETOR, NUMBERS * 2),
        (LETOR, NUMBERS[:100].rpartition("\n")[0]),
        (LETOR, NUMBERS + "nan\n"),
        (LETOR, NUMBERS + "\n\n1\n"),
        (LETOR, NUMBERS.replace("0.5\n", "9007199254740993\n")),
        ("# only a comment\n", NUMBERS),
        (LETOR.encode() + b"\xff", NUMBERS),
        ("", NUMBERS),
        (LETOR, ""),
    ],
)
def test_a_fault_in_a_letor_file_is_named_as_by_the_whole_reader(small, write, rows, numbers):
    files, predictions = [write(LETOR.replace("qid:", "qid:first"), "a.txt"), write(rows, "b.txt")], None
    predictions = [write(NUMBERS, "a.scores"), write(numbers, "b.scores")]

    def read():
        found = read_letor(files, predictions=predictions)
        return ra.evaluate(found.queries, found.scores, "yahoo@5")

    streamed = message(lambda: ra.evaluate_stream(stream_letor(files, predictions=predictions), "yahoo@5"))
    assert streamed == message(read)


@pytest.mark.parametrize(
    ("change", "options"),
    [(("1:3", "1:nan"), {"feature": 1}), (("", ""), {"feature": 7}), (("# docid = d44", ""), {"docids": True})],
)
def test_a_feature_or_docid_that_is_missing_is_named(small, write, change, options):
    file, options = write(LETOR.replace(*change) if change[0] else LETOR, "a.txt"), {"feature": 1, **options}
    streamed = message(lambda: ra.evaluate_stream(stream_letor(file, **options), "yahoo@5"))
    assert streamed == message(lambda: read_letor(file, **options))


def test_a_query_of_a_letor_file_does_not_go_on_in_the_next(small, write):
    first, second = write("1 qid:7 1:1\n", "a.txt"), write("0 qid:7 1:2\n", "b.txt")
    text, row = message(lambda: ra.evaluate_stream(stream_letor([first, second], feature=1), "yahoo@5"))
    assert text.startswith(f"{second}, line 1: query 7 returns after it began in {first}, line 1.")
    assert row == 1


def test_wrong_calls_of_letor_streams(write):
    file = write(LETOR, "a.txt")
    with pytest.raises(ra.InputError, match="exactly one of predictions and feature is needed, but neither was given"):
        stream_letor(file)
    with pytest.raises(ra.InputError, match="no file: no line holds more than a comment"):
        stream_letor([], feature=1)
    with pytest.raises(
        ra.InputError, match="query_weight or row_weight was given, but LETOR files have no such column"
    ):
        ra.evaluate_stream(stream_letor(file, feature=1), "yahoo@5", query_weight="weight")
    assert repr(stream_letor(file, feature=1)) == f"LetorFiles({file})"


@pytest.mark.parametrize("save", [save_parquet, SAVED["CSV in gzip"]], ids=["Parquet", "CSV in gzip"])
def test_the_command_gives_the_values_of_the_whole_table(small, arrow, capsys, tmp_path, save):
    path = save(stream_batches.rows(9, text=True), tmp_path / "table")
    specs = ["mslr@5", "lightgbm@10"]
    options = ("--table", path, *OPTIONS, "other", "--convention", *specs, "--per-query", "--format", "json")
    options = (*options[:6], "other", *options[6:8], *options[9:])
    found = json.loads(printed(capsys, "evaluate", *options))
    for name in ("score", "other"):
        read = read_table(path, **NAMES | {"score": name})
        for spec in specs:
            evaluator = ra.Evaluator(read.queries, spec)
            score, signature = evaluator.evaluate(read.scores), str(ra.parse(spec))
            [shown] = [row for row in found["conventions"] if (row["model"], row["signature"]) == (name, signature)]
            assert (shown["value"], shown["n_queries"], shown["n_short"]) == (
                score.value,
                score.n_queries,
                score.n_short,
            )
            values = dict(zip(read.queries.query_ids.tolist(), evaluator.per_query(read.scores).tolist(), strict=True))
            assert found["queries"][signature][name] == values


def test_the_command_names_lines_of_what_the_convention_refuses(small, arrow, capsys, write):
    options = ("evaluate", "--convention", "textbook@5", "--format", "csv", *OPTIONS, "--table")
    bad = write(HEAD + GOOD + "9,-1,1,x\n", "table.csv")
    assert f"{bad}, line 42: labels[40] is -1, negative" in refused(capsys, *options, bad)
    back = write(HEAD + GOOD + "2,1,1,x\n", "table.csv")
    assert f"{back}, line 42: query 2 returns after it began in {back}, line 12. Hint: " in refused(
        capsys, *options, back
    )
    for choice, n_queries in (("merge", 8), ("separate", 9)):
        assert f",{n_queries}," in printed(capsys, *options, back, "--split-queries", choice)


def test_the_command_takes_a_table_whole_for_conventions_over_all_rows(arrow, capsys, write):
    path = write(HEAD + "".join(f"{row // 5},{row % 2},{row * 7 % 11},x\n" for row in range(40)), "table.csv")
    options = ("--table", path, *OPTIONS, "--convention", "sklearn.roc_auc_score", "yahoo@5", "--format", "json")
    found = json.loads(printed(capsys, "evaluate", *options))["conventions"]
    read = read_table(path, **NAMES)
    several = ra.evaluate(read.queries, read.scores, ["sklearn.roc_auc_score", "yahoo@5"])
    assert [row["value"] for row in found] == [score.value for score in several.values()]


def test_a_bar_moves_while_a_table_is_read(small, arrow, tmp_path, monkeypatch):
    moved = []
    monkeypatch.setattr(progress, "advance", lambda done, total: moved.append(done / total))
    for save in (save_parquet, save_csv):
        ra.evaluate_stream(save(stream_batches.rows(5), tmp_path / "table"), "mslr@5")
        assert moved == sorted(moved)
        assert moved[-1] == 1
        moved.clear()
