"""`read_table` reads CSV and Parquet tables, and refuses bad ones by file and row."""

from __future__ import annotations

import gzip
import os
import struct
import sys
import threading
from functools import partial
from importlib import import_module

import pytest

import rankadapters as ra
from rankadapters import presets
from rankadapters.io import Judgments, read_table, table_files
from tests.helpers.checkout import CHECKOUT
from tests.helpers.python_processes import TIMEOUT, needs_posix

COLUMNS = {"label": "grade", "score": "model", "qid": "query"}
TABLE = {
    "grade": [2, 0, 1, 1],
    "model": [0.5, 0.75, -1.0, 0.1],
    "query": ["07", "07", "9", "9"],
    "doc": ["b", "a", "a", "é"],
    "weight": [2.0, 2.0, 0.5, 0.5],
}


WRITERS = {"CSV": "csv.write_csv", "Parquet": "parquet.write_table"}  # in pyarrow


@pytest.fixture(params=WRITERS)
def save(request, tmp_path, arrow):
    module, _, write = WRITERS[request.param].partition(".")

    def save(**columns):
        path = tmp_path / f"table.{request.param.lower()}"
        getattr(import_module(f"pyarrow.{module}"), write)(arrow.table({**TABLE, **columns}), path)
        return path

    return save


@pytest.mark.parametrize("name", table_files.FORMATS)
def test_every_format_is_in_the_grammar_and_tested(name):
    grammar, fuzzed = (
        (CHECKOUT / path).read_text(encoding="utf-8") for path in ("docs/formats.md", "tests/fuzz/test_tables.py")
    )
    assert name in WRITERS
    assert f"\n## {name}\n" in grammar
    assert name in read_table.__doc__
    assert name in fuzzed


@pytest.fixture
def parquet(tmp_path, arrow):
    """Save the table as Parquet with some columns changed, and return the path."""
    from pyarrow import parquet

    def save(changes=None, **options):
        parquet.write_table(arrow.table(TABLE | (changes or {})), tmp_path / "table", **options)
        return tmp_path / "table"

    return save


def test_weights_of_rows_are_read(save):
    judgments = read_table(save(part=[0.5, 2.0, 1.0, 0.25]), **COLUMNS, row_weight="part")
    assert judgments.queries.row_weight.tolist() == [0.5, 2.0, 1.0, 0.25]


@pytest.mark.parametrize("role", ["query_weight", "row_weight"])
@pytest.mark.parametrize(
    ("weight", "problem"), [(-1.0, "is -1.0, but weights are >= 0"), (1e-310, "is 1e-310; allowed")]
)
def test_a_wrong_weight_is_named_by_file_and_row(save, role, weight, problem, monkeypatch):
    monkeypatch.setattr(table_files, "BATCH_ROWS", 2)
    path = save(part=[1.0, 1.0, weight, weight])
    readers = [partial(read_table, path), partial(ra.evaluate_table, path, "textbook@2")]
    for read in (*readers, partial(readers[1], unsorted=True)):
        with pytest.raises(ra.InputError, match=rf"table\.\w+, row 3: part {problem}") as error:
            read(**COLUMNS, **{role: "part"})
        assert error.value.row == 2


def test_a_query_or_segment_that_is_nan_is_named_by_file_and_row(parquet, monkeypatch):
    monkeypatch.setattr(table_files, "BATCH_ROWS", 2)
    path = parquet({"query": [1.0, 1.0, float("nan"), 2.0], "part": [1.0, 1.0, 1.0, float("nan")]})
    readers = [partial(read_table, path), partial(ra.evaluate_table, path, "textbook@2")]
    for read in (*readers, partial(readers[1], unsorted=True)):
        with pytest.raises(ra.InputError, match=r"table, row 3: query is missing") as error:
            read(**COLUMNS)
        assert error.value.row == 2
    with pytest.raises(ra.InputError, match=r"table, row 4: part is missing"):
        ra.evaluate_table(parquet({"part": [1.0, 1.0, 1.0, float("nan")]}), "textbook@2", **COLUMNS, by="part")


def test_a_table_can_be_read_without_scores(save):
    columns = {name: column for name, column in COLUMNS.items() if name != "score"}
    scored = read_table(save(), **COLUMNS, docid="doc", query_weight="weight")
    path = save(model=["no", "numbers", "stand", "here"])
    judgments = read_table(path, **columns, score=None, docid="doc", query_weight="weight")
    assert type(judgments) is Judgments
    assert judgments.queries.digest == scored.queries.digest
    assert judgments.queries.query_weight.tolist() == [2, 0.5]
    assert judgments.queries.docid_rank.tolist() == [1, 0, 2, 3]
    assert judgments.place(1).endswith("row 2")


@pytest.mark.parametrize(("split_queries", "ids"), [("merge", ["a", "b"]), ("separate", ["a", "b", "a#2", "b#2"])])
def test_a_query_that_returns_is_refused_merged_or_separated(save, split_queries, ids):
    path = save(query=["a", "b", "a", "b"])
    with pytest.raises(ra.InputError, match=r"row 3: query a returns after it began in .*row 1"):
        read_table(path, **COLUMNS)
    judgments = read_table(path, **COLUMNS, docid="doc", split_queries=split_queries)
    assert judgments.queries.query_ids.tolist() == ids
    assert ra.evaluate(judgments.queries, judgments.scores, presets.trec_eval_9(2)).n_queries == len(ids)


@pytest.mark.parametrize(
    ("text", "match"),
    [("zwölf", r"table: column 'query' is broken: .*UTF8.*\nHint: write the data again"), ("query", "table: ")],
)
def test_bytes_of_parquet_that_are_not_text_are_refused(parquet, text, match):
    path = parquet({"query": ["zwölf"] * 4}, use_dictionary=False)
    path.write_bytes(path.read_bytes().replace(text.encode(), text[:2].encode() + b"\xff\xff" + text.encode()[4:]))
    with pytest.raises(ra.InputError, match=match):
        read_table(path, **COLUMNS)


@pytest.mark.parametrize("read", [read_table, ra.evaluate_table])
def test_a_parquet_file_with_a_wrong_number_of_rows_is_refused(parquet, read):
    """The footer holds the number of rows of the file and of each row group, as zigzag varints: 4 is byte 8."""
    from pyarrow.parquet import read_metadata

    path = parquet()
    data, messages = bytearray(path.read_bytes()), []
    for position in range(len(data) - int.from_bytes(data[-8:-4], "little") - 8, len(data) - 8):
        if data[position] == 8:
            path.write_bytes(data[:position] + b"\x06" + data[position + 1 :])
            try:
                assert read_metadata(path).num_rows == 3
                options = {"convention": "textbook@5"} if read is ra.evaluate_table else {}
                read(path, **options, **COLUMNS)
            except (ra.InputError, OSError, AssertionError) as error:
                messages.append(str(error))
    assert any("table says that it holds 3 rows, but 4 can be read" in message for message in messages)


CSV = 'query,grade,model,text\n7,2,0.5,"a,\nb"\n\n7,0,0.75,c\n'


@pytest.mark.parametrize(
    "text",
    [
        CSV,
        CSV.rstrip(),
        *(CSV.replace("\n", end) for end in ("\r\n", "\r")),
        "\ufeff" + CSV,
        gzip.compress(CSV.encode(), mtime=0),
    ],
    ids=["plain", "no final line end", "CRLF", "CR", "byte order mark", "gzip"],
)
def test_line_ends_byte_order_mark_and_compression_do_not_change_a_csv_file(tmp_path, arrow, text):
    (tmp_path / "table.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    judgments = read_table(tmp_path / "table.csv", **COLUMNS)
    assert (judgments.queries.labels.tolist(), judgments.scores.tolist()) == ([2, 0], [0.5, 0.75])
    assert judgments.place(1).endswith("table.csv, row 2")


def test_a_missing_file_a_folder_without_parquet_and_a_file_without_rows_are_refused(tmp_path, parquet):
    with pytest.raises(ra.InputError, match="nowhere: No such file"):
        read_table(tmp_path / "nowhere", **COLUMNS)
    with pytest.raises(ra.InputError, match=f"{tmp_path.name} is a folder without Parquet files"):
        read_table(tmp_path, **COLUMNS)
    with pytest.raises(ra.InputError, match="table holds no rows"):
        read_table(parquet({name: [] for name in TABLE}), **COLUMNS)


def test_a_folder_of_parquet_files_is_one_table_with_the_columns_in_its_names(tmp_path, arrow):
    from pyarrow import parquet

    expected = ra.evaluate(TABLE["grade"], TABLE["model"], "textbook@2", qid=TABLE["query"])
    for country, rows in (("no", slice(0, 2)), ("se", slice(2, 4))):
        folder = tmp_path / "rows" / f"country={country}"
        folder.mkdir(parents=True)
        part = {name: column[rows] for name, column in TABLE.items()}
        parquet.write_table(arrow.table(part), folder / "part-0.parquet")
        (folder / "_SUCCESS").write_text("")
    judgments = read_table(tmp_path / "rows", **COLUMNS)
    assert ra.evaluate(judgments.queries, judgments.scores, "textbook@2") == expected
    assert judgments.place(3).endswith("country=se/part-0.parquet, row 2")
    segments = ra.evaluate_table(tmp_path / "rows", "textbook@2", **COLUMNS, by="country")
    assert (list(segments), segments.all) == (["no", "se"], expected)
    parquet.write_table(arrow.table({**part, "model": [1.0, None]}), folder / "part-0.parquet")
    with pytest.raises(ra.InputError, match=r"country=se/part-0.parquet, row 2: model is missing"):
        read_table(tmp_path / "rows", **COLUMNS)


@pytest.fixture
def folder(tmp_path, arrow):
    """Save tables as Parquet files of a folder, by their names in it, and return the folder."""
    from pyarrow import parquet

    def save(**tables):
        for name, columns in tables.items():
            path = tmp_path / "folder" / name.replace("~", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            parquet.write_table(arrow.table({**TABLE, **columns}), path)
        return tmp_path / "folder"

    return save


@pytest.mark.parametrize(
    ("first", "second", "match"),
    [
        ({"grade": [True] * 4}, {"grade": ["1"] * 4}, r"b, row 1|column 'grade' has type string"),
        (
            {"query": [7] * 4},
            {"query": ["07", "7", "7", "7"]},
            "b, row 1: query has type large_string, but int64 in earlier rows",
        ),
        ({"query": [7] * 4}, {"query": [0.5] * 4}, "b, row 1: query has type double, but int64 in earlier rows"),
        ({"model": [1.0] * 4}, {"model": ["0.5"] * 4}, "b: column 'model' has type string, but numbers are needed"),
        ({}, {"model": [1.0, None, 1.0, 1.0]}, "b, row 2: model is missing"),
    ],
)
@pytest.mark.parametrize("read", [read_table, partial(ra.evaluate_table, convention="textbook@2")])
def test_a_file_of_a_folder_is_read_in_its_own_types(folder, read, first, second, match):
    """pyarrow's Dataset would cast it to the types of the first file."""
    with pytest.raises(ra.InputError, match=match):
        read(folder(a=first, b=second), **COLUMNS)


def test_names_of_folders_are_texts_and_no_second_column(folder):
    columns = {"label": "grade", "score": "model"}
    path = folder(**{"q=07~a": {"grade": [1] * 4}, "q=7~a": {}})
    judgments = read_table(path, **columns, qid="q")
    assert judgments.queries.query_ids.tolist() == ["07", "7"]
    path = folder(**{"query=x~a": {}})
    with pytest.raises(ra.InputError, match=r"query=x/a has more than one column 'query'"):
        read_table(path, **COLUMNS)


def test_a_missing_value_in_the_name_of_a_folder_is_refused(folder):
    path = folder(**{"q=__HIVE_DEFAULT_PARTITION__~a": {}})
    with pytest.raises(ra.InputError, match=r"row 1: q is missing"):
        read_table(path, label="grade", score="model", qid="q")


@pytest.mark.parametrize("kind", ["decimal32(5, 2)", "decimal64(12, 2)", "decimal128(30, 2)", "decimal256(60, 2)"])
def test_decimals_of_any_width_are_read(parquet, arrow, kind):
    name, _, digits = kind.partition("(")
    if not hasattr(arrow, name):
        pytest.skip(f"this pyarrow has no {name}")
    column = (
        arrow.array([0.5, 0.25, 1, 2])
        .cast(arrow.decimal128(20, 2))
        .cast(getattr(arrow, name)(*map(int, digits.rstrip(")").split(","))))
    )
    try:
        path = parquet({"model": column})
    except arrow.ArrowNotImplementedError as error:
        pytest.skip(f"pyarrow {arrow.__version__}: {error}")
    assert read_table(path, **COLUMNS).scores.tolist() == [0.5, 0.25, 1, 2]


def test_a_table_with_tabs_is_read(write, arrow):
    for header in (
        "query\tgrade\tmodel\ttext\n",
        '"query"\t"grade"\t"model"\t"text"\n',
        "\ngrade,x\tquery\tgrade\tmodel\n",
    ):
        rows = "07\t1\t0.5\ta, b\n07\t0\t0.75\tc\n" if "text" in header else "1\t07\t1\t0.5\n2\t07\t0\t0.75\n"
        judgments = read_table(write(header + rows, "table.tsv"), **COLUMNS)
        assert (judgments.queries.query_ids.tolist(), judgments.scores.tolist()) == (["07"], [0.5, 0.75])


def test_a_long_field_beside_quotes_is_read_and_a_longer_row_refused(write, arrow):
    path = write('query,grade,model,text\n7,1,0.5,"a"\n7,0,1,' + 200_000 * "b" + "\n", "table.csv")
    assert read_table(path, **COLUMNS).scores.tolist() == [0.5, 1]
    with pytest.raises(ra.InputError, match="is longer than 4194304 bytes"):
        read_table(write("query,grade,model,text\n7,1,0.5," + 10_000_000 * "b" + "\n", "table.csv"), **COLUMNS)


@pytest.mark.parametrize("text", ['7,1,1,"a\n7,0,1,b\n', '7,1,1,"a\n7,0,1,"b\n7,1,1,c\n', '7,1,1,"a"b\n'])
def test_a_quote_that_hides_rows_in_a_column_that_is_not_read_is_refused(write, arrow, text):
    """To pyarrow alone, the rows between two stray quotes are part of one field."""
    path = write("query,grade,model,text\n7,2,0.5,a\n" + text, "table.csv")
    with pytest.raises(ra.InputError, match=r"table\.csv, line \d+: .*\nHint: a field with quotes is quoted itself"):
        read_table(path, **COLUMNS)


def test_a_field_of_several_lines_between_tabs_is_refused(write, arrow):
    header, row = "query\tgrade\tmodel\ttext\n", '7\t1\t0.5\t"a"\n'
    assert read_table(write(f"{header}\n{row}\n{row}", "table.tsv"), **COLUMNS).scores.tolist() == [0.5, 0.5]
    several = row.replace("a", "a\nb")
    for text, line in ((several, 3), ("\n" + several, 4), (row + several, 4)):
        with pytest.raises(ra.InputError, match=rf"table\.tsv, line {line} is within quotes"):
            read_table(write(header + text, "table.tsv"), **COLUMNS)


@pytest.mark.parametrize(
    ("text", "problem", "row"),
    [
        ('"query,grade,model\n7,1,1\n', "header: unexpected end of data", None),
        ("\udcff,grade,model\n7,1,1\n", "header: 'utf-8' codec", None),
        ("query,grade,model\n7,1,1\n7,1,x\n", "row 2, column 'model': .*'x'", 1),
        ("query,grade,model\n7,1,1\n7,1,9007199254740993\n", "row 2, column 'model': '9007199254740993' is beyond", 1),
    ],
)
def test_a_faulty_header_or_cell_is_named(write, arrow, text, problem, row):
    with pytest.raises(ra.InputError, match=rf"table\.csv, {problem}") as caught:
        read_table(write(text.encode("utf-8", "surrogateescape"), "table.csv"), **COLUMNS)
    assert caught.value.row == row


@pytest.mark.parametrize("query", ["7", '"7"'])
def test_only_the_columns_that_are_read_need_be_utf8(write, arrow, query):
    """A file with quotes is read twice."""
    rows = f"query,grade,model,note\n{query},1,0.5,\udcff\n{query},0,0.25,\n".encode("utf-8", "surrogateescape")
    assert read_table(write(rows, "table.csv"), **COLUMNS).scores.tolist() == [0.5, 0.25]
    with pytest.raises(ra.InputError, match=r"row 1, column 'note': .*UTF8"):
        read_table(write(rows, "table.csv"), **COLUMNS, docid="note")


def test_without_pyarrow_a_table_is_refused(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for path in (write(b"PAR1", "table.parquet"), write("query,grade,model\n7,1,0.5\n", "table.csv")):
        with pytest.raises(ra.MissingToolkitError, match=r'pip install "rankadapters\[files\]"'):
            read_table(path, **COLUMNS)


@pytest.mark.parametrize("column", ["label", "score", "weight", "part"])
@pytest.mark.parametrize("number", ["9007199254740993", "9007199254740993.0", '"9007199254740993"'])
def test_a_number_of_csv_that_would_tie_with_its_neighbor_is_refused(write, column, number):
    pytest.importorskip("pyarrow")
    rows = {"qid": ["7", "7", "8"], "label": [1, 0, 1], "score": [1, 2, 3], "weight": [1, 1, 1], "part": [1, 1, 1]}
    rows[column] = [number, number, 3]
    lines = [rows, *zip(*rows.values(), strict=True)]
    path = write("".join(",".join(map(str, line)) + "\n" for line in lines), "t.csv")
    digits = number.strip('"')
    expected = rf"t\.csv, row 1, column '{column}': '{digits}' is beyond 2\^53"
    with pytest.raises(ra.InputError, match=expected) as error:
        read_table(path, query_weight="weight", row_weight="part")
    assert error.value.row == 0
    with pytest.raises(ra.InputError, match=expected):
        ra.evaluate_table(path, "textbook@2", query_weight="weight", row_weight="part", unsorted=True)


def test_large_numbers_of_csv_that_float64_keeps_are_read(write):
    pytest.importorskip("pyarrow")
    path = write("qid,label,score\n7,1,9007199254740992\n7,0,1e23\n7,0,9007199254740994.0\n7,0,\t-5e+300 \n", "t.csv")
    assert read_table(path).scores.tolist() == [2.0**53, 1e23, 2.0**53 + 2, -5e300]


def test_pages_of_parquet_with_checksums_are_verified(tmp_path, arrow):
    from pyarrow import dataset, parquet

    path = tmp_path / "table"
    table = arrow.table({"qid": [7] * 500, "label": [1.0, 0.0] * 250, "score": [float(row) for row in range(500)]})
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    parquet.write_table(table, path, write_page_checksum=True, **plain)
    score = ra.evaluate_table(path, "textbook@2")
    assert ra.evaluate_table(dataset.dataset(path), "textbook@2") == score
    data = bytearray(path.read_bytes())
    data[data.index(struct.pack("<d", 499)) + 6] ^= 1  # a bit of the best score
    path.write_bytes(data)
    sources = [path, [path], dataset.dataset(path), dataset.dataset([dataset.dataset(path)] * 2)]
    for source in sources:
        with pytest.raises(ra.InputError, match="CRC checksum verification failed"):
            ra.evaluate_table(source, "textbook@2")
    with pytest.raises(ra.InputError, match=r"table: .*CRC checksum verification failed"):
        read_table(path)
    assert not sources[2].format.default_fragment_scan_options.page_checksum_verification  # the caller's stays


@pytest.fixture
def pipe(tmp_path):
    """Write data to a named pipe, which can be read once, and return its path."""
    threads = []

    def pipe(data):
        path = tmp_path / f"pipe{len(threads)}.csv"
        os.mkfifo(path)
        threads.append(threading.Thread(target=path.write_bytes, args=(data,)))
        threads[-1].start()
        return path

    yield pipe
    for thread in threads:
        thread.join(TIMEOUT)
        assert not thread.is_alive()


@needs_posix
@pytest.mark.parametrize(
    "extra", ["", '"7",0,0.5\n', "7,0,1e20\n"]
)  # with quotes and large numbers, a file is read twice
def test_a_pipe_is_read_as_a_file(pipe, write, extra):
    pytest.importorskip("pyarrow")
    csv = "qid,label,score\n" + "7,1,0.25\n7,0,0.75\n" * 5000 + extra
    expected = ra.evaluate_table(write(csv, "t.csv"), "textbook@5")
    assert ra.evaluate_table(pipe(csv.encode()), "textbook@5") == expected
    assert ra.evaluate_table([pipe(csv.encode())], "textbook@5") == expected
    judgments = read_table(pipe(csv.encode()))
    assert ra.evaluate(judgments.queries, judgments.scores, "textbook@5") == expected


@needs_posix
def test_a_pipe_may_hold_parquet(pipe, parquet):
    judgments = read_table(pipe(parquet().read_bytes()), **COLUMNS)
    assert judgments.scores.tolist() == TABLE["model"]


@needs_posix
def test_errors_name_the_pipe_and_do_not_wait_for_it_again(pipe, monkeypatch):
    pytest.importorskip("pyarrow")
    with pytest.raises(ra.InputError, match=r"^\S+pipe0\.csv, row 1, column 'label'"):
        read_table(pipe(b"qid,label,score\n7,x,1\n"))
    with pytest.raises(ra.InputError, match=r"^\S+pipe1\.csv is empty"):
        ra.evaluate_table(pipe(b""), "textbook@2")
    monkeypatch.setattr("rankadapters.io.streams.ROWS_AT_ONCE", 1)
    with pytest.raises(ra.InputError, match=r"^\S+pipe2\.csv, row 3: query 7 returns after others followed it"):
        ra.evaluate_table(pipe(b"qid,label,score\n7,1,1\n8,1,1\n7,0,2\n"), "textbook@2")


@needs_posix
@pytest.mark.parametrize("read", [read_table, partial(ra.evaluate_table, convention="textbook@2")])
def test_an_error_removes_the_copy_of_a_pipe_at_once(pipe, tmp_path, monkeypatch, read):
    pytest.importorskip("pyarrow")
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(copies))
    with pytest.raises(ra.InputError, match="row 1, column 'label'") as caught:
        read(pipe(b"qid,label,score\n7,x,1\n"))
    assert caught.value.__traceback__ is not None
    assert not list(copies.iterdir())
