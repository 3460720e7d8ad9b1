"""`rankadapters explain`, `identify` and `profile`, and what all audits of the command share."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import rankadapters as ra
from rankadapters import presets
from tests.helpers.audit_command_data import COMMANDS, LABELS, QID, SCORES, letor, needs, predictions
from tests.helpers.audit_data import MQ2008
from tests.helpers.command import printed, refused, run

__all__ = ["letor", "predictions"]  # fixtures

ROOT = Path(__file__).parent.parent.parent


def test_explain_prints_what_explain_gives(capsys, letor):
    out = printed(capsys, *COMMANDS["explain"], *letor, "--feature", "1", "--top", "2", "--format", "json")
    expected = ra.audit.explain(LABELS, SCORES["good"], presets.yahoo(3), presets.letor4(3), qid=QID, top=2)
    assert json.loads(out) == json.loads(expected.to_json())


def test_identify_prints_what_identify_gives_and_exits_by_it(capsys, letor):
    docid = [f"d{row}" for row in range(len(LABELS))]
    for value, code in (("0.6667", 0), ("0.1234", 1)):
        out = printed(capsys, "identify", value, "--k", "3", *letor, "--feature", "1", "--format", "json", code=code)
        expected = ra.audit.identify(LABELS, SCORES["good"], value=value, k=3, qid=QID, docid=docid)
        assert json.loads(out) == json.loads(expected.to_json())
        assert bool(expected) is (code == 0)


@pytest.mark.parametrize(
    ("texts", "value", "models"),
    [
        (["2=0.5", "3=0.6667"], {2: "0.5", 3: "0.6667"}, ["good"]),
        (["feature 1:3=0.6667"], {3: "0.6667"}, ["good"]),
        (
            ["feature 1:ndcg@2=0.5", "feature 1:all=0.6667", "feature 2:3=0.25"],
            {"feature 1": {2: "0.5", None: "0.6667"}, "feature 2": {3: "0.25"}}, ["good", "bad"],
        ),
        (["feature 1:0.50", "feature 2:0.50"], {"feature 1": "0.50", "feature 2": "0.50"}, ["good", "bad"]),
    ],
    ids=["two cutoffs", "one model", "two models, three cutoffs", "two models, no cutoff"],
)  # fmt: skip
def test_identify_takes_several_numbers(capsys, letor, texts, value, models):
    docid = [f"d{row}" for row in range(len(LABELS))]
    scores = {f"feature {number}": SCORES[name] for number, name in enumerate(models, 1)}
    expected = ra.audit.identify(
        LABELS, scores if len(scores) > 1 else SCORES["good"], value=value, qid=QID, docid=docid
    )
    features = [str(number) for number in range(1, len(models) + 1)]
    command = ("identify", *texts, *letor, "--feature", *features, "--format", "json")
    assert json.loads(printed(capsys, *command, code=0 if expected else 1)) == json.loads(expected.to_json())


def test_a_number_of_several_models_needs_a_name(capsys, letor):
    files = (*letor, "--feature", "1", "2", "--format", "json")
    assert "scores has 2 models, but value='0.5'" in refused(capsys, "identify", "0.5", *files)
    assert "value has a number for the model ''" in refused(capsys, "identify", "2=0.5", "feature 1:3=0.5", *files)


def test_numbers_of_one_model_need_a_cutoff_each(capsys, letor):
    files = (*letor, "--feature", "1", "--format", "json")
    for texts in (["0.5", "0.6"], ["5=0.5", "5=0.6"], ["0.5", "5=0.6"]):
        assert "repeats a model and cutoff" in refused(capsys, "identify", *texts, *files), texts


def test_identify_and_profile_take_a_measure(capsys, letor):
    docid = [f"d{row}" for row in range(len(LABELS))]
    files = (*letor, "--feature", "1", "--format", "json")
    out = printed(capsys, "identify", "0.6667", "--measure", "rr", "--k", "3", *files)
    expected = ra.audit.identify(LABELS, SCORES["good"], value="0.6667", measure="rr", k=3, qid=QID, docid=docid)
    assert json.loads(out) == json.loads(expected.to_json())
    assert "rr@3/" in out
    out = printed(capsys, "profile", "--measure", "ap", "--k", "3", *files)
    expected = ra.audit.profile(LABELS, k=3, scores=SCORES["good"], measure="ap", qid=QID, docid=docid)
    assert json.loads(out) == json.loads(expected.to_json())


@pytest.mark.parametrize(("text", "k"), [("3", 3), ("all", None), ("unknown", "unknown")])
def test_a_cutoff_may_be_all_or_unknown(capsys, letor, text, k):
    out = printed(capsys, "identify", "1.00", "--k", text, *letor, "--feature", "1", "--format", "json")
    docid = [f"d{row}" for row in range(len(LABELS))]
    expected = ra.audit.identify(LABELS, SCORES["good"], value="1.00", k=k, qid=QID, docid=docid)
    assert json.loads(out)["matches"] == expected.to_dict()["matches"]


def test_profile_prints_what_profile_gives(capsys, letor):
    out = printed(capsys, "profile", "--k", "1", "all", *letor, "--feature", "2", "--format", "json")
    docid = [f"d{row}" for row in range(len(LABELS))]
    expected = ra.audit.profile(LABELS, k=[1, None], scores=SCORES["bad"], qid=QID, docid=docid)
    assert json.loads(out) == json.loads(expected.to_json())


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


BAD_ARGUMENTS = [
    (("explain", "--a", "yahoo@3"), "required: --b"),
    (("explain", "--a", "foo@3", "--b", "yahoo@3"), "argument --a: 'foo@3' is neither a preset@k"),
    (("explain", "--a", "yahoo@3", "--b", "yahoo@x"), "argument --b: 'yahoo@x' is neither"),
    (("explain", "--a", "yahoo@3", "--b", "yahoo@3", "--top", "-1"), "argument --top: '-1' is not a whole number"),
    (("explain", "--a", "yahoo@3", "--b", "yahoo@3"), "nothing to evaluate"),
    (("identify",), "required: VALUE"),
    (("identify", "0.5", "--k", "0"), "argument --k: '0' is not a cutoff; allowed are"),
    (("profile", "--k", "unknown"), "argument --k: 'unknown' is not a cutoff"),
    (("order",), "required: --convention"),
    (("order", "--convention", "yahoo@3", "--resamples", "0"), "argument --resamples: '0' is not a whole number"),
    (("order", "--convention", "foo@3"), "argument --convention: 'foo@3' is neither"),
    (("report",), "required: OUT.html"),
]


def test_bad_arguments_are_one_line_that_names_them(capsys):
    for arguments, match in BAD_ARGUMENTS:
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
        assert run(*COMMANDS["identify"], *letor, "--feature", "1", "--format", "json") == 0
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
    first = json.loads(printed(capsys, "identify", "0.1623", "--k", "10", *files, "--format", "json"))["matches"][0]
    assert first["signature"] == str(presets.letor4(10))
    first = json.loads(printed(capsys, "identify", "0.2947", "--k", "3", *files, "--format", "json"))["matches"][0]
    assert "trec_eval_9" in first["near"]
    assert first["changes"] == {"gain": "exp2"}


def test_profile_needs_no_scores(capsys, tmp_path):
    features, table, qrels = (tmp_path / name for name in ("features.txt", "table.csv", "qrels"))
    features.write_text("2 qid:1 3:0.5\n0 qid:1 3:0.1\n1 qid:2 3:0.2\n")
    table.write_text("grade,query\n2,1\n0,1\n1,2\n")
    found = ra.audit.profile([2, 0, 1], qid=["1", "1", "2"], k=10)
    qrels.write_text("1 0 a 2\n1 0 b 0\n2 0 a 1\n")
    columns = ["--label", "grade", "--qid", "query"]
    for source in (["--features", str(features)], ["--table", str(table), *columns], ["--qrels", str(qrels)]):
        assert run("profile", *source, "--format", "json") == 0
        assert json.loads(capsys.readouterr().out)["effects"] == found.to_dict()["effects"]
