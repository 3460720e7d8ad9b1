"""`rankadapters evaluate` with several models."""

from __future__ import annotations

import io
import json

import pytest

import rankadapters as ra
from rankadapters import presets
from tests.helpers.evaluate_files import error_of, output_of

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


def test_csv_is_one_long_table_with_the_model_first(capsys, predictions):
    pandas = pytest.importorskip("pandas")
    options = (*predictions, "--convention", *CONVENTIONS, "--format", "csv")
    table = pandas.read_csv(io.StringIO(output_of(capsys, *options)))
    assert ",".join(table.columns) == "model,name,signature,value,n_queries,n_scored,n_empty,n_short"
    pairs = [[ra.parse(text).name, model] for text in CONVENTIONS for model in SCORES]
    assert table[["name", "model"]].to_numpy().tolist() == pairs
    table = pandas.read_csv(io.StringIO(output_of(capsys, *options, "--per-query")))
    assert len(table) == 4 + 8
    rows = table[table.qid.notna() & (table.name == "ndcg@3/yahoo")]
    values = rows.pivot(index="qid", columns="model", values="value")
    for model in SCORES:
        assert values[model].tolist() == expected_score(presets.yahoo(3), model)[1]


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


def test_the_table_names_the_models(capsys, monkeypatch, predictions):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "30")
    out = output_of(capsys, *predictions, "--convention", "yahoo@3", "--per-query")
    lines = [line.split() for line in out.splitlines()]
    assert lines[1] == ["convention", "model", "value", "queries", "scored", "empty", "short"]
    (good, good_values), (bad, bad_values) = (expected_score(presets.yahoo(3), model) for model in SCORES)
    assert ["ndcg@3/yahoo", "good", f"{good.value:.6f}", "2", "2", "0", "1"] in lines
    assert ["ndcg@3/yahoo", "bad", f"{bad.value:.6f}", "2", "2", "0", "1"] in lines
    assert ["query", "good", "bad"] in lines
    assert ["8", f"{good_values[1]:.6f}", f"{bad_values[1]:.6f}"] in lines


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_the_name_of_a_single_model_is_not_printed(capsys, rows, write, form):
    pytest.importorskip("rich")
    path = write(lines_of(SCORES["good"]), "scores.txt")
    options = ("--convention", *CONVENTIONS, "--per-query", "--format", form)
    unnamed = output_of(capsys, *rows, "--predictions", path, *options)
    assert output_of(capsys, *rows, "--predictions", f"mine={path}", *options) == unnamed
    assert output_of(capsys, *rows, "--feature", "1", *options) == unnamed
    assert "model" not in unnamed


def test_the_queries_are_bound_once_and_each_model_is_ranked_once(capsys, monkeypatch, table):
    from rankadapters.core.evaluation import evaluator

    bindings, rankings = [], []
    bind, measure = evaluator.bind, ra.Evaluator.measure
    monkeypatch.setattr(evaluator, "bind", lambda *args: bindings.append(args) or bind(*args))
    monkeypatch.setattr(ra.Evaluator, "measure", lambda self, scores: rankings.append(scores) or measure(self, scores))
    options = (*table, "--convention", *CONVENTIONS, "--format", "csv")
    for more, n_times in (((), 1), (("--split-queries", "merge"), 1), (("--per-query",), 2)):
        bindings.clear()
        rankings.clear()
        output_of(capsys, *options, *more)
        assert len(bindings) == n_times
        assert [scores.tolist() for scores in rankings] == n_times * list(SCORES.values())


def test_features_are_read_once_for_all_predictions(capsys, monkeypatch, predictions, write):
    reads = []
    letor = ra.io.read_letor
    monkeypatch.setattr(ra.io, "read_letor", lambda *files, **options: reads.append(files) or letor(*files, **options))
    options = ("--convention", "yahoo@3", "--format", "csv")
    output_of(capsys, *predictions, *options)
    assert len(reads) == 1
    short = ("--predictions", write("1\n", "short.txt"))
    assert "short.txt: 1 predictions for the 5 rows of " in error_of(capsys, *predictions, *short, *options[:2])


def test_two_models_with_the_same_name_are_refused(capsys, rows, predictions, table):
    twice = (*predictions, "--predictions", predictions[3])
    assert "two models are named 'good'. Hint: --predictions NAME=FILE." in error_of(
        capsys, *twice, "--convention", "yahoo@3"
    )
    assert "two models are named 'feature 1'. Hint: name each feature once." in error_of(
        capsys, *rows, "--feature", "1", "1", "--convention", "yahoo@3"
    )
    assert "two models are named 'good'. Hint: name each column once." in error_of(
        capsys, *table, "good", "--convention", "yahoo@3"
    )


def test_an_error_in_a_run_names_its_file_and_line(capsys, write, runs):
    run = write("7 Q0 d0 1 3 t\n7 Q0 new 1 2 t\n8 Q0 d3 1 1 t\n", "new.run")
    error = error_of(capsys, *runs[:4], run, "--convention", "trec_eval_9@3+unjudged=error")
    assert "new.run, line 2 (document 'new' of query '7'): " in error
