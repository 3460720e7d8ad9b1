"""What the tests themselves rely on: tables of rows, broken test modules, golden files and the shared data."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import shared_data
from tests.helpers.checkout import CHECKOUT
from tests.helpers.tables import MAX_FAILURES, for_each

TESTS = Path(__file__).parent.parent


def test_all_failed_rows_are_named_and_the_first_is_the_cause():
    @for_each(("left", "right"), [(1, 1), (1, 2), (2, 2), pytest.param(3, 4, id="last")])
    def equal(left, right):
        assert left == right

    with pytest.raises(AssertionError, match=r"(?s)\(2 of 4\):\n- 1, 2: .*\n- last: ") as failure:
        equal()
    assert "1 == 2" in str(failure.value.__cause__)


def test_a_missing_error_is_a_failure_and_a_table_stops_after_many():
    calls = []

    @for_each("number", range(100))
    def raises(number):
        calls.append(number)
        with pytest.raises(ZeroDivisionError):
            divmod(1, number)

    with pytest.raises(
        AssertionError, match=re.escape(f"(the first {MAX_FAILURES}):") + "\n- 1: Failed: DID NOT RAISE"
    ):
        raises()
    assert len(calls) == MAX_FAILURES + 1


def test_a_table_is_skipped_if_all_its_rows_are():
    @for_each("number", [1, 2])
    def skip(number):
        if number > limit:
            pytest.skip("too large")

    limit = 1
    skip()
    limit = 0
    with pytest.raises(pytest.skip.Exception, match="too large"):
        skip()
    with pytest.raises(pytest.skip.Exception, match="no rows of number here"):
        for_each("number", [])(lambda number: number)()


@pytest.mark.long
@for_each(("first_line", "code"), [("from rankadapters import nothing", 2), ("import rankadapters", 0)])
def test_a_test_module_that_cannot_be_imported_is_an_error_although_the_search_for_doctests_skips_it(
    tmp_path, first_line, code
):
    (tmp_path / "test_one.py").write_text(f"{first_line}\n\n\ndef test():\n    pass\n")
    options = (
        "--import-mode=importlib",
        "--doctest-modules",
        "--doctest-ignore-import-errors",
        "-p",
        "no:rankadapters",
    )
    pytest_of_the_checkout = (sys.executable, "-m", "pytest", "-p", "tests.conftest", "-c", os.devnull)
    command = [*pytest_of_the_checkout, "--rootdir", tmp_path, *options, tmp_path]
    process = subprocess.run(command, cwd=CHECKOUT, capture_output=True, check=False)
    assert process.returncode == code, process.stdout.decode()


def test_without_shared_data_golden_files_are_read_and_mq2008_is_skipped(monkeypatch, tmp_path):
    monkeypatch.setattr(shared_data, "SHARED", tmp_path)
    monkeypatch.setattr(shared_data, "MQ2008", tmp_path / "data" / "MQ2008")
    assert shared_data.shared_records("toolkits/xgboost_metrics") == []
    with pytest.raises(pytest.skip.Exception, match="MQ2008 is not there"):
        shared_data.mq2008_files()


@for_each("file", sorted(TESTS.glob("golden/*.json")), ids=lambda file: file.stem)
def test_every_golden_file_is_small_and_described_in_the_readme(file):
    assert file.stat().st_size < 800_000
    assert f"`{file.name}`" in (TESTS / "golden" / "README.md").read_text(encoding="utf-8")
