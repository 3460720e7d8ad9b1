"""The choice of tests for a mutant, and the list of equivalent mutants."""

from __future__ import annotations

import pytest

from tests.mutation.equivalent import Change, equivalent_mutants, parse_diff
from tests.mutation.outline import Outline
from tests.mutation.package import imports, is_kernel, modules
from tests.mutation.plugin import evenly_spread
from tests.mutation.selection import RecordedLines
from tests.mutation.trees import CHECKOUT


def test_all_folders_except_the_command_are_mutated():
    folders = {path.parts[1] for path in modules(CHECKOUT)}
    assert "cli" not in folders
    assert {"core", "io", "sklearn", "lightgbm", "__init__.py"} <= folders


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("rankadapters/core/ranking/sorting.py", True),
        ("rankadapters/objectives/kernels/pairs.py", True),
        ("rankadapters/objectives/kernels/__init__.py", False),
        ("rankadapters/core/ranking/ranks.py", False),
    ],
)
def test_only_modules_that_numba_compiles_are_kernels(module, expected):
    assert is_kernel(module) == expected


NUMBERS = """\
ONE = 1
def one():
    return (
        ONE
    )
@kept
def two():
    return 2
"""
USER = "from rankadapters.numbers import one\ndef use():\n    return one()\n"


@pytest.fixture
def lines(tmp_path):
    """Return the record of a package with two modules."""
    (tmp_path / "rankadapters").mkdir()
    (tmp_path / "rankadapters" / "numbers.py").write_text(NUMBERS)
    (tmp_path / "rankadapters" / "user.py").write_text(USER)
    (tmp_path / "recorded").mkdir()
    lines = RecordedLines(tmp_path / "recorded", tmp_path)
    lines.seconds = {"slow": 9.0, "fast": 0.1, "case[1]": 0.2, "case[2]": 0.2, "case[3]": 0.2, "other": 1.0}
    lines.width = dict.fromkeys(lines.seconds, 10)
    cases = {"case[1]", "case[2]", "case[3]"}
    lines.by_module = {
        "rankadapters/numbers.py": {3: {"slow", "fast"} | cases},
        "rankadapters/user.py": {3: {"other"}},
    }
    return lines


def test_few_cases_of_the_fastest_tests_of_a_line_are_chosen_within_the_time(lines):
    assert lines.tests("rankadapters/numbers.py", 3, 3, 5.0) == ["fast", "case[1]", "case[2]"]
    assert lines.tests("rankadapters/numbers.py", 3, 3, 50.0) == ["fast", "case[1]", "case[2]", "slow"]


def test_a_line_inside_a_statement_has_the_tests_of_the_statement(lines):
    assert lines.tests("rankadapters/numbers.py", 4, 4, 5.0) == ["fast", "case[1]", "case[2]"]


def test_a_line_that_runs_at_import_has_the_tests_of_the_functions_that_use_it(lines):
    lines.by_module["rankadapters/numbers.py"] = {1: {"other"}, 4: {"fast"}, 8: {"slow"}}
    assert lines.tests("rankadapters/numbers.py", 1, 1, 50.0) == ["fast"]
    assert lines.tests("rankadapters/numbers.py", 6, 6, 50.0) == ["slow"]


def test_a_module_without_tests_has_the_tests_of_its_importers(lines):
    lines.by_module["rankadapters/numbers.py"] = {}
    assert lines.tests("rankadapters/numbers.py", 3, 3, 5.0) == ["other"]


def test_an_outline_has_statements_functions_and_names():
    outline = Outline("@kept\ndef f(n=2):\n    return (\n        n\n    )\n\nLIMIT: int = 3\n")
    assert outline.spans_around(4) == [(3, 5), (1, 5)]
    assert [outline.is_in_function(line) for line in (1, 2, 3, 5, 7)] == [False, False, True, True, False]
    assert [outline.names_defined(line) for line in (1, 2, 4, 7)] == [{"f"}, {"f"}, set(), {"LIMIT"}]
    assert outline.lines_that_mention({"n", "kept"}) == {1, 4}


def test_the_imports_of_a_kernel_contain_the_kernels_that_it_calls():
    imported = imports(CHECKOUT, "rankadapters/objectives/kernels/pairs.py")
    assert "rankadapters/objectives/kernels/exponentials.py" in imported
    assert "rankadapters/objectives/kernels/yetirank.py" not in imported


@pytest.mark.parametrize(("n", "expected"), [(2, [0, 9]), (4, [0, 3, 6, 9]), (20, list(range(10)))])
def test_evenly_spread_entries_include_the_first_and_the_last(n, expected):
    assert evenly_spread(list(range(10)), n) == expected


def test_parse_diff_returns_the_changed_lines():
    diff = "--- a.py\n+++ a.py\n@@ -80 +80 @@\n-        return 1 / rank\n+        return 1 * rank"
    assert parse_diff(diff) == Change("a.py", "return 1 / rank", "return 1 * rank")


@pytest.mark.parametrize("change", equivalent_mutants(), ids=lambda change: f"{change.module}-{change.mutated}")
def test_an_equivalent_mutant_changes_a_line_of_the_package_and_has_a_reason(change):
    lines = [line.strip() for line in (CHECKOUT / change.module).read_text(encoding="utf-8").splitlines()]
    assert set(change.line.split("\n")) <= set(lines)
    assert change.mutated != change.line
    assert len(equivalent_mutants()[change]) > 20
