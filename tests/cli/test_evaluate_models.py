"""`rankadapters evaluate` with several models."""

from __future__ import annotations

import csv

import pytest

import rankadapters as ra
from rankadapters import presets
from tests.cli.audit_files import LABELS, QID, SCORES
from tests.cli.evaluate_files import LEFT_OUT, error_of, output_of, report_of

CONVENTIONS = ("letor4@1", "yahoo@3")


@pytest.fixture
def predicted(audit_data, predictions):
    files = (f"{name}={path}" for name, path in predictions.items())
    return *audit_data, *(word for file in files for word in ("--predictions", file))


@pytest.fixture
def features(audit_data):
    return *audit_data, "--feature", "1", "2"


@pytest.fixture
def columns(write):
    pytest.importorskip("pyarrow")
    lines = (f"{q},{y},{a},{b}\n" for q, y, a, b in zip(QID, LABELS, *SCORES.values(), strict=True))
    path = write("query,grade,good,bad\n" + "".join(lines), "table.csv")
    return "--table", path, "--label", "grade", "--qid", "query", "--score", "good", "bad"


def expected_score(convention, name):
    evaluator = ra.Evaluator(LABELS, convention, qid=QID)
    return evaluator.evaluate(SCORES[name]), evaluator.per_query(SCORES[name]).tolist()


@pytest.mark.parametrize("source", ["predicted", "features", "columns"])
def test_json_names_the_model_of_each_value(capsys, request, source):
    files = request.getfixturevalue(source)
    names = [f"feature {number}" if source == "features" else name for number, name in enumerate(SCORES, 1)]
    report = report_of(capsys, *files, "--convention", *CONVENTIONS, "--per-query")
    assert list(report) == ["conventions", "queries", "note"]
    pairs = [(ra.parse(text), model) for text in CONVENTIONS for model in zip(names, SCORES, strict=True)]
    for row, (convention, (name, model)) in zip(report["conventions"], pairs, strict=True):
        score, values = expected_score(convention, model)
        counts = {count: getattr(score, count) for count in ("n_queries", "n_scored", "n_empty", "n_short")}
        declared = {"name": convention.name, "signature": str(convention)}
        assert row == {"model": name, **declared, "value": score.value, **counts}
        assert report["queries"][str(convention)][name] == dict(zip(["7", "8", "9"], values, strict=True))


def test_csv_and_the_table_name_the_models(capsys, monkeypatch, predicted):
    options = (*predicted, "--convention", *CONVENTIONS, "--per-query")
    head, *lines = csv.reader(output_of(capsys, *options, "--format", "csv").splitlines())
    assert ",".join(head) == "model,name,signature,qid,value,n_queries,n_scored,n_empty,n_short"
    names = [[model, ra.parse(text).name] for text in CONVENTIONS for model in SCORES]
    assert [line[:2] for line in lines] == [*names, *(pair for pair in names for _ in range(3))]
    values = [line[4] for line in lines if line[:2] == ["bad", "ndcg@3/yahoo"] and line[3]]
    assert list(map(float, values)) == expected_score(presets.yahoo(3), "bad")[1]
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "30")
    out = output_of(capsys, *predicted, "--convention", "yahoo@3", "--per-query")
    table = [line.split() for line in out.splitlines()]
    (_, good_values), (bad, bad_values) = (expected_score(presets.yahoo(3), model) for model in SCORES)
    assert ["ndcg@3/yahoo", "bad", f"{bad.value:.6f}", "3", "3", "1", "2"] in table
    assert ["query", "good", "bad"] in table
    assert ["8", f"{good_values[1]:.6f}", f"{bad_values[1]:.6f}"] in table


def test_each_run_has_its_own_queries_counts_and_notes(capsys, runs):
    files = runs(3, 4)  # both rows of query 8
    report = report_of(capsys, *files, "--convention", "trec_eval_9@3", "--per-query")
    assert [(row["model"], row["n_scored"]) for row in report["conventions"]] == [("good", 3), ("bad", 2)]
    assert report["queries"][str(presets.trec_eval_9(3))]["bad"]["8"] is None
    assert report["note"] == f"good: {LEFT_OUT}\nbad: {LEFT_OUT}"
    for row, path in zip(report["conventions"], files[3:], strict=True):
        judgments = ra.io.read_trec(files[1], path)
        assert row["value"] == ra.evaluate(judgments.queries, judgments.scores, presets.trec_eval_9(3)).value


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_the_name_of_a_single_model_is_not_printed(capsys, audit_data, predictions, form):
    pytest.importorskip("rich")
    path = predictions["good"]
    options = ("--convention", *CONVENTIONS, "--per-query", "--format", form)
    unnamed = output_of(capsys, *audit_data, "--predictions", path, *options)
    assert output_of(capsys, *audit_data, "--predictions", f"mine={path}", *options) == unnamed
    assert output_of(capsys, *audit_data, "--feature", "1", *options) == unnamed
    assert "model" not in unnamed


def test_features_are_read_once_for_all_predictions(capsys, monkeypatch, predicted, write):
    reads = []
    letor = ra.io.read_letor
    monkeypatch.setattr(ra.io, "read_letor", lambda *files, **options: reads.append(files) or letor(*files, **options))
    options = ("--convention", "yahoo@3", "--format", "csv")
    output_of(capsys, *predicted, *options)
    assert len(reads) == 1
    short = ("--predictions", write("1\n", "short.txt"))
    assert "short.txt: 1 predictions for the 7 rows of " in error_of(capsys, *predicted, *short, *options[:2])
