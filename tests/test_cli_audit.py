"""`rankadapters explain`, `identify`, `order`, `profile` and `report`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import rankadapters as ra
from rankadapters import cli, presets
from tests.audit_data import MQ2008

ROOT = Path(__file__).parent.parent

LABELS, QID = [2, 0, 0, 1, 0, 0, 0], [7, 7, 7, 8, 8, 9, 9]
SCORES = {"good": [3, 2, 1, 2, 1, 1, 1], "bad": [1, 2, 3, 1, 2, 1, 1]}
ROWS = "".join(
    f"{label} qid:{qid} 1:{good} 2:{bad} #docid = d{row}\n"
    for row, (label, qid, good, bad) in enumerate(zip(LABELS, QID, *SCORES.values(), strict=True))
)
QRELS = "".join(f"{qid} 0 d{row} {label}\n" for row, (qid, label) in enumerate(zip(QID, LABELS, strict=True)))
COMMANDS = {
    "explain": ("explain", "--a", "yahoo@3", "--b", "letor4@3"),
    "identify": ("identify", "0.6667", "--k", "3"),
    "order": ("order", "--convention", "yahoo@3", "letor4@3", "--resamples", "19"),
    "profile": ("profile", "--k", "3"),
}


@pytest.fixture
def write(tmp_path):
    def write(text, name):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def letor(write):
    return "--features", write(ROWS, "rows.txt")


@pytest.fixture
def predictions(write):
    return {name: write("".join(f"{s}\n" for s in scores), f"{name}.txt") for name, scores in SCORES.items()}


def run(*arguments):
    try:
        return cli.main(list(arguments))
    except SystemExit as stop:
        return stop.code


def printed(capsys, *arguments, code=0, note=""):
    assert run(*arguments) == code
    out, err = capsys.readouterr()
    assert err == note
    return out


def refused(capsys, *arguments):
    """Check that the command exits with 2 and one line, and return the line."""
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("rankadapters: error: ")
    return err


def needs(command):
    if command == "order":
        pytest.importorskip("scipy")


def test_explain_prints_what_explain_gives(capsys, letor):
    out = printed(capsys, *COMMANDS["explain"], *letor, "--feature", "1", "--top", "2", "--format", "json")
    expected = ra.audit.explain(LABELS, SCORES["good"], presets.yahoo(3), presets.letor4(3), qid=QID, top=2)
    assert json.loads(out) == json.loads(expected.to_json())


def test_identify_prints_what_identify_gives_and_exits_by_it(capsys, letor):
    docid = [f"d{row}" for row in range(len(LABELS))]
    for value, code in (("0.6667", 0), ("0.1234", 1)):
        out = printed(capsys, "identify", value, "--k", "3", *letor, "--feature", "1", "--format", "json", code=code)
        expected = ra.audit.identify(value, LABELS, SCORES["good"], k=3, qid=QID, docid=docid)
        assert json.loads(out) == json.loads(expected.to_json())
        assert bool(expected) is (code == 0)


def test_identify_and_profile_take_a_measure(capsys, letor):
    docid = [f"d{row}" for row in range(len(LABELS))]
    files = (*letor, "--feature", "1", "--format", "json")
    out = printed(capsys, "identify", "0.6667", "--measure", "rr", "--k", "3", *files)
    expected = ra.audit.identify("0.6667", LABELS, SCORES["good"], measure="rr", k=3, qid=QID, docid=docid)
    assert json.loads(out) == json.loads(expected.to_json())
    assert "rr@3/" in out
    out = printed(capsys, "profile", "--measure", "ap", "--k", "3", *files)
    expected = ra.audit.profile(LABELS, k=3, scores=SCORES["good"], measure="ap", qid=QID, docid=docid)
    assert json.loads(out) == json.loads(expected.to_json())


@pytest.mark.parametrize(("text", "k"), [("3", 3), ("all", None), ("unknown", "unknown")])
def test_a_cutoff_may_be_all_or_unknown(capsys, letor, text, k):
    out = printed(capsys, "identify", "1.00", "--k", text, *letor, "--feature", "1", "--format", "json")
    docid = [f"d{row}" for row in range(len(LABELS))]
    expected = ra.audit.identify("1.00", LABELS, SCORES["good"], k=k, qid=QID, docid=docid)
    assert json.loads(out)["matches"] == expected.to_dict()["matches"]


def test_profile_prints_what_profile_gives(capsys, letor):
    out = printed(capsys, "profile", "--k", "1", "all", *letor, "--feature", "2", "--format", "json")
    docid = [f"d{row}" for row in range(len(LABELS))]
    expected = ra.audit.profile(LABELS, k=[1, None], scores=SCORES["bad"], qid=QID, docid=docid)
    assert json.loads(out) == json.loads(expected.to_json())


def test_order_takes_a_model_from_each_feature(capsys, letor):
    pytest.importorskip("scipy")
    out = printed(capsys, *COMMANDS["order"], *letor, "--feature", "1", "2", "--seed", "4", "--format", "json")
    models = {"feature 1": SCORES["good"], "feature 2": SCORES["bad"]}
    conventions = [presets.yahoo(3), presets.letor4(3)]
    expected = ra.audit.order(LABELS, models, conventions, qid=QID, n_resamples=19, seed=4)
    assert json.loads(out) == json.loads(expected.to_json())


def test_order_takes_a_model_from_each_predictions_option_and_names_it(capsys, letor, predictions):
    pytest.importorskip("scipy")
    models = ("--predictions", f"mine={predictions['good']}", "--predictions", predictions["bad"])
    found = json.loads(printed(capsys, *COMMANDS["order"], *letor, *models, "--format", "json"))
    expected = ra.evaluate(LABELS, SCORES["good"], presets.yahoo(3), qid=QID).value
    assert list(found["values"]) == ["mine", "bad"]
    assert found["values"]["mine"][str(presets.yahoo(3))] == expected


def test_order_takes_a_model_from_each_score_column(capsys, write):
    pytest.importorskip("scipy")
    pytest.importorskip("pyarrow")
    lines = zip(QID, LABELS, *SCORES.values(), strict=True)
    table = write("q,label,good,bad\n" + "".join(f"{q},{y},{a},{b}\n" for q, y, a, b in lines), "rows.csv")
    columns = ("--label", "label", "--qid", "q", "--score", "good", "bad")
    found = json.loads(printed(capsys, *COMMANDS["order"], "--table", table, *columns, "--format", "json"))
    assert list(found["values"]) == ["good", "bad"]


def test_order_takes_a_model_from_each_run_though_these_retrieved_other_rows(capsys, write):
    pytest.importorskip("scipy")
    runs = []
    for name, scores in SCORES.items():
        kept = [row for row in range(len(LABELS)) if name == "good" or row != 0]
        lines = [f"{QID[row]} Q0 d{row} 1 {scores[row]} t\n" for row in kept]
        runs.append(write("".join([*lines, "6 Q0 x 1 1 t\n"]), f"{name}.run"))
    options = ("--qrels", write(QRELS, "qrels"), "--run", *runs, "--convention", "trec_eval_9@3", "--format", "json")
    left_out = "1 query of the run is not in the qrels and was left out: 6"
    found = json.loads(
        printed(capsys, "order", *options, "--resamples", "19", note=f"good: {left_out}\nbad: {left_out}\n")
    )
    for name, path in zip(SCORES, runs, strict=True):
        judgments = ra.io.read_trec(options[1], path)
        expected = ra.evaluate(judgments.queries, judgments.scores, presets.trec_eval_9(3)).value
        assert found["values"][name] == {str(presets.trec_eval_9(3)): expected}


@pytest.mark.parametrize("command", COMMANDS)
def test_tables_are_printed_whole(capsys, monkeypatch, letor, command):
    pytest.importorskip("rich")
    needs(command)
    monkeypatch.setenv("COLUMNS", "30")
    features = ("1", "2") if command == "order" else ("1",)
    out = printed(capsys, *COMMANDS[command], *letor, "--feature", *features)
    assert "…" not in out
    expected = {
        "explain": "From ndcg@3/yahoo to ndcg@3/letor4",
        "identify": "0.6667 is given by",
        "order": "Values, and ranks among the models",
        "profile": "3 queries, 7 rows, up to 3 in a query",
    }
    assert out.startswith(expected[command])
    assert "───" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_markdown_and_json_need_no_rich(capsys, monkeypatch, letor, command):
    needs(command)
    monkeypatch.setitem(sys.modules, "rich", None)
    files = (*letor, "--feature", *(("1", "2") if command == "order" else ("1",)))
    assert "| --- |" in printed(capsys, *COMMANDS[command], *files, "--format", "markdown")
    assert json.loads(printed(capsys, *COMMANDS[command], *files, "--format", "json"))
    assert 'pip install "rankadapters[cli]"' in refused(capsys, *COMMANDS[command], *files)


def test_report_writes_the_page(capsys, letor, tmp_path):
    for package in ("scipy", "matplotlib", "jinja2"):
        pytest.importorskip(package)
    out = tmp_path / "page.html"
    options = ("--convention", "yahoo@3", "letor4@3", "--resamples", "19", "--title", "Mine")
    assert printed(capsys, "report", str(out), *letor, "--feature", "1", "2", *options) == f"{out}\n"
    models = {"feature 1": SCORES["good"], "feature 2": SCORES["bad"]}
    conventions = [presets.yahoo(3), presets.letor4(3)]
    assert out.read_text(encoding="utf-8") == ra.audit.page(
        LABELS, models, conventions, title="Mine", n_resamples=19, qid=QID
    )  # fmt: skip
    folder = tmp_path / "new" / "folder" / "page.html"
    assert printed(capsys, "report", str(folder), *letor, "--feature", "1", "2", *options) == f"{folder}\n"
    assert folder.read_bytes() == out.read_bytes()
    assert "cannot be written: Is a directory. Hint:" in refused(
        capsys, "report", str(tmp_path), *letor, "--feature", "1", *options
    )


@pytest.fixture
def pipe(monkeypatch):
    """Hand a file to standard input."""
    return lambda path: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(path).read_bytes())))


def order(*options):
    return (*COMMANDS["order"], *options, "--format", "json")


def test_a_file_of_several_models_may_be_standard_input(capsys, letor, predictions, pipe):
    pytest.importorskip("scipy")
    good, bad = (("--predictions", f"{name}={predictions[name]}") for name in ("good", "bad"))
    expected = printed(capsys, *order(*letor, *good, *bad))
    pipe(predictions["good"])
    assert printed(capsys, *order(*letor, "--predictions", "good=-", *bad)) == expected
    pipe(letor[1])
    assert printed(capsys, *order("--features", "-", *good, *bad)) == expected
    pipe(predictions["good"])
    assert '"standard input"' in printed(capsys, *order(*letor, "--predictions", "-", *bad))


def test_two_models_cannot_both_be_standard_input(capsys, letor, pipe):
    pipe(letor[1])
    found = refused(capsys, *order(*letor, "--predictions", "a=-", "--predictions", "b=-"))
    assert "'-' was given 2 times (--predictions, --predictions)" in found


def test_profile_without_scores_takes_no_feature_from_a_comment(capsys, write, pipe):
    rows = write("# 10:30 o'clock\n1 qid:1 3:1 # 11:30\n0 qid:1 3:2\n", "a.txt")
    expected = printed(capsys, "profile", "--features", rows, "--format", "json")
    assert json.loads(expected)
    pipe(rows)
    assert printed(capsys, "profile", "--features", "-", "--format", "json") == expected


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("explain", "--a", "yahoo@3"), "required: --b"),
        (("explain", "--a", "foo@3", "--b", "yahoo@3"), "argument --a: 'foo@3' is neither a preset@k"),
        (("explain", "--a", "yahoo@3", "--b", "yahoo@x"), "argument --b: 'yahoo@x' is neither"),
        (("explain", "--a", "yahoo@3", "--b", "yahoo@3", "--top", "-1"), "argument --top: '-1' is no whole number"),
        (("explain", "--a", "yahoo@3", "--b", "yahoo@3"), "nothing to evaluate"),
        (("identify",), "required: VALUE"),
        (("identify", "0.5", "--k", "0"), "argument --k: '0' is not a cutoff; allowed are"),
        (("profile", "--k", "unknown"), "argument --k: 'unknown' is not a cutoff"),
        (("order",), "required: --convention"),
        (("order", "--convention", "yahoo@3", "--resamples", "0"), "argument --resamples: '0' is no whole number"),
        (("order", "--convention", "foo@3"), "argument --convention: 'foo@3' is neither"),
        (("report",), "required: OUT.html"),
    ],
)
def test_bad_arguments_are_one_line_that_names_them(capsys, arguments, match):
    formats = () if arguments[0] == "report" else ("--format", "json")
    assert match in refused(capsys, *arguments, *formats)


def test_bad_numbers_are_one_line_that_names_them(capsys, letor):
    options = ("--feature", "1", "--format", "json")
    assert "value=16.23 is outside [0, 1]" in refused(capsys, "identify", "16.23", *letor, *options)
    assert "value='x' is not a number" in refused(capsys, "identify", "x", *letor, *options)


def test_a_label_without_a_gain_is_named_by_file_and_line(capsys, write):
    files = "--features", write("# head\n-1 qid:1 1:1 2:1\n", "negative.txt"), "--format", "json"
    for command, features in (("explain", ["1"]), ("order", ["1", "2"])):
        needs(command)
        found = refused(capsys, *COMMANDS[command], *files, "--feature", *features)
        assert "negative.txt, line 2: labels[0] is -1" in found


def test_two_models_of_one_name_are_refused(capsys, letor, predictions):
    pytest.importorskip("scipy")
    models = ("--predictions", predictions["good"], "--predictions", f"good={predictions['bad']}", "--format", "json")
    assert "two models are named 'good'. Hint: --predictions NAME=FILE" in refused(
        capsys, *COMMANDS["order"], *letor, *models
    )


def test_a_model_with_another_number_of_rows_is_named(capsys, letor, predictions, write):
    pytest.importorskip("scipy")
    models = ("--predictions", predictions["good"], "--predictions", write("1\n", "short.txt"), "--format", "json")
    assert "short.txt: 1 predictions for the 7 rows" in refused(capsys, *COMMANDS["order"], *letor, *models)


def test_one_model_has_no_order(capsys, letor):
    pytest.importorskip("scipy")
    assert "1 of at least 2 models was given" in refused(
        capsys, *COMMANDS["order"], *letor, "--feature", "1", "--format", "json"
    )


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_is_shown_on_a_terminal_only(monkeypatch, letor):
    pytest.importorskip("rich")
    shown = {}
    for kind in (Terminal, io.StringIO):
        stderr, stdout = kind(), io.StringIO()
        monkeypatch.setattr(sys, "stderr", stderr)
        monkeypatch.setattr(sys, "stdout", stdout)
        monkeypatch.setenv("TERM", "xterm")
        assert cli.main([*COMMANDS["identify"], *letor, "--feature", "1", "--format", "json"]) == 0
        shown[kind] = stderr.getvalue()
        assert json.loads(stdout.getvalue())
    assert "searching" in shown[Terminal]
    assert shown[io.StringIO] == ""


def test_help_imports_nothing_heavy():
    code = (
        "import sys, rankadapters.cli as cli\n"
        "assert cli.main(['explain', '--a', 'yahoo@3', '--b', 'yahoo@3', '--format', 'json']) == 2\n"
        "heavy = {'numba', 'scipy', 'matplotlib', 'jinja2', 'rich.table', 'pyarrow'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"


@pytest.mark.skipif(not MQ2008.is_dir(), reason="MQ2008 is not beside this checkout")
def test_bm25_on_mq2008_is_explained_and_identified(capsys):
    files = ("--features", *(str(MQ2008 / f"S{part}.txt") for part in range(1, 6)), "--feature", "25")
    explained = printed(capsys, "explain", "--a", "yahoo@10", "--b", "letor4@10", *files, "--format", "json")
    found = json.loads(explained)
    assert [f"{found[side]['value']:.4f}" for side in ("a", "b")] == ["0.6791", "0.1623"]
    assert sum(found["contributions"].values()) == pytest.approx(found["gap"], abs=1e-15)
    first = json.loads(printed(capsys, "identify", "0.1623", *files, "--format", "json"))["matches"][0]
    assert first["signature"] == str(presets.letor4(10))
    first = json.loads(printed(capsys, "identify", "0.2947", "--k", "3", *files, "--format", "json"))["matches"][0]
    assert "trec_eval_9" in first["near"]
    assert first["changes"] == {"gain": "exp2"}


def test_profile_needs_no_scores(capsys, tmp_path):
    features, table = tmp_path / "features.txt", tmp_path / "table.csv"
    features.write_text("2 qid:1 3:0.5\n0 qid:1 3:0.1\n1 qid:2 3:0.2\n")
    table.write_text("grade,query\n2,1\n0,1\n1,2\n")
    found = ra.audit.profile([2, 0, 1], qid=["1", "1", "2"], k=10)
    for source in (["--features", str(features)], ["--table", str(table), "--label", "grade", "--qid", "query"]):
        assert cli.main(["profile", *source, "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["effects"] == found.to_dict()["effects"]


def test_runs_of_one_file_name_are_told_apart_by_names_of_ones_own(capsys, tmp_path):
    qrels = tmp_path / "qrels"
    qrels.write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 c 0\n")
    runs = []
    for folder, order in (("one", "ab"), ("two", "ba")):
        (tmp_path / folder).mkdir()
        runs.append(tmp_path / folder / "run")
        runs[-1].write_text(
            "".join(f"1 Q0 {docid} {rank} {-rank} x\n" for rank, docid in enumerate(order)) + "2 Q0 a 1 1 x\n"
        )
    common = ["order", "--qrels", str(qrels), "--convention", "trec_eval_9@2", "letor4@2", "--run"]
    assert cli.main([*common, *map(str, runs)]) == 2
    assert "--run NAME=FILE" in capsys.readouterr().err
    assert cli.main([*common, f"first={runs[0]}", f"second={runs[1]}"]) == 0
    assert "second" in capsys.readouterr().out
