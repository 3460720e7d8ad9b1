"""`assert_same_ndcg` passes equal numbers, `assert_conforms` right functions; they fail others with the reason."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


PASSING = [
    "assert_same_ndcg(0.5, 0.5)",
    "assert_same_ndcg(0.5, 0.5 + 1e-10, tolerance=1e-9)",
    "assert_same_ndcg(np.float64(0.5), 0.5)",
    "assert_same_ndcg(ours, ours.value)",
    "assert_same_ndcg(ours.value, ours)",
    "assert_same_ndcg(ours, ra.evaluate(labels, scores, ra.presets.yahoo(2), qid=['1', '1', '1', '2', '2']).value)",
    # No query is empty and no rows tie, so the two conventions give the same value.
    "assert_same_ndcg(ours, ra.evaluate(labels, scores, other, qid=qid), labels=labels, scores=scores, qid=qid)",
]


def test_equal_numbers_pass(run):
    tests = [f"def test_{number}(assert_same_ndcg):\n    {body}\n" for number, body in enumerate(PASSING)]
    setup = "ours, other = ra.evaluate(labels, scores, ra.presets.yahoo(2), qid=qid), ra.presets.textbook(2)\n"
    run(setup + "".join(tests)).assert_outcomes(passed=len(PASSING))


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("assert_same_ndcg(0.5, 0.25)", ["*different: first number: 0.5, ours 0.25, difference 0.25 (<= 0)"]),
        ("assert_same_ndcg(0.5, 0.5 + 1e-10)", ["*difference -1e-10 (<= 0)"]),
        ("assert_same_ndcg(float('nan'), float('nan'))", ["*different: first number: nan*"]),
        (
            "assert_same_ndcg(ra.evaluate(**data, convention='sklearn@2').value, ours, **data)",
            [
                "*Looking for the cause: it is the value under gain='linear' in place of gain='exp2'*",
                "*the queries that contribute most:",
                "*query 1: *, ours *, contributes *",
            ],
        ),
        (
            "assert_same_ndcg(0.123456, ours, **data | {'scores': tied})",
            ["*The data given makes 0.9131*, which is not the second number."],
        ),
    ],
)
def test_different_numbers_fail_with_the_reason(run, body, lines):
    result = run(f"""
data = {{"labels": labels, "scores": scores, "qid": qid}}
ours = ra.evaluate(**data, convention="yahoo@2")

def test(assert_same_ndcg):
    {body}
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*ParityError: parity fails: *", *lines])
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")  # the traceback ends at the user's line


def test_scores_that_cannot_be_compared_fail_with_what_differs(run):
    result = run("""
def test(assert_same_ndcg):
    assert_same_ndcg(*(ra.evaluate(labels, scores, f"{tool}@2", qid=qid) for tool in ("yahoo", "ranklib")))
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*IncomparableScoresError: the conventions differ in empty=1.0 against 0.0."])


BAD = {
    "assert_same_ndcg('0.5', 0.5)": "a='0.5'; allowed are Scores and numbers",
    "assert_same_ndcg(0.5, True)": "b=True; allowed are Scores and numbers",
    "assert_same_ndcg(0.5, 0.5, tolerance=-1)": "tolerance=-1; allowed are finite numbers from 0 on",
    "assert_same_ndcg(0.5, 0.5, labels=labels)": "labels= and scores= go together",
    "assert_same_ndcg(0.5, 0.5, scores=scores)": "labels= and scores= go together",
    "assert_same_ndcg(0.5, 0.5, qid=qid)": "labels= and scores= go together",
}


def test_bad_arguments_are_refused(run):
    result = run("".join(f"def test_{n}(assert_same_ndcg):\n    {body}\n" for n, body in enumerate(BAD)))
    result.assert_outcomes(failed=len(BAD))
    for message in BAD.values():
        result.stdout.fnmatch_lines([f"*InputError: {message}*"])


CONFORMANCE = """
def function(labels, scores):
    return ra.Evaluator(labels, "ranx.hit_rate@2", group_sizes=[len(labels)]).evaluate(scores).value

def test_right_convention(assert_conforms):
    assert_conforms(function, "ranx.hit_rate@2", takes="query")

def test_wrong_convention(assert_conforms):
    assert_conforms(function, "ranx.hit_rate@3", takes="query")
"""


@pytest.mark.long
def test_a_function_fails_under_a_wrong_convention_and_the_field_is_named(run):
    result = run(CONFORMANCE)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*_ test_wrong_convention _*", "*ConformanceError: The function does not conform*", "*k *3 *2*"]
    )
