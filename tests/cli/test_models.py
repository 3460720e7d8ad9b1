"""`rankadapters order` compares several models that are read from files."""

from __future__ import annotations

from pathlib import Path

import pytest

import rankadapters as ra
from rankadapters import presets
from tests.cli.audit_files import COMMANDS, LABELS, QID, SCORES
from tests.cli.evaluate_files import LEFT_OUT
from tests.helpers.command import error_of, output_of, report_of, run


def test_order_compares_runs_that_retrieved_different_rows(capsys, runs):
    files = runs(0)
    options, note = ("--convention", "trec_eval_9@3", "--resamples", "19"), f"good: {LEFT_OUT}\nbad: {LEFT_OUT}\n"
    report = report_of(capsys, "order", *files, *options, note=note)
    for name, path in zip(SCORES, files[3:], strict=True):
        judgments = ra.io.read_trec(files[1], path)
        expected = ra.evaluate(judgments.queries, judgments.scores, presets.trec_eval_9(3)).value
        assert report["values"][name] == {str(presets.trec_eval_9(3)): expected}


@pytest.mark.long
def test_order_writes_the_html_page(capsys, audit_data, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "page.html"
    options = (*COMMANDS["order"], "--title", "Mine", *audit_data, "--feature")
    assert output_of(capsys, *options, "1", "2", "--out", out, note=f"{out}\n") == ""
    models = {"feature 1": SCORES["good"], "feature 2": SCORES["bad"]}
    page = ra.audit.page(LABELS, models, ["yahoo@3", "letor4@3"], title="Mine", n_resamples=19, qid=QID)
    assert out.read_text(encoding="utf-8") == page
    folder = tmp_path / "new" / "folder" / "page.html"
    assert output_of(capsys, *options, "1", "2", "--out", folder, note=f"{folder}\n") == ""
    assert folder.read_bytes() == out.read_bytes()
    assert output_of(capsys, *options, "1", "--out", out, note=f"{out}\n") == ""
    assert "feature 1" in out.read_text(encoding="utf-8")
    assert "cannot be written: Is a directory. Hint:" in error_of(capsys, *options, "1", "--out", tmp_path)


def test_order_writes_its_result_as_markdown(capsys, audit_data, tmp_path):
    out, options = tmp_path / "order.md", (*COMMANDS["order"], *audit_data, "--feature", "1", "2")
    assert output_of(capsys, *options, "--out", out, note=f"{out}\n") == ""
    assert out.read_text(encoding="utf-8") == output_of(capsys, *options, "--format", "markdown")


def test_runs_with_the_same_file_name_need_names(capsys, tmp_path):
    pytest.importorskip("rich")
    qrels = tmp_path / "qrels"
    qrels.write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 c 0\n")
    runs = []
    for folder, better, worse in (("one", "a", "b"), ("two", "b", "a")):
        (tmp_path / folder).mkdir()
        runs.append(tmp_path / folder / "run")
        runs[-1].write_text(f"1 Q0 {better} 1 2 x\n1 Q0 {worse} 2 1 x\n2 Q0 a 1 1 x\n")
    common = ["order", "--qrels", str(qrels), "--convention", "trec_eval_9@2", "letor4@2", "--run"]
    assert run(*common, *runs) == 2
    assert "--run NAME=FILE" in capsys.readouterr().err
    assert run(*common, f"first={runs[0]}", f"second={runs[1]}") == 0
    assert "second" in capsys.readouterr().out


def order_command(*options):
    return (*COMMANDS["order"], *options, "--format", "json")


def test_one_file_of_order_may_be_standard_input(capsys, audit_data, predictions, stdin):
    good, bad = (("--predictions", f"{name}={predictions[name]}") for name in ("good", "bad"))
    expected = output_of(capsys, *order_command(*audit_data, *good, *bad))
    stdin(predictions["good"].read_bytes())
    assert output_of(capsys, *order_command(*audit_data, "--predictions", "good=-", *bad)) == expected
    stdin(audit_data[1].read_bytes())
    assert output_of(capsys, *order_command("--features", "-", *good, *bad)) == expected
    stdin(predictions["good"].read_bytes())
    assert '"standard input"' in output_of(capsys, *order_command(*audit_data, "--predictions", "-", *bad))


def test_an_argument_with_an_equals_sign_is_a_path_if_the_file_exists(capsys, audit_data, predictions, monkeypatch):
    good, bad = Path(predictions["good"]), predictions["bad"]
    good.with_name("lr=0.1.txt").write_bytes(good.read_bytes())
    monkeypatch.chdir(good.parent)
    options = ("evaluate", *audit_data, "--convention", "letor4@3", "--predictions")
    for first, name in (("lr=0.1.txt", "lr=0.1"), (f"lr={good.name}", "lr")):
        rows = report_of(capsys, *options, first, "--predictions", bad)["conventions"]
        assert [row["model"] for row in rows] == [name, Path(bad).stem]
        assert rows[0]["value"] == ra.evaluate(LABELS, SCORES["good"], presets.letor4(3), qid=QID).value


def test_csv_of_order_says_on_the_other_stream_which_queries_were_compared(capsys, write):
    qrels = write("".join(f"{query} 0 d{row} {row % 2}\n" for query in range(6) for row in range(4)), "qrels")
    runs = [
        write("".join(f"{query} Q0 d{row} 1 {row} t\n" for query in range(n) for row in range(4)), name)
        for name, n in (("whole.run", 6), ("part.run", 3))
    ]
    options = ("--qrels", qrels, "--run", *runs, "--convention", "trec_eval_9.map", "--format", "csv")
    assert run("order", *options) == 0
    shown = capsys.readouterr()
    assert "whole" in shown.out
    assert "3 queries" in shown.err
