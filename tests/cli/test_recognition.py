"""Files without options."""

from __future__ import annotations

import json
import re

import pytest

from rankadapters.cli.recognition import _kind_of_line
from tests.cli import evaluate_files
from tests.cli.evaluate_files import QRELS, ROWS, RUN, SCORES, TABLE, error_of, output_of
from tests.helpers import command

OPTIONS = ("--convention", "ranx@5", "--format", "json")
LEFT_OUT = evaluate_files.LEFT_OUT


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"2 qid:7 1:1 # docid", "features"), (b"2 1:0.5", "features"), (b"0.5", "predictions"),
        (b" -1e3 ", "predictions"),
        (b"7 0 d 1", "qrels"), (b"7\t0\td\t1", "qrels"), (b"7\td\t1", "qrels"), (b"7\t0\t1\t1", "qrels"),
        (b"query-id\tcorpus-id\tscore", "qrels"), (b"7\td\t1\t0.5", "run"), (b"7 Q0 d 1 0.5 t", "run"),
        (b"7 Q0 d first 0.5 t more", "run"), (b"qid,label,score", "table"), (b"qid\tlabel\tscore", "table"),
        (b"a,b c,d e", "table"), (b"0,5", None), (b"score", None), (b"7 d 1", None), (b"1\t2", None),
    ],
)  # fmt: skip
def test_the_first_line_says_what_a_file_is(line, kind):
    assert _kind_of_line(line) == kind


@pytest.fixture
def files(write, tmp_path):
    """Paths by name; the columns of `log` do not have our names."""
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "results").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n7\tb\t2\n7\ta\t0\n9\tc\t0\n8\td\t1\n")
    (folder / "results" / "bm25.trec").write_text(RUN)
    texts = {
        "rows": ROWS, "scores": SCORES, "qrels": QRELS, "run": RUN, "log": TABLE, "unknown": "hello\n",
        "comments": "# a\n", "two": "qid,rel,click,score\n7,1,0,1\n", "other": "qid,a,score\n7,1,0\n",
        "qrels_json": '{"7": {"b": 2, "a": 0}, "9": {"c": 0}, "8": {"d": 1}}',
        "run_json": '{"7": {"a": 0.75, "b": 0.5}, "9": {"c": 1}, "6": {"c": 1}}',
    }  # fmt: skip
    return {"beir": str(folder), **{name: str(write(text, name)) for name, text in texts.items()}}


@pytest.mark.parametrize(
    ("names", "options", "about"),
    [
        (("rows", "scores"), "--features {rows} --predictions {scores}",
         "{rows}: rows of SVMlight or LETOR; {scores}: predictions"),
        (("scores", "rows"), "--features {rows} --predictions {scores}", None),
        (("qrels", "run"), "--qrels {qrels} --run {run}", "{qrels}: qrels; {run}: a run"),
        (("run_json", "qrels_json"), "--qrels {qrels} --run {run}", None),
        (("qrels", "a={run}", "b={run_json}"), "--qrels {qrels} --run a={run} b={run}", None),
        (("beir",), "--qrels {qrels} --run {run}", None),
        (("log",), "--table {log} --label grade --qid query --score model",
         "{log}: a table, with label 'grade', score 'model', qid 'query'"),
    ],
)  # fmt: skip
def test_files_without_options_are_read_as_with_them(capsys, files, names, options, about):
    if "log" in names:
        pytest.importorskip("pyarrow")
    with_options = output_of(capsys, *(word.format_map(files) for word in options.split()), *OPTIONS)
    paths = [files.get(name, name.format_map(files)) for name in names]
    capsys.readouterr()
    assert command.run("evaluate", *paths, *OPTIONS) == 0
    out, err = capsys.readouterr()
    assert out == with_options
    assert err.count("\n") == 1
    if about is not None:
        assert err == about.format_map(files) + "\n"


def test_files_may_be_between_options(capsys, files):
    expected = output_of(capsys, "--qrels", files["qrels"], "--run", files["run"], *OPTIONS)
    command.run("evaluate", files["qrels"], *OPTIONS, files["run"], "--per-query")
    assert json.loads(capsys.readouterr().out)["conventions"] == json.loads(expected)["conventions"]
    line = error_of(capsys, files["qrels"], "--measure", "map", files["run"])
    assert f"{files['run']!r} is a file. Hint: name files before the options" in line


def test_files_may_follow_the_numbers_of_identify(capsys, files):
    outputs = []
    for named in ((files["qrels"], files["run"]), ("--qrels", files["qrels"], "--run", files["run"])):
        code = command.run("identify", "0.5", *named, "--k", "2")
        outputs.append((code, capsys.readouterr().out))
    assert outputs[0] == outputs[1]
    assert "0.5" in outputs[0][1]


def test_an_option_of_another_name_is_answered_with_ours(capsys, files):
    line = error_of(capsys, files["qrels"], files["run"], "--metric", "map")
    assert "unrecognized arguments: --metric map. Hint: did you mean --measure?\n" in line


def test_parquet_and_folders_of_it_are_tables(capsys, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (tmp_path / "logs" / "market=se").mkdir(parents=True)
    table = pa.table({"Relevance": [1, 0], "pred": [0.5, 0.7], "query_id": [7, 7]})
    for path in (tmp_path / "log", tmp_path / "logs" / "market=se" / "0.parquet"):
        parquet.write_table(table, path)
    for path in (tmp_path / "log", tmp_path / "logs"):
        about = f"{path}: a table, with label 'Relevance', score 'pred', qid 'query_id'\n"
        assert output_of(capsys, path, *OPTIONS, note=about)
        assert output_of(capsys, "--table", path, *OPTIONS, note=about)
    table = table.append_column("score", pa.array([0.5, 0.7])).append_column("label", pa.array([0, 1]))
    parquet.write_table(table, tmp_path / "log")
    output_of(capsys, tmp_path / "log", *OPTIONS, note=f"{tmp_path / 'log'}: a table, with qid 'query_id'\n")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("qrels", "qrels_json"), "qrels and .*qrels_json both look like qrels. Hint: name each file: --table FILE, "),
        (("qrels", "--qrels", "{qrels_json}", "--run", "{run}"), "qrels looks like qrels, which --qrels names already"),
        (("qrels",), "--qrels needs --run"),
        (("qrels", "log"), "contradicts"),
        (("none",), "none: No such file"),
        (("",), ": No such file"),
        (("x" * 5000,), "File name too long"),
        (("unknown",), "unknown begins with 'hello', which is not recognized. Hint: name the file by its option"),
        (("comments",), "comments begins with '', which is not recognized"),
        (("two",), "two has no column 'label', but 'rel', 'click'. Hint: --label rel names one"),
        (("other",), "other has no column 'label'"),
    ],
)  # fmt: skip
def test_files_that_are_ambiguous_are_refused_with_the_option_to_use(capsys, files, names, message):
    pytest.importorskip("pyarrow")
    paths = [files.get(name, name.format_map(files)) for name in names]
    line = error_of(capsys, *paths)
    assert re.search(message, line), line


def test_other_commands_take_files_too(capsys, files):
    names = files["rows"], files["scores"]
    expected = command.output_of(capsys, "explain", "--a", "yahoo@5", "--b", "letor4@5", "--features", names[0],
                                 "--predictions", names[1])  # fmt: skip
    command.run("explain", *names, "--a", "yahoo@5", "--b", "letor4@5")
    assert capsys.readouterr().out == expected
    line = command.error_of(capsys, "explain", *names, names[1], "--a", "yahoo@5", "--b", "letor4@5")
    assert "both look like predictions" in line
    command.run("profile", names[0], "--k", "5")
    assert "rows: rows of SVMlight or LETOR\n" in capsys.readouterr().err
    command.run("order", "a=" + names[1], "b=" + names[1], names[0], "--convention", "yahoo@5", "--resamples", "9")
    assert "a" in capsys.readouterr().out


def test_a_long_text_is_no_file(capsys, files):
    assert "it is truncated" in error_of(capsys, files["log"], "--convention", "ndcg@5/" + "gain=linear/" * 500)
