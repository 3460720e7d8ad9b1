"""The pytest plugin's options and reports, in pytester sessions."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.helpers.checkout import CHECKOUT
from tests.helpers.plugin_sessions import NO_AUTOLOAD, PLUGIN_OPTIONS, PREAMBLE

pytest_plugins = ["pytester"]


# A session that does not use the plugin


def test_loading_the_plugin_imports_neither_numpy_nor_numba_nor_a_toolkit(pytester):
    pytester.makeconftest(
        """
        import sys

        def pytest_sessionfinish():
            heavy = {"numpy", "numba", "sklearn", "lightgbm", "xgboost", "catboost", "matplotlib", "pandas"}
            print("loaded:", sorted(heavy & set(sys.modules)), "rankadapters.pytest_plugin" in sys.modules)
        """
    )
    pytester.makepyfile("def test_nothing(): pass")
    result = pytester.runpytest_subprocess(*PLUGIN_OPTIONS, "--strict-markers", "-W", "error", "-s")
    result.stdout.fnmatch_lines(["*loaded: [[]] True"])
    result.stdout.no_fnmatch_line("*parity*")
    result.assert_outcomes(passed=1)


def test_the_marker_and_the_options_are_documented(pytester):
    pytester.runpytest_inprocess(*PLUGIN_OPTIONS, "--markers").stdout.fnmatch_lines(
        ["@pytest.mark.rank_parity(convention, toolkits, require): *"]
    )
    pytester.runpytest_inprocess(*PLUGIN_OPTIONS, "--help").stdout.fnmatch_lines(
        ["*ranking parity (rankadapters):", "*--rank-convention=SPEC*", "*--rank-parity-report=FILE*"]
    )
    fixtures = pytester.runpytest_inprocess(*PLUGIN_OPTIONS, "--fixtures").stdout
    fixtures.fnmatch_lines_random(["*assert_conforms*", "*assert_same_ndcg*", "*ranking_parity*"])


def test_the_package_declares_the_plugin():
    text = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\nrankadapters = "rankadapters.pytest_plugin"' in text


# Options and the report


def test_a_bad_rank_convention_stops_the_session_before_any_test(run):
    result = run("def test():\n    pass\n", "--rank-convention", "letor@x")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --rank-convention: 'letor@x' is neither a preset@k *"])


THREE_TESTS = """
def test_same(assert_same_ndcg):
    assert_same_ndcg(0.5, 0.5)

def test_different(assert_same_ndcg):
    assert_same_ndcg(ra.evaluate(labels, scores, ra.presets.sklearn(2), qid=qid).value,
                     ra.evaluate(labels, scores, ra.presets.yahoo(2), qid=qid), labels=labels, scores=scores, qid=qid)

@pytest.fixture
def compared(assert_same_ndcg):
    assert_same_ndcg(1, 1.0)

def test_in_a_fixture(compared):
    pass
"""


@pytest.mark.parametrize("suffix", ["json", "md", "html", "txt", "JSON"])
def test_the_report_is_written_in_the_format_of_its_suffix(run, pytester, suffix):
    file = pytester.path / "new" / "folder" / f"parity.{suffix}"  # missing folders are created
    result = run(THREE_TESTS, "--rank-parity-report", str(file))
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines([f"ranking parity: 3 compared, 1 fail; written to {file}"])
    text = file.read_text(encoding="utf-8")
    assert "test_it.py::test_different" in text.replace("\\", "").replace("&gt;", ">")
    if suffix.lower() == "json":
        data = json.loads(text)
        assert [report["name"].partition("::")[2] for report in data["reports"]] == [
            "test_same",
            "test_different",
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
def test_the_report_is_written_even_if_nothing_was_compared(run, pytester, body, options):
    run(body, "--rank-parity-report", "parity.txt", *options)
    assert (pytester.path / "parity.txt").read_text(encoding="utf-8") == "nothing was compared\n"


def test_the_report_is_written_after_all_other_sessionfinish_hooks(run, pytester):
    pytester.makeconftest(
        """
        import pathlib

        def pytest_sessionfinish():
            pathlib.Path("seen").write_text(pathlib.Path("parity.txt").read_text(encoding="utf-8"))
        """
    )
    (pytester.path / "parity.txt").write_text("the previous report")
    run("def test():\n    pass\n", "--rank-parity-report", "parity.txt")
    assert (pytester.path / "seen").read_text(encoding="utf-8") == "the previous report"
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
def test_a_bad_report_file_stops_the_session_before_any_test(run, pytester, file, message):
    (pytester.path / "folder.md").mkdir()
    result = run("def test():\n    pass\n", "--rank-parity-report", file)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}*"])


def test_the_previous_report_stays_until_the_session_ends(run, pytester):
    (pytester.path / "parity.txt").write_text("the previous report")
    body = "import pathlib\ndef test():\n    assert pathlib.Path('parity.txt').read_text() == 'the previous report'\n"
    run(body, "--rank-parity-report", "parity.txt").assert_outcomes(passed=1)
    assert (pytester.path / "parity.txt").read_text(encoding="utf-8") == "nothing was compared\n"


def test_a_report_that_cannot_be_written_at_the_end_fails_the_session(run, pytester):
    result = run("import os\ndef test():\n    os.mkdir('parity.txt')\n", "--rank-parity-report", "parity.txt")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(
        ["ranking parity: nothing was compared; */parity.txt cannot be written: Is a directory."]
    )


def test_the_report_has_the_comparisons_of_all_xdist_workers(run, pytester):
    pytest.importorskip("xdist")
    pytester.makepyfile(test_it=PREAMBLE + THREE_TESTS)
    result = pytester.runpytest_subprocess(
        *PLUGIN_OPTIONS, "-p", "xdist.plugin", "-n", "2", "--rank-parity-report", "parity.json"
    )
    result.assert_outcomes(passed=2, failed=1)
    assert len(json.loads((pytester.path / "parity.json").read_text(encoding="utf-8"))["reports"]) == 3


# The example project


def test_the_example_project_passes_when_run_from_its_folder(tmp_path):
    for toolkit in ("lightgbm", "sklearn"):
        pytest.importorskip(toolkit)
    report = tmp_path / "parity.md"
    command = [sys.executable, "-m", "pytest", "-q", *PLUGIN_OPTIONS, "--rank-parity-report", str(report)]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), NO_AUTOLOAD: "1"}
    process = subprocess.run(
        command,
        cwd=CHECKOUT / "examples" / "parity_in_ci",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert "0 fail" in process.stdout
    assert report.read_text(encoding="utf-8").startswith("# Parity\n")
