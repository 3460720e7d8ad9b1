"""The test vectors of a convention fail every convention that differs, and a check names the wrong field."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import cli
from rankadapters.conformance.rivals import differ, rival_pool, values_with_mistakes
from rankadapters.conformance.vectors import N_QUERIES
from rankadapters.statistics.probing.case_maker import CaseMaker
from rankadapters.statistics.probing.cases import value_of
from tests.helpers.depth import THOROUGH
from tests.helpers.tables import for_each

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "conformance"
CONVENTIONS = ["sklearn@3", "ranx.map@5"]
if THOROUGH:
    CONVENTIONS += ["letor4@5", "yahoo@all", "lightgbm@10", "catboost@2", "letor4.p@1", "sklearn.roc_auc_score"]


def as_function(convention):
    return lambda labels, scores, sizes: ra.evaluate(labels, scores, convention, group_sizes=sizes).value


@pytest.mark.parametrize("text", CONVENTIONS)
def test_vectors_fail_every_convention_and_every_mistake_that_differs(text):
    convention = ra.parse(text)
    vectors = ra.conformance.vectors(convention).vectors
    required = [vector for vector in vectors if not vector.optional]
    k, grades = getattr(convention, "k", None), sorted({label for vector in required for label in vector.labels})
    # Cases that the vectors were not chosen from show which conventions differ.
    fresh_cases = [case for n in (1, N_QUERIES) for case in CaseMaker(grades, k, n, seed=1).make_all()]
    cases = [*(vector.case for vector in required), *fresh_cases]
    expected = np.array([value_of(convention, case) for case in cases])
    pool = rival_pool(convention, cases)
    fails = differ(np.concatenate([pool.values, values_with_mistakes(convention, cases, expected)]), expected)
    assert (fails[:, : len(required)].any(axis=1) == fails.any(axis=1)).all()
    assert fails.any(axis=1).sum() > 20


def test_single_query_vectors_fail_every_convention_that_differs_on_one_query():
    convention = ra.parse("sklearn@3")
    required = [vector for vector in ra.conformance.vectors(convention).vectors if not vector.optional]
    vectors = [vector for vector in required if len(vector.group_sizes) == 1]
    cases = [*(vector.case for vector in vectors), *CaseMaker((0, 1, 2, 3, 4), 3, 1, seed=1).make_all()]
    expected = np.array([value_of(convention, case) for case in cases])
    fails = differ(rival_pool(convention, cases).values, expected)
    assert (fails[:, : len(vectors)].any(axis=1) == fails.any(axis=1)).all()


@pytest.mark.parametrize("text", CONVENTIONS)
def test_a_convention_conforms_to_itself_on_all_of_its_few_vectors(text):
    report = ra.conformance.check(as_function(ra.parse(text)), text, takes="groups")
    assert report.conforms
    assert report.n_cases == len(ra.conformance.vectors(text).vectors) < 12


def test_vectors_are_reproducible_and_plain_json():
    first = ra.conformance.vectors("ranx.map@5").to_json()
    ra.conformance.vectors.__globals__["_vectors"].cache_clear()
    assert ra.conformance.vectors("ranx.map@5").to_json() == first
    cases = json.loads(first)["cases"]
    assert {"ties", "empty", "short"} <= {case["purpose"] for case in cases}
    assert all(case["k"] == 5 and set(case["queries"][0]) == {"labels", "scores"} for case in cases)


def test_grades_of_the_vectors_can_be_chosen():
    vectors = ra.conformance.vectors("lightgbm@3", labels=(0, 1)).vectors
    assert {label for vector in vectors for label in vector.labels} == {0.0, 1.0}


def test_a_convention_that_needs_docids_is_refused():
    with pytest.raises(ra.ConventionError, match="ties=docid-descending needs a column"):
        ra.conformance.vectors("trec_eval_9@10")


@for_each(
    ("field", "value"), [("gain", "exp2"), ("ties", "input"), ("empty", 1.0), ("short", "zero"), ("k", 4), ("k", None)]
)
def test_a_check_names_the_wrong_field(field, value):
    declared = ra.parse("sklearn@3").replace(average="uniform", missing="zero", unjudged="zero")
    report = ra.conformance.check(as_function(declared.replace(**{field: value})), declared, takes="groups")
    assert not report.conforms
    assert report.fields == {field: (getattr(declared, field), value)}
    assert field in str(report)


MISTAKES = {
    "percentages": lambda right: lambda labels, scores: 100 * right(labels, scores, [len(labels)]),
    "first argument as the scores": lambda right: lambda labels, scores: right(scores, labels, [len(labels)]),
}


def test_a_check_names_the_mistake():
    right = as_function(ra.parse("sklearn@3"))
    for mistake, function_with_mistake in MISTAKES.items():
        report = ra.conformance.check(function_with_mistake(right), "sklearn@3", takes="query")
        assert mistake in report.explanation
        assert report.fields == {}
        assert json.loads(report.to_json())["conforms"] is False


def test_a_function_with_a_state_does_not_conform():
    calls = []

    def function(labels, scores):
        calls.append(1)
        return as_function("sklearn@3")(labels, scores, [len(labels)]) + 0.1 * (len(calls) > 6)

    report = ra.conformance.check(function, "sklearn@3", takes="query")
    assert "not deterministic" in report.faults[0]


def test_scikit_learn_conforms_to_its_preset():
    metrics = pytest.importorskip("sklearn.metrics")
    report = ra.conformance.check(lambda y, s: metrics.ndcg_score([y], [s], k=3), "sklearn@3", takes="query")
    assert report.conforms, str(report)


def program(tmp_path, body):
    """Write a program that runs `body` for each question `q`, and return its command."""
    file = tmp_path / "program.py"
    loop = f"for line in sys.stdin:\n    q = json.loads(line)\n    {body}\n    sys.stdout.flush()\n"
    file.write_text(f"import json, sys, time\n{loop}")
    return f"{sys.executable} {file}"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("sys.exit('no more')", "ended with the exit status 1: no more"),
        ("print('NDCG: 0.5')", "wrote 'NDCG: 0.5', which does not answer the question with the id 1"),
        ("print(json.dumps({'id': 7, 'value': 1}))", "which does not answer"),
        ("print('[1]')", "which does not answer"),
        ("print(json.dumps({'id': q['id'], 'error': 'too few rows'}))", "said: 'too few rows'"),
        ("time.sleep(60)", "gave no answer in 0.5 s"),
        ("print(json.dumps({'id': q['id'], 'value': float('nan')}))", "returned nan"),
        ("print(json.dumps({'id': q['id'], 'value': None}))", "returned None"),
        ("print(json.dumps({'id': q['id'], 'value': '0.5'}))", "returned '0.5'"),
    ],
)
def test_a_report_says_what_went_wrong_with_a_program(tmp_path, body, problem):
    with ra.conformance.Program(program(tmp_path, body), k=3, timeout=0.5 if "sleep" in body else 10) as function:
        report = ra.conformance.check(function, "sklearn@3", takes="groups")
    assert not report.conforms
    assert problem in report.failures[0].problem


def test_ending_a_program_that_left_input_unread_closes_its_error_output(tmp_path):
    with ra.conformance.Program(program(tmp_path, "sys.exit()"), k=3) as function:
        errors, close = function._errors, function._process.stdin.close
        function._process.stdin = Mock(close=Mock(side_effect=BrokenPipeError))
    close()
    assert errors.closed


def test_a_program_that_cannot_be_started_raises():
    with pytest.raises(ra.InputError, match="cannot be started"), ra.conformance.Program("no-such-program") as function:
        ra.conformance.check(function, "sklearn@3", takes="groups")
    with pytest.raises(ra.InputError, match="command=''; allowed are command lines"):
        ra.conformance.Program("")


def run(capsys, *arguments):
    code = cli.main(list(arguments))
    return code, capsys.readouterr().out


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
def test_the_javascript_example_conforms(capsys):
    command = f"node {EXAMPLES / 'javascript' / 'ndcg.js'}"
    code, out = run(capsys, "conformance", "check", "sklearn@10", "--command", command, "--format", "json")
    assert (code, json.loads(out)["conforms"]) == (0, True), out
    code, out = run(capsys, "probe", "--command", command, "--k", "3", "--format", "json")
    assert code == 0
    assert "sklearn@3" in json.loads(out)["presets"]
    code, out = run(capsys, "conformance", "check", "lightgbm@10", "--command", command, "--format", "json")
    assert code == 1
    assert {"gain", "ties", "empty"} <= set(json.loads(out)["fields"])


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_c_example_conforms(capsys, tmp_path):
    binary = tmp_path / "ndcg"
    subprocess.run(["cc", "-O2", "-Wall", "-Werror", "-o", binary, EXAMPLES / "c" / "ndcg.c", "-lm"], check=True)
    code, out = run(capsys, "conformance", "check", "lightgbm@10", "--command", str(binary), "--format", "json")
    assert (code, json.loads(out)["conforms"]) == (0, True), out
    code, out = run(capsys, "probe", "--command", str(binary), "--k", "5", "--format", "json")
    assert code == 0
    assert "lightgbm@5" in json.loads(out)["presets"]


def test_the_command_writes_vectors_and_probes_and_checks_functions(capsys, tmp_path, monkeypatch):
    file = tmp_path / "cases.json"
    assert cli.main(["conformance", "write", "lightgbm@3", "--out", str(file)]) == 0
    assert json.loads(file.read_text(encoding="utf-8")) == ra.conformance.vectors("lightgbm@3").to_dict()
    (tmp_path / "user_metric.py").write_text(
        "import rankadapters as ra\n\ndef ndcg(labels, scores):\n"
        "    return ra.evaluate(labels, scores, 'lightgbm@3', group_sizes=[len(labels)]).value\n"
    )
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    code, out = run(capsys, "probe", "user_metric:ndcg", "--k", "3", "--format", "json")
    assert code == 0
    assert "lightgbm@3" in json.loads(out)["presets"]
    assert run(capsys, "conformance", "check", "lightgbm@3", "user_metric:ndcg", "--format", "json")[0] == 0
    assert run(capsys, "probe", "user_metric:none", "--format", "json")[0] == 2
    assert run(capsys, "probe", "--format", "json")[0] == 2


def test_a_report_shows_expected_and_returned_values_of_failed_cases():
    def function(labels, scores):
        if labels.size == 1:
            raise ValueError("one row")
        return 0.5 if labels.max() <= 0 else None

    declared = ra.parse("sklearn@2").replace(average="uniform", empty="error")
    report = ra.conformance.check(function, declared, takes="query")
    cells = {line.split()[1]: line for line in str(report).splitlines()[-report.n_cases :]}
    assert cells["empty"].endswith(" no number            0.5")
    failure = report.failures[0]
    assert cells["distinct"].endswith(f"{failure.vector.value!r}   returned None")
    assert str(report).endswith("raised ValueError: one row")
