"""The pytest plugin's option and the example project, in pytester sessions."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.helpers.checkout import CHECKOUT
from tests.helpers.python_processes import NO_AUTOLOAD, PLUGIN_OPTIONS

pytest_plugins = ["pytester"]


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


def test_the_marker_and_the_option_are_documented(pytester):
    pytester.runpytest_inprocess(*PLUGIN_OPTIONS, "--markers").stdout.fnmatch_lines(
        ["@pytest.mark.rank_parity(convention, toolkits, require): *"]
    )
    pytester.runpytest_inprocess(*PLUGIN_OPTIONS, "--help").stdout.fnmatch_lines(
        ["*ranking parity (rankadapters):", "*--rank-convention=SPEC*"]
    )
    fixtures = pytester.runpytest_inprocess(*PLUGIN_OPTIONS, "--fixtures").stdout
    fixtures.fnmatch_lines_random(["*assert_conforms*", "*assert_same_ndcg*", "*ranking_parity*"])


def test_the_package_declares_the_plugin():
    text = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\nrankadapters = "rankadapters.pytest_plugin"' in text


def test_a_bad_rank_convention_stops_the_session_before_any_test(run):
    result = run("def test():\n    pass\n", "--rank-convention", "letor@x")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --rank-convention: 'x' in 'letor@x' is not a cutoff; *"])


@pytest.mark.long
def test_the_example_project_passes_when_run_from_its_folder():
    for toolkit in ("lightgbm", "sklearn"):
        pytest.importorskip(toolkit)
    command, folder = [sys.executable, "-m", "pytest", "-q", *PLUGIN_OPTIONS], CHECKOUT / "examples" / "parity_in_ci"
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), NO_AUTOLOAD: "1"}
    process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
