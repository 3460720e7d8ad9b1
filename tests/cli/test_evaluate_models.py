"""`rankadapters evaluate` with several models."""

from __future__ import annotations

import io
import json

import pytest

import rankadapters as ra
from rankadapters import presets
from tests.helpers.evaluate_files import printed, refused

LABELS, QID = [2, 0, 0, 1, 0], [7, 7, 7, 8, 8]
SCORES = {"good": [3, 2, 1, 2, 1], "bad": [1, 2, 3, 1, 2]}
CONVENTIONS = ("letor4@1", "yahoo@3")


def numbered(values):
    return "".join(f"{value}\n" for value in values)


@pytest.fixture
def rows(write):
    each = zip(LABELS, QID, *SCORES.values(), strict=True)
    lines = (f"{label} qid:{qid} 1:{good} 2:{bad} #docid = d{i}\n" for i, (label, qid, good, bad) in enumerate(each))
    return "--features", write("".join(lines), "rows.txt")


@pytest.fixture
def predictions(rows, write):
    named = (f"{name}={write(numbered(scores), f'{name}.txt')}" for name, scores in SCORES.items())
    return *rows, *(word for one in named for word in ("--predictions", one))


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
    """Runs of which the second retrieves nothing of query 8."""
    qrels = write("".join(f"{q} 0 d{i} {y}\n" for i, (q, y) in enumerate(zip(QID, LABELS, strict=True))), "qrels")
    found = []
    for name, scores in SCORES.items():
        kept = [i for i in range(len(QID)) if name == "good" or QID[i] == 7]
        lines = (f"{QID[i]} Q0 d{i} 1 {scores[i]} t\n" for i in kept)
        found.append(write("".join([*lines, "6 Q0 x 1 1 t\n"]), f"{name}.run"))
    return "--qrels", qrels, "--run", *found


def expected(convention, name):
    evaluator = ra.Evaluator(LABELS, convention, qid=QID)
    return evaluator.evaluate(SCORES[name]), evaluator.per_query(SCORES[name]).tolist()


@pytest.mark.parametrize("source", ["predictions", "features", "table"])
def test_json_says_the_model_of_each_value(capsys, request, source):
    files = request.getfixturevalue(source)
    names = [f"feature {place}" if source == "features" else name for place, name in enumerate(SCORES, 1)]
    out = printed(capsys, *files, "--convention", *CONVENTIONS, "--per-query", "--format", "json")
    found = json.loads(out)
    assert list(found) == ["conventions", "queries", "note"]
    pairs = [(ra.parse(text), model) for text in CONVENTIONS for model in zip(names, SCORES, strict=True)]
    for shown, (convention, (name, model)) in zip(found["conventions"], pairs, strict=True):
        score, values = expected(convention, model)
        counts = {count: getattr(score, count) for count in ("n_queries", "n_scored", "n_empty", "n_short")}
        declared = {"name": convention.name, "signature": str(convention)}
        assert shown == {"model": name, **declared, "value": score.value, **counts}
        assert found["queries"][str(convention)][name] == dict(zip(["7", "8"], values, strict=True))


def test_csv_has_the_model_first_and_reads_as_one_long_table(capsys, predictions):
    pandas = pytest.importorskip("pandas")
    options = (*predictions, "--convention", *CONVENTIONS, "--format", "csv")
    found = pandas.read_csv(io.StringIO(printed(capsys, *options)))
    assert ",".join(found.columns) == "model,name,signature,value,n_queries,n_scored,n_empty,n_short"
    pairs = [[ra.parse(text).name, model] for text in CONVENTIONS for model in SCORES]
    assert found[["name", "model"]].to_numpy().tolist() == pairs
    found = pandas.read_csv(io.StringIO(printed(capsys, *options, "--per-query")))
    assert len(found) == 4 + 8
    each = found[found.qid.notna() & (found.name == "ndcg@3/yahoo")].pivot(index="qid", columns="model", values="value")
    for model in SCORES:
        assert each[model].tolist() == expected(presets.yahoo(3), model)[1]


def test_runs_have_their_own_queries_counts_and_notes(capsys, runs):
    left_out = "1 query of the run is not in the qrels and was left out: 6"
    options = ("--convention", "trec_eval_9@3", "--per-query", "--format", "json")
    found = json.loads(printed(capsys, *runs, *options))
    assert [(row["model"], row["n_scored"]) for row in found["conventions"]] == [("good", 2), ("bad", 1)]
    assert found["queries"][str(presets.trec_eval_9(3))]["bad"]["8"] is None
    assert found["note"] == f"good: {left_out}\nbad: {left_out}"
    for row, path in zip(found["conventions"], runs[3:], strict=True):
        read = ra.io.read_trec(runs[1], path)
        assert row["value"] == ra.evaluate(read.queries, read.scores, presets.trec_eval_9(3)).value


def test_the_table_names_the_models_of_rows_and_of_columns(capsys, monkeypatch, predictions):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "30")
    out = printed(capsys, *predictions, "--convention", "yahoo@3", "--per-query")
    lines = [line.split() for line in out.splitlines()]
    assert lines[1] == ["convention", "model", "value", "queries", "scored", "empty", "short"]
    (good, of_good), (bad, of_bad) = (expected(presets.yahoo(3), model) for model in SCORES)
    assert ["ndcg@3/yahoo", "good", f"{good.value:.6f}", "2", "2", "0", "1"] in lines
    assert ["ndcg@3/yahoo", "bad", f"{bad.value:.6f}", "2", "2", "0", "1"] in lines
    assert ["query", "good", "bad"] in lines
    assert ["8", f"{of_good[1]:.6f}", f"{of_bad[1]:.6f}"] in lines


@pytest.mark.parametrize("style", ["table", "json", "csv"])
def test_one_model_prints_no_name_though_it_has_one(capsys, rows, write, style):
    pytest.importorskip("rich")
    path = write(numbered(SCORES["good"]), "scores.txt")
    options = ("--convention", *CONVENTIONS, "--per-query", "--format", style)
    plain = printed(capsys, *rows, "--predictions", path, *options)
    assert printed(capsys, *rows, "--predictions", f"mine={path}", *options) == plain
    assert printed(capsys, *rows, "--feature", "1", *options) == plain
    assert "model" not in plain


def test_each_model_is_ranked_once_over_queries_bound_once(capsys, monkeypatch, table):
    from rankadapters.core.evaluation import panel

    bound, ranked = [], []
    init, measure = panel.Panel.__init__, panel.Panel.measure
    monkeypatch.setattr(
        panel.Panel, "__init__", lambda self, *given, **named: bound.append(given) or init(self, *given, **named)
    )
    monkeypatch.setattr(panel.Panel, "measure", lambda self, given: ranked.append(given) or measure(self, given))
    printed(capsys, *table, "--convention", *CONVENTIONS, "--per-query", "--format", "csv")
    assert len(bound) == 1
    assert [scores.tolist() for scores in ranked] == list(SCORES.values())


def test_features_are_read_once_for_all_predictions(capsys, monkeypatch, predictions, write):
    read = []
    letor = ra.io.read_letor
    monkeypatch.setattr(ra.io, "read_letor", lambda *files, **options: read.append(files) or letor(*files, **options))
    options = ("--convention", "yahoo@3", "--format", "csv")
    printed(capsys, *predictions, *options)
    assert len(read) == 1
    short = ("--predictions", write("1\n", "short.txt"))
    assert "short.txt: 1 predictions for the 5 rows of " in refused(capsys, *predictions, *short, *options[:2])


def test_two_models_of_one_name_are_refused(capsys, rows, predictions, table):
    twice = (*predictions, "--predictions", predictions[3])
    assert "two models are named 'good'. Hint: --predictions NAME=FILE." in refused(
        capsys, *twice, "--convention", "yahoo@3"
    )
    assert "two models are named 'feature 1'. Hint: name each feature once." in refused(
        capsys, *rows, "--feature", "1", "1", "--convention", "yahoo@3"
    )
    assert "two models are named 'good'. Hint: name each column once." in refused(
        capsys, *table, "good", "--convention", "yahoo@3"
    )


def test_a_fault_in_one_run_is_named_by_its_own_file_and_line(capsys, write, runs):
    run = write("7 Q0 d0 1 3 t\n7 Q0 new 1 2 t\n8 Q0 d3 1 1 t\n", "new.run")
    found = refused(capsys, *runs[:4], run, "--convention", "trec_eval_9@3+unjudged=error")
    assert "new.run, line 2 (document 'new' of query '7'): " in found
