"""`rankadapters explain`, `identify` and `profile`, and properties of every audit command."""

from __future__ import annotations

import importlib.util
import io
import json
import shlex
import sys

import pytest

import rankadapters as ra
from rankadapters import presets
from tests.cli.audit_files import COMMANDS, LABELS, QID, SCORES
from tests.helpers.command import Terminal, output_of, report_of, run
from tests.helpers.parameters import long_except

DATA = {"qid": QID, "docid": [f"d{row}" for row in range(len(LABELS))]}


def identify(scores=SCORES["good"], **options):
    return ra.audit.identify(LABELS, scores, **options, **DATA)


def models(*names):
    return {f"feature {number}": SCORES[name] for number, name in enumerate(names, 1)}


THREE_VALUES = {"feature 1": {2: "0.5", None: "0.6667"}, "feature 2": {3: "0.25"}}
HALVES = {"feature 1": "0.50", "feature 2": "0.50"}
PRINTED = {
    "explain --a yahoo@3 --b letor4@3 --top 2 --feature 1": lambda: (
        ra.audit.explain(LABELS, SCORES["good"], presets.yahoo(3), presets.letor4(3), qid=QID, top=2)
    ),
    "identify 0.6667 --k 3 --feature 1": lambda: identify(value="0.6667", k=3),
    "identify 0.1234 --k 3 --feature 1": lambda: identify(value="0.1234", k=3),
    "identify 1.00 --k all --feature 1": lambda: identify(value="1.00", k=None),
    "identify 1.00 --k unknown --feature 1": lambda: identify(value="1.00", k="unknown"),
    "identify 0.6667 --measure rr --k 3 --feature 1": lambda: identify(value="0.6667", measure="rr", k=3),
    "identify 2=0.5 3=0.6667 --feature 1": lambda: identify(value={2: "0.5", 3: "0.6667"}),
    "identify 'feature 1:3=0.6667' --feature 1": lambda: identify(value={3: "0.6667"}),
    "identify 'feature 1:2=0.5' 'feature 1:all=0.6667' 'feature 2:3=0.25' --feature 1 2": lambda: (
        identify(models("good", "bad"), value=THREE_VALUES)
    ),
    "identify 'feature 1:0.50' 'feature 2:0.50' --feature 1 2": lambda: identify(models("good", "bad"), value=HALVES),
    "order --convention yahoo@3 letor4@3 --resamples 19 --seed 4 --feature 1 2": lambda: ra.audit.order(
        LABELS, models("good", "bad"), ["yahoo@3", "letor4@3"], qid=QID, n_resamples=19, random_state=4,
    ),
    "profile --k 1 all --feature 2": lambda: ra.audit.profile(LABELS, k=[1, None], scores=SCORES["bad"], **DATA),
    "profile --measure ap --k 3 --feature 1": lambda: (
        ra.audit.profile(LABELS, k=3, scores=SCORES["good"], measure="ap", **DATA)
    ),
}  # fmt: skip
SHORT = ("identify 0.6667 --k 3 --feature 1", "profile --measure ap --k 3 --feature 1", [*PRINTED][-3])
WITHOUT_MATCH = ("identify 0.1234", "identify 2=0.5", "identify 'feature 1:2=", "identify 'feature 1:0.50'")


@pytest.mark.parametrize("command", long_except(PRINTED, *SHORT))
def test_an_audit_prints_its_result_and_identify_exits_with_1_without_a_match(capsys, audit_data, command):
    expected = PRINTED[command]()
    code = int(command.startswith("identify") and not expected)
    out = output_of(capsys, *shlex.split(command), *audit_data, "--format", "json", code=code)
    assert json.loads(out) == json.loads(expected.to_json())
    assert code == command.startswith(WITHOUT_MATCH)


@pytest.mark.parametrize("command", long_except(COMMANDS, "explain", "identify", "order"))
def test_tables_are_not_cut_to_the_terminal_and_no_format_needs_rich(capsys, monkeypatch, audit_data, command):
    pytest.importorskip("rich")
    arguments = (*COMMANDS[command], *audit_data, "--feature", *(("1", "2") if command == "order" else ("1",)))
    with monkeypatch.context() as patch:
        patch.setenv("COLUMNS", "30")
        out = output_of(capsys, *arguments)
        patch.setitem(sys.modules, "rich", None)
        table, markdown, as_json = (
            output_of(capsys, *arguments, "--format", form) for form in ("table", "markdown", "json")
        )
    heads = {
        "explain": "From ndcg@3/yahoo to ndcg@3/letor4",
        "identify": "0.6667 is given by",
        "order": "Values, and ranks among the models",
        "profile": "3 queries, 7 rows, up to 3 in a query",
    }
    assert out.startswith(heads[command])
    assert "───" in out
    assert "…" not in out
    assert "───" not in table
    assert "| --- |" in markdown
    assert json.loads(as_json)


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


def test_profile_needs_no_scores(capsys, tmp_path):
    features, table, qrels = (tmp_path / name for name in ("features.txt", "table.csv", "qrels"))
    features.write_text("2 qid:1 3:0.5\n0 qid:1 3:0.1\n1 qid:2 3:0.2\n")
    table.write_text("grade,query\n2,1\n0,1\n1,2\n")
    expected = ra.audit.profile([2, 0, 1], qid=["1", "1", "2"], k=10)
    qrels.write_text("1 0 a 2\n1 0 b 0\n2 0 a 1\n")
    columns = ["--label", "grade", "--qid", "query"]
    for source in (["--features", str(features)], ["--table", str(table), *columns], ["--qrels", str(qrels)]):
        report = report_of(capsys, "profile", *source)
        assert report["effects"] == expected.to_dict()["effects"]


def test_order_compares_two_columns_of_a_table_in_each_segment(capsys, tmp_path):
    pytest.importorskip("pyarrow")
    table, page = tmp_path / "table.csv", tmp_path / "page.html"
    rows = [
        (query, label, label + query % 2, -label, "de" if query < 4 else "fr") for query in range(8) for label in (1, 0)
    ]
    table.write_text("qid,label,a,b,market\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    qid, labels, a, b, market = map(list, zip(*rows, strict=True))
    options = ("order", "--table", str(table), "--score", "a", "--score", "b", "--convention", "textbook@1")
    options += ("--resamples", "99", "--by", "market")
    expected = ra.audit.order(labels, {"a": a, "b": b}, "textbook@1", qid=qid, by=market, n_resamples=99)
    assert report_of(capsys, *options) == json.loads(expected.to_json())
    both = ra.audit.order(
        labels, {"a": a, "b": b}, "textbook@1", qid=qid, by={"market": market, "qid": qid}, n_resamples=99
    )
    assert report_of(capsys, *options, "qid")["segments"].keys() == both.to_dict()["segments"].keys()
    pooled = ra.audit.order(labels, {"a": a, "b": b}, ["lightgbm.auc"], qid=qid, n_resamples=99)
    pooled_options = (*options[:7], "--convention", "lightgbm.auc", "--resamples", "99")
    assert report_of(capsys, *pooled_options) == json.loads(pooled.to_json())
    if importlib.util.find_spec("matplotlib"):
        output_of(capsys, *options, "--out", str(page), note=f"{page}\n")
        assert "Segments of queries" in page.read_text()
