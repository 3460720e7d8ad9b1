"""`rankadapters explain`, `identify` and `profile`, and properties of every audit command."""

from __future__ import annotations

import io
import json
import shlex
import sys

import pytest

import rankadapters as ra
from rankadapters import presets
from tests.helpers.audit_files import COMMANDS, LABELS, QID, SCORES
from tests.helpers.command import Terminal, error_of, output_of, run
from tests.helpers.shared_data import mq2008_files
from tests.helpers.tables import for_each

DATA = {"qid": QID, "docid": [f"d{row}" for row in range(len(LABELS))]}


def identify(scores=SCORES["good"], **options):
    return ra.audit.identify(LABELS, scores, **options, **DATA)


def models(*names):
    return {f"feature {number}": SCORES[name] for number, name in enumerate(names, 1)}


THREE_VALUES = {"feature 1": {2: "0.5", None: "0.6667"}, "feature 2": {3: "0.25"}}
HALVES = {"feature 1": "0.50", "feature 2": "0.50"}
PRINTED = [
    ("explain --a yahoo@3 --b letor4@3 --top 2 --feature 1",
     lambda: ra.audit.explain(LABELS, SCORES["good"], presets.yahoo(3), presets.letor4(3), qid=QID, top=2)),
    ("identify 0.6667 --k 3 --feature 1", lambda: identify(value="0.6667", k=3)),
    ("identify 0.1234 --k 3 --feature 1", lambda: identify(value="0.1234", k=3)),
    ("identify 1.00 --k all --feature 1", lambda: identify(value="1.00", k=None)),
    ("identify 1.00 --k unknown --feature 1", lambda: identify(value="1.00", k="unknown")),
    ("identify 0.6667 --measure rr --k 3 --feature 1", lambda: identify(value="0.6667", measure="rr", k=3)),
    ("identify 2=0.5 3=0.6667 --feature 1", lambda: identify(value={2: "0.5", 3: "0.6667"})),
    ("identify 'feature 1:3=0.6667' --feature 1", lambda: identify(value={3: "0.6667"})),
    ("identify 'feature 1:2=0.5' 'feature 1:all=0.6667' 'feature 2:3=0.25' --feature 1 2",
     lambda: identify(models("good", "bad"), value=THREE_VALUES)),
    ("identify 'feature 1:0.50' 'feature 2:0.50' --feature 1 2", lambda: identify(models("good", "bad"), value=HALVES)),
    ("profile --k 1 all --feature 2", lambda: ra.audit.profile(LABELS, k=[1, None], scores=SCORES["bad"], **DATA)),
    ("profile --measure ap --k 3 --feature 1",
     lambda: ra.audit.profile(LABELS, k=3, scores=SCORES["good"], measure="ap", **DATA)),
]  # fmt: skip


WITHOUT_MATCH = ("identify 0.1234", "identify 2=0.5", "identify 'feature 1:2=", "identify 'feature 1:0.50'")


@for_each(("command", "audit"), PRINTED, ids=[command for command, _ in PRINTED])
def test_an_audit_prints_its_result_and_identify_exits_with_1_without_a_match(capsys, audit_data, command, audit):
    expected = audit()
    code = int(command.startswith("identify") and not expected)
    out = output_of(capsys, *shlex.split(command), *audit_data, "--format", "json", code=code)
    assert json.loads(out) == json.loads(expected.to_json())
    assert code == command.startswith(WITHOUT_MATCH)


def test_ambiguous_or_invalid_values_to_identify_are_refused(capsys, audit_data):
    files = (*audit_data, "--format", "json", "--feature", "1")
    assert "scores has 2 models, but value='0.5'" in error_of(capsys, "identify", "0.5", *files, "2")
    assert "value has a number for the model ''" in error_of(
        capsys, "identify", "2=0.5", "feature 1:3=0.5", *files, "2"
    )
    for texts in (["0.5", "0.6"], ["5=0.5", "5=0.6"], ["0.5", "5=0.6"]):
        assert "repeats a model and cutoff" in error_of(capsys, "identify", *texts, *files), texts
    assert "argument VALUE: 'x' is not a cutoff" in error_of(capsys, "identify", "x=0.5", *files)
    assert "value=16.23 is outside [0, 1]" in error_of(capsys, "identify", "16.23", *files)
    assert "value='x' is not a number" in error_of(capsys, "identify", "x", *files)


@for_each("command", COMMANDS)
def test_tables_are_not_cut_to_the_terminal(capsys, monkeypatch, audit_data, command):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "30")
    features = ("1", "2") if command == "order" else ("1",)
    out = output_of(capsys, *COMMANDS[command], *audit_data, "--feature", *features)
    assert "…" not in out
    expected = {
        "explain": "From ndcg@3/yahoo to ndcg@3/letor4",
        "identify": "0.6667 is given by",
        "order": "Values, and ranks among the models",
        "profile": "3 queries, 7 rows, up to 3 in a query",
    }
    assert out.startswith(expected[command])
    assert "───" in out


@for_each("command", COMMANDS)
def test_no_format_needs_rich(capsys, monkeypatch, audit_data, command):
    monkeypatch.setitem(sys.modules, "rich", None)
    files = (*audit_data, "--feature", *(("1", "2") if command == "order" else ("1",)))
    assert "| --- |" in output_of(capsys, *COMMANDS[command], *files, "--format", "markdown")
    assert json.loads(output_of(capsys, *COMMANDS[command], *files, "--format", "json"))
    table = output_of(capsys, *COMMANDS[command], *files)
    assert table.strip()
    assert "───" not in table


BAD_ARGUMENTS = [
    (("explain", "--a", "yahoo@3"), "required: --b"),
    (("explain", "--a", "foo@3", "--b", "yahoo@3"), "argument --a: 'foo@3' is neither a preset@k"),
    (("explain", "--a", "yahoo@3", "--b", "yahoo@x"), "argument --b: 'x' in 'yahoo@x' is not a cutoff"),
    (("explain", "--a", "yahoo@3", "--b", "yahoo@3", "--top", "-1"), "argument --top: '-1' is not a whole number"),
    (("explain", "--a", "yahoo@3", "--b", "yahoo@3"), "nothing to evaluate"),
    (("identify",), "required: VALUE"),
    (("identify", "0.5", "--k", "0"), "argument --k: '0' is not a cutoff; allowed are"),
    (("profile", "--k", "unknown"), "argument --k: 'unknown' is not a cutoff"),
    (("order",), "neither --convention nor --measure was given"),
    (("order", "--convention", "yahoo@3", "--resamples", "0"), "argument --resamples: '0' is not a whole number"),
    (("order", "--convention", "foo@3"), "argument --convention: 'foo@3' is neither"),
    (("order", "--out", "page.html"), "neither --convention nor --measure was given"),
]


def test_bad_arguments_are_refused_in_one_line(capsys):
    for arguments, match in BAD_ARGUMENTS:
        assert match in error_of(capsys, *arguments, "--format", "json")


def test_a_label_without_a_gain_is_refused_with_file_and_line(capsys, write):
    files = "--features", write("# head\n-1 qid:1 1:1 2:1\n", "negative.txt"), "--format", "json"
    for command, features in (("explain", ["1"]), ("order", ["1", "2"])):
        error = error_of(capsys, *COMMANDS[command], *files, "--feature", *features)
        assert "negative.txt, line 2: labels[0] is -1" in error


def test_the_progress_bar_is_printed_only_on_a_terminal(monkeypatch, audit_data):
    pytest.importorskip("rich")
    progress = {}
    for stream in (Terminal, io.StringIO):
        stderr, stdout = stream(), io.StringIO()
        monkeypatch.setattr(sys, "stderr", stderr)
        monkeypatch.setattr(sys, "stdout", stdout)
        monkeypatch.setenv("TERM", "xterm")
        assert run(*COMMANDS["identify"], *audit_data, "--feature", "1", "--format", "json") == 0
        progress[stream] = stderr.getvalue()
        assert json.loads(stdout.getvalue())
    assert "searching" in progress[Terminal]
    assert progress[io.StringIO] == ""


def test_bm25_on_mq2008_is_explained_and_identified(capsys):
    files = ("--features", *mq2008_files(), "--feature", "25")
    explained = output_of(capsys, "explain", "--a", "yahoo@10", "--b", "letor4@10", *files, "--format", "json")
    report = json.loads(explained)
    assert [f"{report[side]['value']:.4f}" for side in ("a", "b")] == ["0.6791", "0.1623"]
    assert sum(report["contributions"].values()) == pytest.approx(report["gap"], abs=1e-15)
    match = json.loads(output_of(capsys, "identify", "0.1623", "--k", "10", *files, "--format", "json"))["matches"][0]
    assert match["signature"] == str(presets.letor4(10))
    match = json.loads(output_of(capsys, "identify", "0.2947", "--k", "3", *files, "--format", "json"))["matches"][0]
    assert "trec_eval_9" in match["near"]
    assert match["changes"] == {"gain": "exp2"}


def test_profile_needs_no_scores(capsys, tmp_path):
    features, table, qrels = (tmp_path / name for name in ("features.txt", "table.csv", "qrels"))
    features.write_text("2 qid:1 3:0.5\n0 qid:1 3:0.1\n1 qid:2 3:0.2\n")
    table.write_text("grade,query\n2,1\n0,1\n1,2\n")
    expected = ra.audit.profile([2, 0, 1], qid=["1", "1", "2"], k=10)
    qrels.write_text("1 0 a 2\n1 0 b 0\n2 0 a 1\n")
    columns = ["--label", "grade", "--qid", "query"]
    for source in (["--features", str(features)], ["--table", str(table), *columns], ["--qrels", str(qrels)]):
        report = json.loads(output_of(capsys, "profile", *source, "--format", "json"))
        assert report["effects"] == expected.to_dict()["effects"]
