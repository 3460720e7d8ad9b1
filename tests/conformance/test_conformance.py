"""The test vectors of a convention fail every convention that differs, and a check names the wrong field."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import os
import re
import select
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import cli, presets
from rankadapters.conformance.vectors import differ
from rankadapters.core.measures import MEASURES
from rankadapters.statistics.probing.answers import Function, Reply
from rankadapters.statistics.probing.case_maker import CaseMaker, cases_of
from rankadapters.statistics.probing.cases import ONE_DOCUMENT, Case, value_of
from rankadapters.statistics.probing.elimination import Pool, grids_of
from tests.conformance import later_programs, wrong_programs
from tests.helpers.own_ndcg import by_rank, ndcg
from tests.helpers.parameters import long_except, some
from tests.helpers.python_processes import TIMEOUT
from tests.oracles.definition import evaluate
from tests.oracles.rows import Row

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "conformance"
PAIRED, MOST_PAIRED_ROWS = {"auc", "kendall", "bpref", "spearman"}, 200  # their oracles compare all pairs of rows
CONVENTIONS = ["sklearn@3", "ranx.map@5", "letor4@5", "yahoo@all", "catboost@2", "letor4.p@1", "sklearn.roc_auc_score"]


def as_function(convention):
    return lambda labels, scores, sizes: ra.evaluate(labels, scores, convention, group_sizes=sizes).value


@pytest.mark.parametrize("text", long_except(CONVENTIONS))
@pytest.mark.parametrize("several", [False, True])
def test_vectors_fail_every_convention_that_differs(text, several):
    """Fresh cases, with other random numbers, show which conventions of the grid differ."""
    convention = ra.parse(text)
    vectors = [vector for vector in ra.conformance.vectors(convention).vectors if not vector.optional]
    required = [vector.case for vector in vectors if several or len(vector.group_sizes) == 1]
    grades = tuple(sorted({label for case in required for label in case.labels}))
    maker = CaseMaker(grades, getattr(convention, "k", None), seed=3)
    fresh_cases = [case for part in cases_of(maker, several=several) for case in part]
    cases = [*required, *(case for case in fresh_cases if ONE_DOCUMENT not in case.traits())]
    [(measure, grid)] = grids_of((type(convention),), cases[0].queries)
    grid = {name: (*values, getattr(convention, name)) for name, values in grid.items()}
    pool = Pool.over(cases, [(measure, grid)], getattr(convention, "k", None))
    fails = differ(pool.values, np.array([value_of(convention, case) for case in cases]))
    missed = fails.any(axis=1) & ~fails[:, : len(required)].any(axis=1)
    assert missed.sum() == 0
    assert fails.any(axis=1).sum() > 10


@pytest.mark.filterwarnings("ignore:the order of tied scores changes:rankadapters.LabelsWarning")
@pytest.mark.parametrize("text", long_except(CONVENTIONS, "sklearn@3"))
def test_a_convention_conforms_to_itself_on_all_of_its_vectors(text):
    report = ra.conformance.check(as_function(ra.parse(text)), text, takes="groups")
    assert report.conforms, str(report)
    assert report.n_cases == len(ra.conformance.vectors(text).vectors) > 200


@pytest.mark.long
@pytest.mark.parametrize("measure", MEASURES)
def test_the_definition_of_every_preset_conforms(measure):
    """The oracles compute the value of every vector, with scores of -0.0 and 1,100 rows too."""
    conventions = dict.fromkeys(ra.parse(str(presets.make(name, 10))) for name in presets.names(measure))
    for convention in some(conventions, 4):
        try:
            vectors = ra.conformance.vectors(convention).vectors
        except ra.ConventionError:  # it needs docids or pairs
            continue
        scores = [score for vector in vectors for score in vector.scores]
        assert any(score == 0 and math.copysign(1, score) < 0 for score in scores)
        assert max(len(vector.labels) for vector in vectors) >= 1100
        rows = MOST_PAIRED_ROWS if measure in PAIRED else math.inf
        wrong = [(i, vector.purpose) for i, vector in enumerate(vectors, 1)
                 if len(vector.labels) <= rows and not agrees(vector, convention)]  # fmt: skip
        assert wrong == [], convention


CONFORMING = {"catboost.map@10": ["value: 1 above 0.99"]}  # wrong programs that have the value of every vector


def conforms(program, vectors):
    """Return whether a program of several queries has the value of every vector, as `check` compares them."""
    return all(has_value(vector, program) for vector in vectors)


def has_value(vector, program):
    labels = np.array(vector.labels)
    value = program(labels, np.array(vector.scores), np.array(vector.group_sizes))
    return abs(value - vector.value) <= 1e-9 * max(1.0, abs(vector.value))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # wrong programs overflow
@pytest.mark.parametrize("text", long_except(wrong_programs.RIGHT, "trec_eval.map+ties=input"))
def test_programs_that_are_wrong_by_one_rare_detail_fail(text):
    vectors = ra.conformance.vectors(str(ra.parse(text))).vectors
    assert conforms(wrong_programs.right_program(text), vectors)
    programs = [*wrong_programs.wrong_programs(text), *later_programs.wrong_programs(text)]
    assert len(programs) > 200
    assert [name for name, program in programs if conforms(program, vectors)] == CONFORMING.get(text, [])


def agrees(vector, convention):
    """Return whether the value of a vector is that of the oracle; both may be missing."""
    queries = [
        ([Row(label, score) for label, score in zip(case.labels, case.scores, strict=True)], 1.0)
        for case in vector.case.split()
    ]
    try:
        expected = evaluate(queries, convention)
    except (ra.InputError, ZeroDivisionError):
        return vector.value is None
    return vector.value == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.long
def test_vectors_are_reproducible_and_plain_json():
    first = ra.conformance.vectors("ranx.map@5").to_json()
    code = "import rankadapters as ra; print(ra.conformance.vectors('ranx.map@5').to_json())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert run.stdout.strip() == first
    assert len(first) < 1e6
    cases = json.loads(first)["cases"]
    assert {"ties", "empty", "short"} <= {case["purpose"] for case in cases}
    assert all(case["k"] == 5 and set(case["queries"][0]) == {"labels", "scores"} for case in cases)


@pytest.mark.parametrize(("tool", "least"), [("ranx.map", 16), pytest.param("rankeval", 17, marks=pytest.mark.long)])
def test_the_name_of_a_tool_with_an_unstable_sort_leaves_out_its_long_ties(tool, least):
    """See `presets.inexpressible()`: the signature, which names no tool, has these cases."""

    def long_ties(convention):
        queries = [query for vector in ra.conformance.vectors(convention).vectors for query in vector.case.split()]
        distinct = ((len(query.labels), len(set(zip(query.labels, query.scores, strict=True))), len(set(query.scores)))
                    for query in queries)  # fmt: skip
        return any(n_rows >= least and n_pairs > n_scores for n_rows, n_pairs, n_scores in distinct)

    named = ra.parse(f"{tool}@5")
    assert f"{tool.partition('.')[0]}_long_ties" in presets.inexpressible()
    assert long_ties(str(named))
    assert not long_ties(named)
    assert long_ties(named.replace(ties="average"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("field", "value"), [("gain", "exp2"), ("ties", "input"), ("empty", 1.0), ("short", "zero"), ("k", 4), ("k", None)]
)
def test_a_check_names_the_wrong_field(field, value):
    declared = ra.parse("sklearn@3").replace(average="uniform", missing="zero", unjudged="zero")
    report = ra.conformance.check(as_function(declared.replace(**{field: value})), declared, takes="groups")
    assert not report.conforms
    assert report.fields == {field: (getattr(declared, field), value)}
    assert field in str(report)


@pytest.mark.long
def test_a_check_names_no_field_that_changes_no_value():
    """With labels of 0 and 1, NDCG is that of exp2, which the probe names, up to the last digit."""
    declared = ra.parse("textbook@3+ties=input+gain=table_0_0.1_10")
    function = as_function(declared.replace(gain="exp2", empty=1.0))
    report = ra.conformance.check(function, declared, takes="groups", labels=(0, 1))
    assert report.fields == {"empty": (0.0, 1.0)}


MISTAKES = {
    "the value as a percentage": lambda right: lambda labels, scores: 100 * right(labels, scores, [len(labels)]),
    "labels and scores swapped": lambda right: lambda labels, scores: right(scores, labels, [len(labels)]),
}


@pytest.mark.long
def test_a_check_names_the_mistake():
    right = as_function(ra.parse("sklearn@3"))
    for mistake, function_with_mistake in MISTAKES.items():
        report = ra.conformance.check(function_with_mistake(right), "sklearn@3", takes="query")
        assert mistake in report.explanation
        assert report.fields == {}
        assert json.loads(report.to_json())["conforms"] is False


def hits_at_most(n):
    """Return AP of programs that count at most so many relevant rows of a query."""

    def value(labels, scores):
        hits = np.flatnonzero(labels[np.argsort(-scores, kind="stable")] >= 1) + 1
        return (np.arange(1, hits.size + 1) / hits).sum() / min(hits.size, n) if hits.size else 0.0

    return value


def without_last_if_empty(values, queries):
    return np.mean(values[:-1] if len(values) > 1 and queries[-1][0].max() < 1 else values)


def digits(scores, n):
    return np.array([float(f"{score:.{n}g}") for score in scores])


RANK = wrong_programs.reciprocal_rank


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_explanation_is_not_contradicted_by_an_answer():
    value, ties, *_ = wrong_programs.RIGHT["textbook@10"]
    right = functools.partial(value, ties=ties)
    batched = wrong_programs.as_program(right, wrong_programs.batched(6))
    report = ra.conformance.check(batched, "textbook@10", takes="groups")
    assert report.explanation == "its value of a single query is right, but its mean over queries is not"

    shorter = wrong_programs.as_program(
        lambda y, s: RANK(y, s, ties="input", k=9 if y.size > 12 else 10), without_last_if_empty
    )
    report = ra.conformance.check(shorter, "ranx.mrr@10", takes="groups")
    assert not report.conforms
    assert "scores" not in report.explanation

    dropped = wrong_programs.as_program(right, without_last_if_empty)
    report = ra.conformance.check(dropped, "textbook@10", takes="groups")  # other empty queries count
    assert report.explanation == "its value of a single query is right, but its mean over queries is not"


def as_texts(scores, n=6):
    return np.unique([f"{score:.{n}g}" for score in scores], return_inverse=True)[1]


LOST_DETAILS = {  # what a program makes of labels and scores, and the explanation
    "digits": (lambda y, s: (y, digits(s, 6)), "the scores rounded to 6 digits"),
    "texts of 6 digits": (lambda y, s: (y, as_texts(s)), "the scores compared as texts of 6 digits"),
    "texts": (lambda y, s: (y, later_programs.as_text(s)), "the scores compared as texts"),
    "-0.0": (lambda y, s: (y, np.where((s == 0) & np.signbit(s), -1e-37, s)), "-0.0 below one of 0.0"),
    "the last row": (
        lambda y, s: (y[:-1], s[:-1]) if y.size > 1 else (0 * y, s), "without the last row of each query",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("detail", LOST_DETAILS)
@pytest.mark.parametrize("text", long_except(["xgboost@10", "sklearn@5", "ranx.mrr@10"]))
def test_a_check_names_the_detail_of_the_scores_or_rows_that_a_program_loses(text, detail):
    (change, explanation), convention = LOST_DETAILS[detail], ra.parse(text)

    def program(labels, scores, sizes):
        queries = [change(*query) for query in wrong_programs.split(labels, scores, sizes)]
        sizes = [len(y) for y, _ in queries]
        labels, scores = (np.concatenate(column) for column in zip(*queries, strict=True))
        return ra.evaluate(labels, scores, convention, group_sizes=sizes).value

    report = ra.conformance.check(program, convention, takes="groups")
    assert report.explanation.endswith(explanation) or explanation in report.explanation.partition(",")[0]
    assert report.fields == {}


@pytest.mark.long
def test_a_failing_measure_whose_presets_pool_all_rows_is_explained():
    report = ra.conformance.check(
        wrong_programs.as_program(hits_at_most(20)), ra.parse("trec_eval_10.map").replace(ties="input"), takes="groups"
    )
    assert "22 relevant rows or more" in report.explanation


def test_a_function_with_a_state_does_not_conform():
    calls = []

    def function(labels, scores):
        calls.append(1)
        return as_function("sklearn@3")(labels, scores, [len(labels)]) + 0.1 * (len(calls) > 6)

    report = ra.conformance.check(function, "sklearn@3", takes="query")
    assert "not deterministic" in report.faults[0]


def program(tmp_path, body, before=""):
    """Write a program that runs `body` for each question `q`, and return its command."""
    file = tmp_path / "program.py"
    loop = f"{before}\nfor line in sys.stdin:\n    q = json.loads(line)\n    {body}\n    sys.stdout.flush()\n"
    file.write_text(f"import json, os, sys, time\n{loop}")
    return f"{sys.executable} {file}"


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("sys.exit('no more')", "ended with the exit status 1: no more"),
        ("print('NDCG: 0.5')", "wrote 'NDCG: 0.5', which does not answer the question with the id 1"),
        ("print(json.dumps({'id': 7, 'value': 1}))", "which does not answer"),
        ("print('[1]')", "which does not answer"),
        ("print(json.dumps({'id': q['id'], 'error': 'too few rows'}))", "said: 'too few rows'"),
        ("sys.stderr.write('x' * 10**6); sys.exit(1)", "ended with the exit status 1: xxx"),
        ("print(json.dumps({'id': q['id'], 'value': float('nan')}))", "returned nan"),
        ("print(json.dumps({'id': q['id'], 'value': None}))", "returned None"),
        ("print(json.dumps({'id': q['id'], 'value': '0.5'}))", "returned '0.5'"),
    ],
)
def test_a_report_says_what_went_wrong_with_a_program(tmp_path, body, problem):
    with ra.conformance.Program(program(tmp_path, body), k=3, timeout=TIMEOUT) as function:
        report = ra.conformance.check(function, "sklearn@3", takes="groups")
    assert not report.conforms
    assert problem in report.failures[0].problem
    assert len(report.failures[0].problem) < 300


@pytest.mark.parametrize(
    ("body", "n_starts", "answer"),
    [
        ("sys.exit(1)", 20, "was not called again after 20 starts without an answer"),
        pytest.param(
            "print('?')", 20, "was not called again after 20 starts without an answer", marks=pytest.mark.long
        ),
        ("q['id'] % 2 and sys.exit(1); print(json.dumps({'id': q['id'], 'value': 0.5}))", 41, 0.5),
    ],
)
def test_a_program_that_never_answers_is_started_a_few_times(tmp_path, body, n_starts, answer):
    starts = tmp_path / "starts"
    starts.write_text("")
    count = f"open({str(starts)!r}, 'a').write('x')"
    command = program(tmp_path, body, before=count)
    with ra.conformance.Program(command, timeout=TIMEOUT) as function:
        tested = Function(function, "groups")
        answers = [tested.ask(Case.of([1, 0], [rank, 0.5], sizes=[2])) for rank in range(80)]
    assert answers[-1] == (Reply(answer) if isinstance(answer, float) else Reply(math.nan, answer))
    assert len(starts.read_text()) == n_starts


@pytest.mark.parametrize(
    ("body", "timeout", "problem"),
    [
        ("time.sleep(600)", 0.1, "gave no answer in 0.1 s"),
        ("os.close(1); time.sleep(600)", TIMEOUT, "closed its output, but did not end"),
    ],
)
def test_a_program_that_waits_forever_is_started_three_times(tmp_path, monkeypatch, body, timeout, problem):
    """The time that a process has to end is over at once; the program may be killed before its first line runs."""
    start, wait, starts = subprocess.Popen, subprocess.Popen.wait, []

    def wait_or_expire(process, timeout=None):
        if timeout is not None:
            raise subprocess.TimeoutExpired(process.args, timeout)
        return wait(process)

    monkeypatch.setattr(start, "wait", wait_or_expire)
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **options: starts.append(args) or start(*args, **options))
    with ra.conformance.Program(program(tmp_path, body), timeout=timeout) as function:
        tested = Function(function, "groups")
        answers = [tested.ask(Case.of([1, 0], [rank, 0.5], sizes=[2])) for rank in range(8)]
    refusal = "was not called again after 3 time-outs"
    assert answers == [Reply(math.nan, problem)] * 3 + [Reply(math.nan, refusal)] * 5
    assert len(starts) == 3


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="processes are ended by their group, which only POSIX has")
def test_ending_a_program_ends_the_processes_that_it_started(tmp_path):
    """The child holds a pipe open for writing. When it has ended, the pipe is at its end for the reader."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    start = f"subprocess.Popen(['sleep', '600'], stdout=open({str(pipe)!r}, 'w'))"
    body = f"import subprocess; {start}; print(json.dumps({{'id': q['id'], 'value': 0.5}}))"
    with ra.conformance.Program(program(tmp_path, body), timeout=TIMEOUT) as function:
        assert function([1], [0.5], [1]) == 0.5
        assert select.select([reader], [], [], 0)[0] == []
    assert select.select([reader], [], [], TIMEOUT)[0] == [reader]
    assert os.read(reader, 1) == b""
    os.close(reader)


GAINS = {grade: (np.array([0.0, 1, 3, 7, 15]) + np.eye(5)[grade] * change) for grade, change in
         {1: 0.5, 2: 0.25, 3: 0.5, 4: -8.0}.items()}  # fmt: skip
DETAILS = {  # what an implementation of `ranklib@5` may do wrong
    **{f"the gain of grade {grade}": {"gain": lambda y, table=table: table[y]} for grade, table in GAINS.items()},
    **{f"the discount of rank {rank}": {"discounts": {rank: 0.8}} for rank in range(1, 6)},
    "the cutoff": {"k": 4},
    "a cutoff beyond": {"k": 6},
    "an ideal list of k - 1": {"ideal_k": 4},
}


@pytest.mark.long
@pytest.mark.parametrize("detail", DETAILS)
def test_an_implementation_that_is_wrong_by_a_detail_fails(detail):
    wrong = DETAILS[detail]
    report = ra.conformance.check(lambda y, s: ndcg(y, s, **wrong), "ranklib@5", takes="query", labels=range(5))
    assert not report.conforms


RULES = {
    "0 for k rows": lambda y, s: 0.0 if y.size == 5 else ndcg(y, s),
    "no scores below 0": lambda y, s: ndcg(y[s >= 0], s[s >= 0]) if (s >= 0).any() else 0.0,
    "5 decimals": lambda y, s: round(ndcg(y, s), 5),
    "shuffled ties": lambda y, s: ndcg(
        *(column[np.random.default_rng(y.size).permutation(y.size)] for column in (y, s))
    ),
    "all rows of k + 1": lambda y, s: ndcg(y, s, k=6 if y.size == 6 else 5),
    "no last row of k": lambda y, s: ndcg(y, s, k=4 if y.size == 5 else 5),
    "0 for equal labels": lambda y, s: ndcg(y, s) if len(set(y)) > 1 or y.size == 1 else 0.0,
    "0 for equal scores": lambda y, s: ndcg(y, s) if len(set(s)) > 1 or y.size == 1 else 0.0,
    "equal scores from the end": lambda y, s: ndcg(y[::-1], s[::-1]) if len(set(s)) == 1 else ndcg(y, s),
    "0.01 if nothing is found": lambda y, s: 0.01 if ndcg(y, s) == 0 < y.max() else ndcg(y, s),
    "only the first rows": lambda y, s: ndcg(y[:30], s[:30]),
    "scores of 0 and below are equal": lambda y, s: ndcg(y, np.maximum(s, 0)),
    "whole scores": lambda y, s: ndcg(y, np.trunc(s)),
}


def fails(convention, function):
    """Return whether a function has another value than the convention on one of its vectors."""
    vectors = ra.conformance.vectors(convention).vectors
    values = [function(np.array(v.labels), np.array(v.scores)) for v in vectors if len(v.group_sizes) == 1]
    expected = [v.value for v in vectors if len(v.group_sizes) == 1]
    return not np.allclose(values, expected, rtol=0, atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("rule", RULES)
def test_the_vectors_fail_an_implementation_with_a_rule_of_its_own(rule):
    assert fails("ranklib@5", RULES[rule])
    assert not fails("ranklib@5", ndcg)


def first_hit(labels, k):
    hits = np.flatnonzero(labels[:k] > 0)
    return 1 / (hits[0] + 1) if hits.size else 0.0


@pytest.mark.long
@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize(("size", "counted"), [(0, -1), (1, 1)])  # no last row of k, all rows of k + 1
@pytest.mark.parametrize("declared", ["ranklib.rr", "beir.top_k_accuracy"])
def test_the_vectors_fail_a_first_hit_that_counts_a_rank_too_few_or_too_many(declared, k, size, counted):
    def wrong(labels, scores):
        value = first_hit(by_rank(labels, scores), k + counted if labels.size == k + size else k)
        return value if declared == "ranklib.rr" else float(value > 0)

    right = [v for v in ra.conformance.vectors(f"{declared}@{k}").vectors if len(v.group_sizes) == 1]
    assert any(v.value != pytest.approx(wrong(np.array(v.labels), np.array(v.scores)), abs=1e-9) for v in right)


MEANS = {
    "without zeros": lambda values: float(np.mean([value for value in values if value] or [0.0])),
    "the best query": max,
    "the first query twice": lambda values: float(np.mean([values[0], *values])),
    "of 5 decimals": lambda values: round(float(np.mean(values)), 5),
    "the quadratic mean": lambda values: float(np.sqrt(np.mean(np.square(values)))),
}


@pytest.mark.long
@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("declared", ["ranklib@5", "beir.top_k_accuracy@5"])
def test_an_implementation_with_a_wrong_mean_fails(mean, declared):
    convention = ra.parse(declared)

    def wrong(labels, scores, group_sizes):
        values = ra.evaluate(labels, scores, convention, group_sizes=group_sizes, per_query=True).per_query
        return MEANS[mean](list(values))

    assert not ra.conformance.check(wrong, convention, takes="groups").conforms


@pytest.mark.long
def test_linear_gains_conform_for_labels_below_0():
    report = ra.conformance.check(lambda y, s: ndcg(y, s, gain=np.copy), "ranklib@5+gain=linear", takes="query")
    assert report.conforms, str(report)


@pytest.mark.long
def test_a_function_that_changes_its_input_says_so():
    def function(labels, scores):
        value = ndcg(labels, scores)
        scores[:] = 0
        return value

    report = ra.conformance.check(function, "ranklib@5", takes="query")
    assert not report.conforms
    assert "0 of" not in str(report)
    assert str(report).startswith("The function does not conform: it changes the arrays that it is given; all ")


@pytest.mark.long
def test_a_function_of_a_ranking_can_be_checked():
    def ranked(labels, k):
        return ndcg(np.asarray(labels), -np.arange(len(labels)), k)

    assert ra.conformance.check(ranked, "ranklib@3", takes="ranked").conforms
    assert not ra.conformance.check(ranked, "lightgbm@3", takes="ranked").conforms


def test_a_program_that_cannot_be_started_raises():
    with pytest.raises(ra.InputError, match="cannot be started"), ra.conformance.Program("no-such-program") as function:
        ra.conformance.check(function, "sklearn@3", takes="groups")


@pytest.mark.parametrize(
    ("command", "options", "problem"),
    [
        (5, {}, "command=5; allowed are command lines"),
        ("'open", {}, "allowed are command lines"),
        ("node", {"timeout": 1e6 + 1}, "timeout=1000001.0; allowed are numbers above 0, up to 1000000"),
        ("node", {"timeout": 0}, "timeout=0; allowed are numbers above 0"),
    ],
)
def test_a_bad_command_or_time_out_is_refused(command, options, problem):
    assert ra.conformance.Program("node", timeout=1e6)
    with pytest.raises(ra.InputError, match=problem):
        ra.conformance.Program(command, **options)


VECTOR = ra.conformance.Vector(
    labels=(1.0, 0.0), scores=(0.5, 0.25), group_sizes=(2,), value=1.0, purpose="ties", shows=("k", "ties")
)
ANSWERS = {3: (0.5, ""), 4: (None, "said: 'x'"), 5: (0.25, "")}
WRONG = {
    "failures": tuple(
        ra.conformance.Failure(id=number, vector=VECTOR, answer=answer, problem=problem)
        for number, (answer, problem) in ANSWERS.items()
    ),
    "fields": {"divisor": ("k", 2)},
}


@pytest.mark.parametrize(
    ("parts", "conforms", "text"),
    [
        ({"fields": {}}, True, "The function conforms: all 9 cases of precision@1/.* have their value"),
        ({"fields": {}, "faults": ("it draws",)}, False, "conform: it draws; all 9 cases .*\n(.|\n)*Note: it draws[.]"),
        (
            WRONG,
            False,
            r"conform: 3 of 9 cases fail[.](.|\n)*divisor +k +2\n(.|\n)*3 +ties +1.0 +0.5\n 4 .* said: 'x'$",
        ),
        ({**WRONG, "fields": {}, "explanation": "it sorts"}, False, r"fail[.]\n.*\n\nMost likely it sorts[.]\n"),
    ],
)
def test_a_report_says_which_cases_fail_and_is_the_error(parts, conforms, text):
    report = ra.conformance.Conformance(convention=ra.parse("letor4.p@1"), n_cases=9, **parts)
    assert report.conforms is conforms
    assert re.search(text, str(report))
    assert [failure["value"] for failure in report.to_dict()["failures"]] == [f.answer for f in report.failures]
    if conforms:
        report.raise_if_failed()
        return
    with pytest.raises(ra.conformance.ConformanceError) as raised:
        report.raise_if_failed()
    assert str(raised.value) == str(report)


def test_a_file_of_vectors_has_the_data_of_each():
    vectors = ra.conformance.Vectors(ra.parse("letor4.p@1"), (VECTOR, dataclasses.replace(VECTOR, value=None)))
    case = {"k": 1, "queries": [{"labels": [1, 0], "scores": [0.5, 0.25]}], "purpose": "ties", "shows": ["k", "ties"]}
    values = [{"id": 1, "value": 1.0, **case, "optional": False}, {"id": 2, "value": None, **case, "optional": False}]
    assert json.loads(vectors.to_json()) == vectors.to_dict()
    assert vectors.to_dict() == {"convention": str(vectors.convention), "cases": values}
    assert len(vectors.to_json().splitlines()) == 4
    assert [line.split()[0] for line in str(vectors).splitlines()[-2:]] == ["1", "2"]
    assert str(vectors).endswith("none")


def run(capsys, *arguments):
    code = cli.main(list(arguments))
    return code, capsys.readouterr().out


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_c_example_conforms(capsys, tmp_path):
    binary = tmp_path / "ndcg"
    subprocess.run(["cc", "-O2", "-Wall", "-Werror", "-o", binary, EXAMPLES / "c" / "ndcg.c", "-lm"], check=True)
    code, out = run(capsys, "conformance", "check", "lightgbm@10", "--command", str(binary), "--format", "json")
    assert (code, json.loads(out)["conforms"]) == (0, True), out
    code, out = run(capsys, "probe", "--command", str(binary), "--k", "5", "--format", "json")
    assert code == 0
    assert "lightgbm@5" in json.loads(out)["presets"]


@pytest.mark.long
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


@pytest.mark.long
def test_a_report_shows_expected_and_returned_values_of_failed_cases():
    def function(labels, scores):
        if labels.size == 1:
            raise ValueError("one row")
        return 0.5 if labels.max() <= 0 else None

    declared = ra.parse("sklearn@2").replace(average="uniform", empty="error")
    report = ra.conformance.check(function, declared, takes="query")
    assert json.loads(report.to_json())["conforms"] is False
    lines = [line.split() for line in str(report).splitlines()]
    assert any(line[1:] == ["empty", "no", "number", "0.5"] for line in lines)
    failure = next(failure for failure in report.failures if failure.problem == "returned None")
    assert any(line[-3:] == [repr(failure.vector.value), "returned", "None"] for line in lines)
