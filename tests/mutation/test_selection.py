"""What chooses tests, and what is said of the mutants that survive."""

from __future__ import annotations

import pytest

from tests.mutation.equivalent import Change, changed, listed
from tests.mutation.outline import Outline
from tests.mutation.package import dependents, imports, is_kernel, modules
from tests.mutation.plugin import some_of
from tests.mutation.selection import Lines
from tests.mutation.trees import CHECKOUT


def test_the_command_is_left_out_and_every_other_folder_is_in():
    folders = {path.parts[1] for path in modules(CHECKOUT)}
    assert "cli" not in folders
    assert {"core", "io", "sklearn", "lightgbm", "__init__.py"} <= folders


@pytest.mark.parametrize(
    ("module", "is_one"),
    [
        ("rankadapters/core/kernels/dcg.py", True),
        ("rankadapters/objectives/kernels/lambdas.py", True),
        ("rankadapters/core/kernels/__init__.py", False),
        ("rankadapters/core/kernels/compiling.py", False),
        ("rankadapters/core/kernels/in_numpy/ranking.py", False),
        ("rankadapters/core/kernels/dispatch.py", False),
    ],
)
def test_kernels_are_what_numba_compiles(module, is_one):
    assert is_kernel(module) == is_one


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
    """A package of two modules, of which nothing was recorded yet."""
    (tmp_path / "rankadapters").mkdir()
    (tmp_path / "rankadapters" / "numbers.py").write_text(NUMBERS)
    (tmp_path / "rankadapters" / "user.py").write_text(
        "from rankadapters.numbers import one\ndef use():\n    return one()\n"
    )
    (tmp_path / "recorded").mkdir()
    made = Lines(tmp_path / "recorded", tmp_path)
    made.seconds = {"slow": 9.0, "fast": 0.1, "case[1]": 0.2, "case[2]": 0.2, "case[3]": 0.2, "other": 1.0}
    made.width = dict.fromkeys(made.seconds, 10)
    cases = {"case[1]", "case[2]", "case[3]"}
    made.by_module = {
        "rankadapters/numbers.py": {3: {"slow", "fast"} | cases},
        "rankadapters/user.py": {3: {"other"}},
    }
    return made


def test_tests_of_a_line_come_fastest_first_within_their_time_and_few_cases_of_each(lines):
    assert lines.tests("rankadapters/numbers.py", 3, 3, 5.0) == ["fast", "case[1]", "case[2]"]
    assert lines.tests("rankadapters/numbers.py", 3, 3, 50.0) == ["fast", "case[1]", "case[2]", "slow"]


def test_a_line_within_a_statement_has_the_tests_of_the_statement(lines):
    assert lines.tests("rankadapters/numbers.py", 4, 4, 5.0) == ["fast", "case[1]", "case[2]"]


def test_what_runs_at_import_has_the_tests_of_the_functions_that_use_it(lines):
    lines.by_module["rankadapters/numbers.py"] = {1: {"other"}, 4: {"fast"}, 8: {"slow"}}
    assert lines.tests("rankadapters/numbers.py", 1, 1, 50.0) == ["fast"]
    assert lines.tests("rankadapters/numbers.py", 6, 6, 50.0) == ["slow"]


def test_a_module_that_no_test_runs_has_those_of_its_importers(lines):
    lines.by_module["rankadapters/numbers.py"] = {}
    assert lines.tests("rankadapters/numbers.py", 3, 3, 5.0) == ["other"]


def test_an_outline_knows_statements_functions_and_names():
    outline = Outline("@kept\ndef f(n=2):\n    return (\n        n\n    )\n\nLIMIT: int = 3\n")
    assert outline.around(4) == [(3, 5), (1, 5)]
    assert [outline.is_in_function(line) for line in (1, 2, 3, 5, 7)] == [False, False, True, True, False]
    assert [outline.defined(line) for line in (1, 2, 4, 7)] == [{"f"}, {"f"}, set(), {"LIMIT"}]
    assert outline.mentions({"n", "kept"}) == {1, 4}


def test_what_imports_a_kernel_is_compiled_anew():
    kernel = "rankadapters/objectives/kernels/exponentials.py"
    found = dependents(CHECKOUT, kernel)
    assert {kernel, "rankadapters/objectives/kernels/lambdas.py"} <= found
    assert "rankadapters/core/kernels/dcg.py" not in found
    assert kernel in imports(CHECKOUT, "rankadapters/objectives/kernels/lambdas.py")


@pytest.mark.parametrize(("n", "expected"), [(2, [0, 9]), (4, [0, 3, 6, 9]), (20, list(range(10)))])
def test_some_of_a_list_spread_over_it(n, expected):
    assert some_of(list(range(10)), n) == expected


def test_a_change_is_read_off_a_diff():
    diff = "--- a.py\n+++ a.py\n@@ -80 +80 @@\n-        return 1 / rank\n+        return 1 * rank"
    assert changed(diff) == Change("a.py", "return 1 / rank", "return 1 * rank")


@pytest.mark.parametrize("change", listed(), ids=lambda change: f"{change.module}-{change.mutated}")
def test_what_is_listed_as_equivalent_is_a_line_of_the_package_and_says_why(change):
    lines = [line.strip() for line in (CHECKOUT / change.module).read_text(encoding="utf-8").splitlines()]
    assert set(change.line.split("\n")) <= set(lines)
    assert change.mutated != change.line
    assert len(listed()[change]) > 20
