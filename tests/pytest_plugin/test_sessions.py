"""The pytest plugin, in sessions of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.helpers.plugin_sessions import AUTOLOAD, DATA, LOADED, ROOT

pytest_plugins = ["pytester"]


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
    fixtures = pytester.runpytest_inprocess(*LOADED, "--fixtures").stdout
    fixtures.fnmatch_lines_random(["*assert_conforms*", "*assert_same_ndcg*", "*ranking_parity*"])


def test_the_package_declares_it():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\nrankadapters = "rankadapters.pytest_plugin"' in text


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


def test_folders_of_the_report_that_are_missing_are_made(run, pytester):
    run("def test():\n    pass\n", "--rank-parity-report", "new/folder/parity.txt")
    assert (pytester.path / "new" / "folder" / "parity.txt").read_text(encoding="utf-8") == "nothing was compared\n"


def test_the_report_is_written_after_all_that_others_do_when_a_session_ends(run, pytester):
    pytester.makeconftest(
        """
        import pathlib

        def pytest_sessionfinish():
            pathlib.Path("seen").write_text(pathlib.Path("parity.txt").read_text(encoding="utf-8"))
        """
    )
    (pytester.path / "parity.txt").write_text("of the run before")
    run("def test():\n    pass\n", "--rank-parity-report", "parity.txt")
    assert (pytester.path / "seen").read_text(encoding="utf-8") == "of the run before"
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


def test_the_report_before_stays_until_there_is_another(run, pytester):
    (pytester.path / "parity.txt").write_text("of the run before")
    body = "import pathlib\ndef test():\n    assert pathlib.Path('parity.txt').read_text() == 'of the run before'\n"
    run(body, "--rank-parity-report", "parity.txt").assert_outcomes(passed=1)
    assert (pytester.path / "parity.txt").read_text(encoding="utf-8") == "nothing was compared\n"


def test_a_report_that_cannot_be_written_at_the_end_is_told(run, pytester):
    found = run("import os\ndef test():\n    os.mkdir('parity.txt')\n", "--rank-parity-report", "parity.txt")
    found.assert_outcomes(passed=1)
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    found.stdout.fnmatch_lines(
        ["ranking parity: nothing was compared; */parity.txt cannot be written: Is a directory."]
    )


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
