"""`assert_conforms`: a function that computes the convention passes, another fails and hears which field is wrong."""

from __future__ import annotations

pytest_plugins = ["pytester"]

BODY = """
def function(labels, scores):
    return ra.evaluate(labels, scores, "letor4.p@2", group_sizes=[len(labels)]).value

def test_it(assert_conforms):
    assert_conforms(function, "{convention}", takes="query")
"""


def test_a_function_that_computes_the_convention_passes(run):
    run(BODY.format(convention="letor4.p@2")).assert_outcomes(passed=1)


def test_another_fails_and_names_the_field(run):
    found = run(BODY.format(convention="letor4.p@3"))
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["*ConformanceError: The function does not conform*", "*k *3 *2*"])
