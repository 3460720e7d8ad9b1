"""`ranking_parity`, its marker and the toolkits that it calls."""

from __future__ import annotations

import sys

import pytest

pytest_plugins = ["pytester"]


PARITY = """
@pytest.mark.rank_parity({marker})
def test(ranking_parity):
    report = ranking_parity(labels, scores, qid=qid{arguments})
    assert report.ok
    print("rows:", [row.source.split()[0] for row in report.rows])
    print("under:", report.rows[-1].convention.name)
"""


def test_the_marker_declares_the_convention_and_the_toolkits(run):
    pytest.importorskip("lightgbm")
    result = run(PARITY.format(marker="convention='yahoo@2', toolkits=['lightgbm']", arguments=""), "-s")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*rows: [[]'lightgbm', 'lightgbm']", "under: ndcg@2/yahoo"])


@pytest.mark.parametrize(
    ("marker", "arguments", "options", "name"),
    [
        ("convention='yahoo@2'", "", ["--rank-convention", "textbook@1"], "ndcg@2/yahoo"),
        ("", "", ["--rank-convention", "textbook@1"], "ndcg@1/textbook"),
        ("convention='yahoo@2'", ", convention='ranklib@3'", [], "ndcg@3/ranklib"),
        ("convention=ra.presets.yahoo(2)", "", [], "ndcg@2/yahoo"),
    ],
)
def test_the_call_overrides_the_marker_which_overrides_the_option(run, marker, arguments, options, name):
    pytest.importorskip("lightgbm")
    result = run(PARITY.format(marker=marker, arguments=arguments + ", toolkits=['lightgbm']"), "-s", *options)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"under: {name}"])


def test_without_any_convention_the_test_fails_with_a_hint(run):
    result = run("def test(ranking_parity):\n    ranking_parity(labels, scores, qid=qid)\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["no convention is declared, *", "Hint: @pytest.mark.rank_parity(convention='lightgbm@10')*"]
    )


def test_too_few_compared_toolkits_fail_with_the_fields_and_the_queries(run):
    pytest.importorskip("catboost")
    result = run("""
@pytest.mark.rank_parity(convention="textbook@2", toolkits=["catboost"], require=1)
def test(ranking_parity):
    ranking_parity(labels, tied, qid=qid)
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*ParityError: parity fails: 1 equal, 1 not-comparable; 1 toolkit must be compared *",
            "*CatBoost cannot express ties='average', only ties='worst', which matters here. *",
            "*the queries that contribute most:",
            "*query 1: *, ours *, contributes -0.*",
        ]
    )


def test_a_marker_on_a_test_without_a_comparing_fixture_is_refused(run):
    result = run("@pytest.mark.rank_parity(convention='yahoo@2')\ndef test():\n    pass\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*marked rank_parity but uses no fixture that compares numbers*"])


def test_other_markers_need_no_comparing_fixture(run):
    result = run("@pytest.mark.a_marker\n@pytest.mark.usefixtures()\ndef test():\n    pass\n", "-W", "ignore")
    result.assert_outcomes(passed=1)


def test_a_marker_on_a_class_allows_tests_without_a_comparing_fixture(run):
    result = run("@pytest.mark.rank_parity(convention='yahoo@2')\nclass TestIt:\n    def test(self):\n        pass\n")
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("'yahoo@2'", "the marker rank_parity was given 'yahoo@2'; it takes the keywords convention, toolkits,"),
        ("conventions='yahoo@2'", "the marker rank_parity was given conventions; it takes"),
        ("convention='yaho@2'", "the convention of rank_parity: 'yaho@2' is neither a preset@k"),
        ("convention=10", "the convention of rank_parity: 10 is not a convention."),
    ],
)
def test_a_marker_with_bad_arguments_is_refused(run, marker, message):
    result = run(PARITY.format(marker=marker, arguments=""))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*UsageError: {message}*"])


def test_a_missing_toolkit_fails_with_the_extra_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "catboost", None)
    result = run("""
@pytest.mark.rank_parity(convention="catboost@2", toolkits=["catboost"])
def test(ranking_parity):
    ranking_parity(labels, scores, qid=qid)
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['*catboost is not installed: pip install "rankadapters[[]catboost]"'])


def test_a_marker_on_a_test_extends_and_overrides_that_of_its_class(run):
    result = run(
        """
@pytest.mark.rank_parity(convention="lightgbm@2", toolkits=["catboost"])
class TestBoth:
    @pytest.mark.rank_parity(toolkits=["sklearn"])
    def test_joined(self, request):
        from rankadapters.pytest_plugin import _marker_options

        declared = _marker_options(request)
        assert declared["convention"] == ra.presets.lightgbm(2)
        assert declared["toolkits"] == ["sklearn"]
"""
    )
    result.assert_outcomes(passed=1)
