"""`rankadapters evaluate` with one model."""

from __future__ import annotations

import csv
import io
import json
import sys

import pytest

import rankadapters as ra
from rankadapters import presets
from tests.cli.evaluate_files import LEFT_OUT, error_of, output_of, report_of
from tests.helpers.checkout import mq2008_files
from tests.helpers.python_processes import run_python


@pytest.mark.parametrize("source", ["letor", "table"])
def test_json_has_the_values_of_evaluate(capsys, request, source):
    files = request.getfixturevalue(source)
    report = report_of(capsys, *files, "--convention", "letor4@1", "yahoo@5", "--per-query")
    assert list(report) == ["conventions", "queries", "note"]
    for row, convention in zip(report["conventions"], [presets.letor4(1), presets.yahoo(5)], strict=True):
        evaluator = ra.Evaluator([2, 0, 0], convention, group_sizes=[2, 1])
        score = evaluator.evaluate([0.5, 0.75, 1])
        counts = {"n_queries": 2, "n_scored": 2, "n_empty": 1, "n_short": score.n_short}
        assert row == {"name": convention.name, "signature": str(convention), "value": score.value, **counts}
        values = evaluator.per_query([0.5, 0.75, 1]).tolist()
        assert report["queries"][str(convention)] == dict(zip(["7", "9"], values, strict=True))


def test_a_run_is_evaluated_over_the_queries_of_the_qrels(capsys, trec):
    report = report_of(capsys, *trec, "--convention", "trec_eval_9@5", "--per-query")  # fmt: skip
    convention = presets.trec_eval_9(5)
    assert report["queries"] == {str(convention): {"7": pytest.approx(0.6309297535714575), "9": 0, "8": None}}
    counts = {name: report["conventions"][0][name] for name in ("n_queries", "n_scored", "n_empty", "n_short")}
    assert counts == {"n_queries": 3, "n_scored": 2, "n_empty": 1, "n_short": 3}
    assert report["note"] == LEFT_OUT


MEASURES = {
    "map": ["trec_eval_9.map"],
    "ndcg_cut.10": ["trec_eval_9@10"],
    "P_5,10": ["trec_eval_9.P@5", "trec_eval_9.P@10"],
    "ndcg_cut.1,2,3": ["trec_eval_9@1", "trec_eval_9@2", "trec_eval_9@3"],
    "nDCG@10": ["ir_measures@10"],
    "AP(rel=2)@5": ["ir_measures.ap@5+relevant=from_2"],
    "trec_eval.map": ["trec_eval_9.map"],
    "pytrec-eval.map": ["pytrec_eval.map"],
}


@pytest.mark.parametrize(("name", "conventions"), MEASURES.items())
def test_a_measure_may_have_the_name_that_trec_eval_or_ir_measures_has_for_it(capsys, trec, name, conventions):
    report = report_of(capsys, *trec, "--measure", name)
    assert [row["signature"] for row in report["conventions"]] == [str(ra.parse(text)) for text in conventions]


def test_measures_of_several_options_follow_the_conventions(capsys, trec):
    options = ("--measure", "map", "--convention", "pytrec_eval@5", "--measure", "P.5", "ir_measures.nDCG@5")
    names = [row["name"] for row in report_of(capsys, *trec, *options)["conventions"]]
    assert names == ["ndcg@5/pytrec_eval", "ap@all/trec_eval_9.map", "precision@5/trec_eval_9.P", "ndcg@5/ir_measures"]


def test_csv_has_a_row_per_convention_and_per_query(capsys, trec):
    def read(*options):
        out = output_of(capsys, *trec, *options, "--format", "csv", note=f"{LEFT_OUT}\n")
        return list(csv.DictReader(io.StringIO(out)))

    rows = read("--convention", "trec_eval_9@5")
    assert list(rows[0]) == ["name", "signature", "value", "n_queries", "n_scored", "n_empty", "n_short", "judged"]
    assert len(rows) == 1
    specs = ("--convention", "trec_eval_9@5", "--convention", str(presets.trec_eval_9(1)))
    rows = read(*specs, "--per-query")
    assert [row["qid"] for row in rows] == ["", "", "7", "9", "8", "7", "9", "8"]
    assert float(rows[2]["value"]) == pytest.approx(0.6309297535714575)
    assert rows[4]["value"] == ""


def test_the_table_shows_values_queries_signatures_and_the_note(capsys, trec, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "40")
    out = output_of(capsys, *trec, "--convention", "trec_eval_9@5", "trec_eval_9@1", "--per-query")
    assert "…" not in out
    lines = [line.split() for line in out.splitlines()]
    assert ["ndcg@5/trec_eval_9", "0.315465", "3", "2", "1", "3", "100.0", "%"] in lines
    assert ["7", "0.630930", "0.000000"] in lines
    assert ["8", "-", "-"] in lines
    assert f"\nndcg@5/trec_eval_9: {presets.trec_eval_9(5)}\n" in out
    assert out.endswith(f"\n{LEFT_OUT}\n")


@pytest.mark.parametrize(("choice", "n_queries"), [("merge", 1), ("separate", 2)])
def test_split_queries_merges_or_separates_a_query_that_returns(capsys, write, choice, n_queries):
    first, second = write("1 qid:7 1:1\n", "a.txt"), write("0 qid:7 1:2\n", "b.txt")
    files = ("--features", first, second, "--feature", "1", "--convention", "yahoo@5")
    report = report_of(capsys, *files, "--split-queries", choice)
    assert report["conventions"][0]["n_queries"] == n_queries
    assert "b.txt, line 1: query 7 returns" in error_of(capsys, *files)


def test_without_pyarrow_the_error_names_the_extra_and_without_rich_the_table_is_plain(
    capsys, monkeypatch, write, letor, table
):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    parquet = write(b"PAR1", "table.parquet")
    assert 'pip install "rankadapters[files]"' in error_of(capsys, "--table", parquet, *table[2:])
    assert output_of(capsys, *letor, "--convention", "yahoo@5", "--format", "csv")
    monkeypatch.setitem(sys.modules, "rich", None)
    head, values = output_of(capsys, *letor, "--convention", "yahoo@5").splitlines()[1:3]
    assert head.split() == ["convention", "value", "queries", "scored", "empty", "short"]
    assert values.startswith("ndcg@5/yahoo")


# Means of BM25 on MQ2008 at k = 1, 3, 5 and 10, as the original programs printed them.
BM25 = {
    **dict.fromkeys(("letor3", "letor4", "mslr"), (0.2568, 0.2994, 0.3400, 0.1623)),
    "yahoo": (0.5374, 0.5693, 0.6100, 0.6791),
    "ranklib": (0.2568, 0.2887, 0.3293, 0.3985),
    "trec_eval_9": (0.2761, 0.3049, 0.3449, 0.4069),
}
BM25_EXP = (0.2636, 0.2947, 0.3360, 0.3994)


@pytest.mark.long
def test_bm25_on_mq2008_has_the_means_that_other_programs_print():
    expected = {f"{name}@{k}": value for name, row in BM25.items() for k, value in zip((1, 3, 5, 10), row, strict=True)}
    for k, value in zip((1, 3, 5, 10), BM25_EXP, strict=True):
        expected[str(presets.trec_eval_9(k).replace(gain="exp2"))] = value
    files = mq2008_files()
    command = ("-m", "rankadapters", "evaluate", "--features", *files, "--feature", "25", "--format", "json")
    process = run_python(*command, "--convention", *expected)
    rows = json.loads(process.stdout)["conventions"]
    assert [round(row["value"], 4) for row in rows] == list(expected.values())
    assert {(row["n_queries"], row["n_scored"]) for row in rows} == {(784, 784)}


@pytest.mark.long
@pytest.mark.parametrize("form", ["table", "markdown", "latex", "json", "csv", "html"])
@pytest.mark.parametrize(
    "options", [(), ("--split-queries", "merge"), ("--per-query",)], ids=["streamed", "read", "per query"]
)
def test_every_format_has_the_interval_of_each_segment(capsys, write, form, options):
    pytest.importorskip("pyarrow")
    rows = [(query, label, score, query % 2) for query in (1, 2, 3, 4) for label, score in ((1, 2), (0, query))]
    table = write("\n".join(["qid,label,score,half", *(",".join(map(str, row)) for row in rows)]), "table.csv")
    qid, labels, scores, halves = zip(*rows, strict=True)
    segments = ra.evaluate(labels, scores, "textbook@2", qid=qid, by=[*map(str, halves)])
    expected = segments.to_dict()["segments"]
    assert [row["segment"] for row in expected] == ["0", "1", None]
    arguments = ("--table", table, "--by", "half", *options, "--convention", "textbook@2", "--format", form)
    out = output_of(capsys, *arguments)
    if form == "json":
        assert json.loads(out)["segments"] == expected
    elif form == "csv":
        lines = [line for line in csv.DictReader(io.StringIO(out)) if not line.get("qid")]
        numbers = [[float(line[name]) for name in ("value", "low", "high")] for line in lines]
        assert numbers == [[row[name] for name in ("value", "low", "high")] for row in expected]
    else:
        assert all(f"{abs(row[name]):.6f}" in out for row in expected for name in ("value", "low", "high"))


def test_the_share_of_judged_documents_is_counted_for_every_run(capsys, trec, write, letor):
    unknown = write("7 Q0 a#0 1 0.75 t\n7 Q0 b#0 2 0.5 t\n", "unknown.txt")
    arguments = (*trec, unknown, "--convention", "trec_eval_9@5")
    none = "none of the 2 retrieved documents is judged; qrels and run may name documents differently"
    note = f"run: {LEFT_OUT}\nunknown: {none}"
    report = report_of(capsys, *arguments)
    assert [row["judged"] for row in report["conventions"]] == [1, 0]
    assert report["note"] == note
    rows = list(csv.DictReader(io.StringIO(output_of(capsys, *arguments, "--format", "csv", note=f"{note}\n"))))
    assert [row["judged"] for row in rows] == ["1.0", "0.0"]
    table = output_of(capsys, *arguments, "--format", "markdown").splitlines()
    assert [line.split(" | ")[-1] for line in table[2:6]] == ["judged |", "---: |", "100.0 % |", "0.0 % |"]
    assert ",judged\n" not in output_of(capsys, *letor, "--convention", "letor4@5", "--format", "csv")


@pytest.mark.parametrize(("duplicates", "value"), [("best", 1.0), ("first", 0.5)])
def test_duplicates_says_which_row_of_a_document_counts(capsys, write, duplicates, value):
    qrels, run = write("7 0 a 1\n", "qrels"), write("7 Q0 a 1 1 t\n7 Q0 b 2 2 t\n7 Q0 a 3 3 t\n", "run")
    files = ("--qrels", qrels, "--run", run)
    report = report_of(capsys, *files, "--measure", "recip_rank", "--duplicates", duplicates)
    assert report["conventions"][0]["value"] == value
    assert "run, line 3: document 'a' of query '7' is also in line 1. Hint: " in error_of(capsys, *files)
