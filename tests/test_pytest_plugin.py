"""The pytest plugin, in sessions of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rankadapters as ra
from rankadapters import crosscheck
from rankadapters.parity import check_value

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parent.parent
# The checkout's plugin and no installed one.
LOADED = (
    "-p",
    "rankadapters.pytest_plugin",
    "-p",
    "no:cacheprovider",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)
AUTOLOAD = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"

DATA = """
import numpy as np
import pytest
import rankadapters as ra

labels, scores, qid = [2, 0, 1, 1, 0], [0.5, 0.9, 0.1, 0.25, 0.75], [1, 1, 1, 2, 2]
tied = [0.5, 0.5, 0.5, 0.25, 0.25]
"""


@pytest.fixture(autouse=True, scope="module")
def everything_is_imported():
    """A session of pytester's forgets what it imported, and neither numba nor a toolkit can be imported twice."""
    crosscheck.check([1, 0, 1], [0.5, 0.5, 0.25], ra.presets.textbook(2), group_sizes=[2, 1])
    check_value([1, 0, 1], [0.5, 0.5, 0.25], ra.presets.textbook(2), 0.123, group_sizes=[2, 1])


@pytest.fixture(autouse=True)
def no_other_plugin(monkeypatch):
    monkeypatch.setenv(AUTOLOAD, "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)  # sessions elsewhere test this checkout too


@pytest.fixture
def run(pytester):
    def run(body, *options):
        pytester.makepyfile(test_it=DATA + body)
        return pytester.runpytest_inprocess(*LOADED, *options)

    return run


# Silent when unused.


def test_loading_it_imports_neither_numpy_nor_numba_nor_a_toolkit(pytester):
    pytester.makeconftest(
        """
        import sys

        def pytest_sessionfinish():
            heavy = {"numpy", "numba", "sklearn", "lightgbm", "xgboost", "catboost", "matplotlib", "pandas"}
            print("loaded:", sorted(heavy & set(sys.modules)), "rankadapters.pytest_plugin" in sys.modules)
        """
    )
    pytester.makepyfile("def test_nothing(): pass")
    found = pytester.runpytest_subprocess(*LOADED, "--strict-markers", "-W", "error", "-s")
    found.stdout.fnmatch_lines(["*loaded: [[]] True"])
    found.stdout.no_fnmatch_line("*parity*")
    found.assert_outcomes(passed=1)


def test_the_marker_and_the_options_are_documented(pytester):
    pytester.runpytest_inprocess(*LOADED, "--markers").stdout.fnmatch_lines(
        ["@pytest.mark.rank_parity(convention, toolkits, require): *"]
    )
    pytester.runpytest_inprocess(*LOADED, "--help").stdout.fnmatch_lines(
        ["*ranking parity (rankadapters):", "*--rank-convention=SPEC*", "*--rank-parity-report=FILE*"]
    )
    pytester.runpytest_inprocess(*LOADED, "--fixtures").stdout.fnmatch_lines(["*assert_same_ndcg*", "*ranking_parity*"])


def test_the_package_declares_it():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\nrankadapters = "rankadapters.pytest_plugin"' in text


# assert_same_ndcg.


@pytest.mark.parametrize(
    "body",
    [
        "assert_same_ndcg(0.5, 0.5)",
        "assert_same_ndcg(0.5, 0.5 + 1e-10, tol=1e-9)",
        "assert_same_ndcg(np.float64(0.5), 0.5)",
        "assert_same_ndcg(ours, ours)",
        "assert_same_ndcg(ours, ours.value)",
        "assert_same_ndcg(ours.value, ours)",
        "assert_same_ndcg(ours, ra.evaluate(labels, scores, ra.presets.yahoo(2), qid=['1', '1', '1', '2', '2']).value)",
        # Nothing here is empty or tied, so that the two conventions are one.
        "assert_same_ndcg(ours, ra.evaluate(labels, scores, other, qid=qid), labels=labels, scores=scores, qid=qid)",
    ],
)
def test_the_same_numbers_pass(run, body):
    found = run(f"""
ours = ra.evaluate(labels, scores, ra.presets.yahoo(2), qid=qid)
other = ra.presets.textbook(2)

def test(assert_same_ndcg):
    {body}
""")
    found.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("assert_same_ndcg(0.5, 0.25)", ["*different: first number: 0.5, ours 0.25, difference 0.25 (<= 0)"]),
        ("assert_same_ndcg(0.5, 0.5 + 1e-10)", ["*difference -1e-10 (<= 0)"]),
        ("assert_same_ndcg(float('nan'), float('nan'))", ["*different: first number: nan*"]),
        (
            "assert_same_ndcg(ours, ra.evaluate(labels, scores, ra.presets.ranklib(2), qid=qid))",
            ["*not-comparable: first number*", "*The conventions differ in empty=1 against empty=0."],
        ),
        (
            "assert_same_ndcg(ours, ra.evaluate(labels[:3], scores[:3], ra.presets.yahoo(2), qid=qid[:3]))",
            ["*They are of other queries: 2 queries, 0 of them empty and 0 short against 1 queries*"],
        ),
        (
            (
                "assert_same_ndcg(ra.evaluate(labels, scores, ra.presets.sklearn(2), qid=qid).value, ours,"
                " labels=labels, scores=scores, qid=qid)"
            ),
            [
                "*Looking for the cause: it is the value under gain='linear' in place of gain='exp2'*",
                "*the queries that contribute most:",
                "*query 1: *, ours *, contributes *",
            ],
        ),
        (
            (
                "assert_same_ndcg(ra.evaluate(labels, tied, ra.presets.yahoo(2), qid=qid),"
                " ra.evaluate(labels, tied, ra.presets.sklearn(2), qid=qid), labels=labels, scores=tied, qid=qid)"
            ),
            [
                (
                    "*The conventions differ in gain='exp2', ties='input', *against gain='linear', ties='average', *"
                    "Of no consequence here: empty, average."
                ),
                "*the queries that contribute most:",
                "*query 2: 1, ours 0.8*",
            ],
        ),
        (
            "assert_same_ndcg(0.123456, ours, labels=labels, scores=tied, qid=qid)",
            ["*The data given makes 0.9131*, which is not the second number."],
        ),
    ],
)
def test_other_numbers_fail_and_say_why(run, body, lines):
    found = run(f"""
ours = ra.evaluate(labels, scores, ra.presets.yahoo(2), qid=qid)

def test(assert_same_ndcg):
    {body}
""")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["*ParityError: parity fails: *", *lines])
    found.stdout.no_fnmatch_line("*pytest_plugin.py*")  # the user's line is what is shown


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("assert_same_ndcg('0.5', 0.5)", "the first of the two is '0.5', but Scores and numbers are compared"),
        ("assert_same_ndcg(0.5, True)", "the second of the two is True"),
        ("assert_same_ndcg(0.5, 0.5, tol=-1)", "tol=-1 is no tolerance"),
        ("assert_same_ndcg(0.5, 0.5, tol=float('nan'))", "tol=nan is no tolerance"),
        ("assert_same_ndcg(0.5, 0.5, labels=labels)", "exactly one of qid and group_sizes is needed"),
    ],
)
def test_what_cannot_be_compared_is_refused(run, body, message):
    found = run(f"def test(assert_same_ndcg):\n    {body}\n")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines([f"*InputError: {message}*"])


# ranking_parity and its marker.


PARITY = """
@pytest.mark.rank_parity({marker})
def test(ranking_parity):
    report = ranking_parity(labels, scores, qid=qid{more})
    assert report.ok
    print("rows:", [row.source.split()[0] for row in report.rows])
    print("under:", report.rows[-1].convention.name)
"""


def test_the_marker_declares_convention_and_toolkits(run):
    pytest.importorskip("lightgbm")
    found = run(PARITY.format(marker="convention='yahoo@2', toolkits=['lightgbm']", more=""), "-s")
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines(["*rows: [[]'lightgbm', 'lightgbm']", "under: ndcg@2/yahoo"])


@pytest.mark.parametrize(
    ("marker", "more", "options", "shown"),
    [
        ("convention='yahoo@2'", "", ["--rank-convention", "textbook@1"], "ndcg@2/yahoo"),
        ("", "", ["--rank-convention", "textbook@1"], "ndcg@1/textbook"),
        ("convention='yahoo@2'", ", convention='ranklib@3'", [], "ndcg@3/ranklib"),
        ("convention=ra.presets.yahoo(2)", "", [], "ndcg@2/yahoo"),
        ("convention=str(ra.presets.yahoo(2))", "", [], "ndcg@2/*"),
        ("", ", convention=ra.presets.yahoo(5)", [], "ndcg@5/yahoo"),
    ],
)
def test_the_call_comes_first_then_the_marker_then_the_option(run, marker, more, options, shown):
    pytest.importorskip("lightgbm")
    found = run(PARITY.format(marker=marker, more=more + ", toolkits=['lightgbm']"), "-s", *options)
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines([f"under: {shown}"])


def test_without_any_convention_the_test_fails_with_a_hint(run):
    found = run("def test(ranking_parity):\n    ranking_parity(labels, scores, qid=qid)\n")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(
        ["no convention is declared, *", "Hint: @pytest.mark.rank_parity(convention='letor4@10')*"]
    )


def test_too_few_toolkits_fail_with_the_fields_and_the_queries(run):
    pytest.importorskip("catboost")
    found = run("""
@pytest.mark.rank_parity(convention="textbook@2", toolkits=["catboost"], require=1)
def test(ranking_parity):
    ranking_parity(labels, tied, qid=qid)
""")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(
        [
            "*ParityError: parity fails: 1 equal, 1 not-comparable; 1 toolkit must be compared *",
            "*CatBoost cannot express ties='average', only ties='worst', which matters here. *",
            "*the queries that contribute most:",
            "*query 1: *, ours *, contributes -0.*",
        ]
    )


def test_a_marker_that_declares_nothing_that_is_used_is_refused(run):
    found = run("@pytest.mark.rank_parity(convention='yahoo@2')\ndef test():\n    pass\n")
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines(["*marked rank_parity but uses no fixture that compares something*"])


def test_a_marker_of_a_class_may_meet_tests_that_compare_nothing(run):
    found = run("@pytest.mark.rank_parity(convention='yahoo@2')\nclass TestIt:\n    def test(self):\n        pass\n")
    found.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        (
            "'yahoo@2'",
            "the marker rank_parity was given 'yahoo@2'; it takes the keywords convention, toolkits, require.",
        ),
        ("conventions='yahoo@2'", "the marker rank_parity was given conventions; it takes"),
        ("convention='yaho@2'", "the convention of rank_parity: 'yaho@2' is neither a preset@k"),
        ("convention=10", "the convention of rank_parity: 10 is no convention."),
    ],
)
def test_a_marker_that_is_misspelt_is_refused(run, marker, message):
    found = run(PARITY.format(marker=marker, more=""))
    found.stdout.fnmatch_lines([f"*UsageError: {message}*"])


def test_a_missing_toolkit_is_named_with_its_extra(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "catboost", None)
    found = run("""
@pytest.mark.rank_parity(convention="catboost@2", toolkits=["catboost"])
def test(ranking_parity):
    ranking_parity(labels, scores, qid=qid)
""")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(['*catboost is not installed: pip install "rankadapters[[]catboost]"'])


# The options.


def test_a_convention_that_is_none_stops_the_session_before_any_test(run):
    found = run("def test():\n    pass\n", "--rank-convention", "letor@x")
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    found.stderr.fnmatch_lines(["ERROR: --rank-convention: 'letor@x' is neither a preset@k *"])


BOTH = """
def test_same(assert_same_ndcg):
    assert_same_ndcg(0.5, 0.5)

def test_other(assert_same_ndcg):
    assert_same_ndcg(ra.evaluate(labels, scores, ra.presets.sklearn(2), qid=qid).value,
                     ra.evaluate(labels, scores, ra.presets.yahoo(2), qid=qid), labels=labels, scores=scores, qid=qid)

@pytest.fixture
def compared(assert_same_ndcg):
    assert_same_ndcg(1, 1.0)

def test_in_a_fixture(compared):
    pass
"""


@pytest.mark.parametrize("suffix", ["json", "md", "html", "txt", "JSON"])
def test_the_report_is_written_in_the_form_of_its_suffix(run, pytester, suffix):
    file = pytester.path / "made" / f"parity.{suffix}"
    found = run(BOTH, "--rank-parity-report", str(file))
    found.assert_outcomes(passed=2, failed=1)
    found.stdout.fnmatch_lines([f"ranking parity: 3 compared, 1 fail; written to {file}"])
    text = file.read_text(encoding="utf-8")
    assert "test_it.py::test_other" in text.replace("\\", "").replace("&gt;", ">")
    if suffix.lower() == "json":
        data = json.loads(text)
        assert [report["name"].partition("::")[2] for report in data["reports"]] == [
            "test_same",
            "test_other",
            "test_in_a_fixture",
        ]
        assert (data["ok"], data["summary"]) == (False, "3 compared, 1 fail")
        [row] = data["reports"][1]["rows"]
        assert row["verdict"] == "different"
        assert len(row["per_query"]["contributions"]) == 2


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ("def test():\n    pass\n", ()),
        ("raise RuntimeError\n", ()),
        ("def test():\n    pass\n", ("-k", "nothing")),
        ("def test():\n    pytest.exit('enough')\n", ()),
    ],
    ids=["nothing compared", "not collected", "deselected", "interrupted"],
)
def test_the_report_is_always_written(run, pytester, body, options):
    run(body, "--rank-parity-report", "parity.txt", *options)
    assert (pytester.path / "parity.txt").read_text(encoding="utf-8") == "nothing was compared\n"


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (
            "parity.pdf",
            "--rank-parity-report parity.pdf: the suffix is the format; allowed are .json, .md, .html, .txt.",
        ),
        ("parity", "--rank-parity-report parity: the suffix is the format"),
        ("folder.md", "--rank-parity-report folder.md cannot be written: Is a directory."),
    ],
)
def test_a_file_that_cannot_be_is_refused_before_any_test(run, pytester, file, message):
    (pytester.path / "folder.md").mkdir()
    found = run("def test():\n    pass\n", "--rank-parity-report", file)
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    found.stderr.fnmatch_lines([f"ERROR: {message}*"])


def test_the_reports_of_xdists_workers_are_gathered(run, pytester):
    pytest.importorskip("xdist")
    pytester.makepyfile(test_it=DATA + BOTH)
    found = pytester.runpytest_subprocess(
        *LOADED, "-p", "xdist.plugin", "-n", "2", "--rank-parity-report", "parity.json"
    )
    found.assert_outcomes(passed=2, failed=1)
    assert len(json.loads((pytester.path / "parity.json").read_text(encoding="utf-8"))["reports"]) == 3


# The example.


def test_the_example_project_passes_as_a_newcomer_would_run_it(tmp_path):
    for toolkit in ("lightgbm", "sklearn"):
        pytest.importorskip(toolkit)
    report = tmp_path / "parity.md"
    command = [sys.executable, "-m", "pytest", "-q", *LOADED, "--rank-parity-report", str(report)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), AUTOLOAD: "1"}
    done = subprocess.run(
        command, cwd=ROOT / "examples" / "parity_in_ci", env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 fail" in done.stdout
    assert report.read_text(encoding="utf-8").startswith("# Parity\n")


def test_markers_of_a_class_and_its_test_are_joined(run):
    result = run(
        """
@pytest.mark.rank_parity(convention="lightgbm@2", toolkits=["catboost"])
class TestBoth:
    @pytest.mark.rank_parity(toolkits=["sklearn"])
    def test_joined(self, request):
        from rankadapters.pytest_plugin import _declared

        declared = _declared(request)
        assert declared["convention"] == ra.presets.lightgbm(2)
        assert declared["toolkits"] == ["sklearn"]
"""
    )
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("given", ["labels=labels, qid=qid", "scores=scores", "qid=qid"])
def test_data_by_halves_is_refused(run, given):
    result = run(f"def test(assert_same_ndcg): assert_same_ndcg(0.5, 0.5, {given})")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*labels= and scores= go together*"])
