"""`rankadapters evaluate` with several models."""

from __future__ import annotations

import csv
import json

import pytest

import rankadapters as ra
from rankadapters import presets
from tests.cli.evaluate_files import error_of, output_of

LABELS, QID = [2, 0, 0, 1, 0], [7, 7, 7, 8, 8]
SCORES = {"good": [3, 2, 1, 2, 1], "bad": [1, 2, 3, 1, 2]}
CONVENTIONS = ("letor4@1", "yahoo@3")


def lines_of(values):
    return "".join(f"{value}\n" for value in values)


@pytest.fixture
def rows(write):
    columns = zip(LABELS, QID, *SCORES.values(), strict=True)
    lines = (f"{label} qid:{qid} 1:{good} 2:{bad} #docid = d{i}\n" for i, (label, qid, good, bad) in enumerate(columns))
    return "--features", write("".join(lines), "rows.txt")


@pytest.fixture
def predictions(rows, write):
    files = (f"{name}={write(lines_of(scores), f'{name}.txt')}" for name, scores in SCORES.items())
    return *rows, *(word for file in files for word in ("--predictions", file))


@pytest.fixture
def features(rows):
    return *rows, "--feature", "1", "2"


@pytest.fixture
def table(write):
    pytest.importorskip("pyarrow")
    lines = (f"{q},{y},{a},{b}\n" for q, y, a, b in zip(QID, LABELS, *SCORES.values(), strict=True))
    path = write("query,grade,good,bad\n" + "".join(lines), "table.csv")
    return "--table", path, "--label", "grade", "--qid", "query", "--score", "good", "bad"


@pytest.fixture
def runs(write):
    """Two runs; the second retrieves nothing for query 8."""
    qrels = write("".join(f"{q} 0 d{i} {y}\n" for i, (q, y) in enumerate(zip(QID, LABELS, strict=True))), "qrels")
    paths = []
    for name, scores in SCORES.items():
        retrieved = [i for i in range(len(QID)) if name == "good" or QID[i] == 7]
        lines = (f"{QID[i]} Q0 d{i} 1 {scores[i]} t\n" for i in retrieved)
        paths.append(write("".join([*lines, "6 Q0 x 1 1 t\n"]), f"{name}.run"))
    return "--qrels", qrels, "--run", *paths


def expected_score(convention, name):
    evaluator = ra.Evaluator(LABELS, convention, qid=QID)
    return evaluator.evaluate(SCORES[name]), evaluator.per_query(SCORES[name]).tolist()


@pytest.mark.parametrize("source", ["predictions", "features", "table"])
def test_json_names_the_model_of_each_value(capsys, request, source):
    files = request.getfixturevalue(source)
    names = [f"feature {number}" if source == "features" else name for number, name in enumerate(SCORES, 1)]
    out = output_of(capsys, *files, "--convention", *CONVENTIONS, "--per-query", "--format", "json")
    report = json.loads(out)
    assert list(report) == ["conventions", "queries", "note"]
    pairs = [(ra.parse(text), model) for text in CONVENTIONS for model in zip(names, SCORES, strict=True)]
    for row, (convention, (name, model)) in zip(report["conventions"], pairs, strict=True):
        score, values = expected_score(convention, model)
        counts = {count: getattr(score, count) for count in ("n_queries", "n_scored", "n_empty", "n_short")}
        declared = {"name": convention.name, "signature": str(convention)}
        assert row == {"model": name, **declared, "value": score.value, **counts}
        assert report["queries"][str(convention)][name] == dict(zip(["7", "8"], values, strict=True))


def test_csv_and_the_table_name_the_models(capsys, monkeypatch, predictions):
    options = (*predictions, "--convention", *CONVENTIONS, "--per-query")
    head, *lines = csv.reader(output_of(capsys, *options, "--format", "csv").splitlines())
    assert ",".join(head) == "model,name,signature,qid,value,n_queries,n_scored,n_empty,n_short"
    names = [[model, ra.parse(text).name] for text in CONVENTIONS for model in SCORES]
    assert [line[:2] for line in lines] == [*names, *(pair for pair in names for _ in range(2))]
    values = [line[4] for line in lines if line[:2] == ["bad", "ndcg@3/yahoo"] and line[3]]
    assert list(map(float, values)) == expected_score(presets.yahoo(3), "bad")[1]
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "30")
    out = output_of(capsys, *predictions, "--convention", "yahoo@3", "--per-query")
    table = [line.split() for line in out.splitlines()]
    (_, good_values), (bad, bad_values) = (expected_score(presets.yahoo(3), model) for model in SCORES)
    assert ["ndcg@3/yahoo", "bad", f"{bad.value:.6f}", "2", "2", "0", "1"] in table
    assert ["query", "good", "bad"] in table
    assert ["8", f"{good_values[1]:.6f}", f"{bad_values[1]:.6f}"] in table


def test_each_run_has_its_own_queries_counts_and_notes(capsys, runs):
    left_out = "1 query of the run is not in the qrels and was left out: 6"
    options = ("--convention", "trec_eval_9@3", "--per-query", "--format", "json")
    report = json.loads(output_of(capsys, *runs, *options))
    assert [(row["model"], row["n_scored"]) for row in report["conventions"]] == [("good", 2), ("bad", 1)]
    assert report["queries"][str(presets.trec_eval_9(3))]["bad"]["8"] is None
    assert report["note"] == f"good: {left_out}\nbad: {left_out}"
    for row, path in zip(report["conventions"], runs[3:], strict=True):
        judgments = ra.io.read_trec(runs[1], path)
        assert row["value"] == ra.evaluate(judgments.queries, judgments.scores, presets.trec_eval_9(3)).value


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_the_name_of_a_single_model_is_not_printed(capsys, rows, write, form):
    pytest.importorskip("rich")
    path = write(lines_of(SCORES["good"]), "scores.txt")
    options = ("--convention", *CONVENTIONS, "--per-query", "--format", form)
    unnamed = output_of(capsys, *rows, "--predictions", path, *options)
    assert output_of(capsys, *rows, "--predictions", f"mine={path}", *options) == unnamed
    assert output_of(capsys, *rows, "--feature", "1", *options) == unnamed
    assert "model" not in unnamed


def test_features_are_read_once_for_all_predictions(capsys, monkeypatch, predictions, write):
    reads = []
    letor = ra.io.read_letor
    monkeypatch.setattr(ra.io, "read_letor", lambda *files, **options: reads.append(files) or letor(*files, **options))
    options = ("--convention", "yahoo@3", "--format", "csv")
    output_of(capsys, *predictions, *options)
    assert len(reads) == 1
    short = ("--predictions", write("1\n", "short.txt"))
    assert "short.txt: 1 predictions for the 5 rows of " in error_of(capsys, *predictions, *short, *options[:2])
