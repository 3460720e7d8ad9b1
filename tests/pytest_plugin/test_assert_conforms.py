"""`assert_conforms` passes a function that computes the convention, and fails others with the wrong field."""

from __future__ import annotations

pytest_plugins = ["pytester"]

BODY = """
def function(labels, scores):
    return ra.evaluate(labels, scores, "ranx.hit_rate@2", group_sizes=[len(labels)]).value

def test_right_convention(assert_conforms):
    assert_conforms(function, "ranx.hit_rate@2", takes="query")

def test_wrong_convention(assert_conforms):
    assert_conforms(function, "ranx.hit_rate@3", takes="query")
"""


def test_a_function_fails_under_a_wrong_convention_and_the_field_is_named(run):
    result = run(BODY)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*_ test_wrong_convention _*", "*ConformanceError: The function does not conform*", "*k *3 *2*"]
    )
