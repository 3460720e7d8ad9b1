"""`assert_conforms`: a function that computes the convention passes, another fails and hears which field is wrong."""

from __future__ import annotations

pytest_plugins = ["pytester"]

BODY = """
def function(labels, scores):
    return ra.evaluate(labels, scores, "ranx.hit_rate@2", group_sizes=[len(labels)]).value

def test_its_own_convention(assert_conforms):
    assert_conforms(function, "ranx.hit_rate@2", takes="query")

def test_another_convention(assert_conforms):
    assert_conforms(function, "ranx.hit_rate@3", takes="query")
"""


def test_a_function_passes_under_its_convention_and_fails_under_another_whose_field_is_named(run):
    found = run(BODY)
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines(
        ["*_ test_another_convention _*", "*ConformanceError: The function does not conform*", "*k *3 *2*"]
    )
