"""A test with `for_each` names every row that fails, and is skipped only if all rows are."""

from __future__ import annotations

import re

import pytest

from tests.helpers.tables import MAX_FAILURES, for_each


def test_all_failed_rows_are_named_and_the_first_is_the_cause():
    @for_each(("left", "right"), [(1, 1), (1, 2), (2, 2), pytest.param(3, 4, id="last")])
    def equal(left, right):
        assert left == right

    with pytest.raises(AssertionError, match=r"(?s)\(2 of 4\):\n- 1, 2: .*\n- last: ") as failure:
        equal()
    assert "1 == 2" in str(failure.value.__cause__)


def test_an_error_and_a_missing_error_are_failures():
    @for_each("number", [0, 1])
    def division(number):
        with pytest.raises(ZeroDivisionError):
            divmod(1, number)

    with pytest.raises(AssertionError, match="- 1: Failed: DID NOT RAISE"):
        division()


def test_tables_can_be_stacked_and_take_fixtures(tmp_path):
    rows = []

    @for_each("letter", "ab")
    @for_each("number", [1, 2])
    def collect(letter, number, folder):
        rows.append((letter, number, folder))

    collect(folder=tmp_path)
    assert rows == [("a", 1, tmp_path), ("a", 2, tmp_path), ("b", 1, tmp_path), ("b", 2, tmp_path)]


def test_a_table_stops_after_many_failures():
    calls = []

    @for_each("number", range(100))
    def fail(number):
        calls.append(number)
        raise ValueError(number)

    with pytest.raises(AssertionError, match=re.escape(f"(the first {MAX_FAILURES}):")):
        fail()
    assert len(calls) == MAX_FAILURES


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


def test_unknown_arguments_and_rows_with_marks_are_refused():
    with pytest.raises(AssertionError, match="nosuch"):
        for_each("nosuch", [1])(lambda number: number)
    with pytest.raises(AssertionError, match="a row cannot have marks"):
        for_each("number", [pytest.param(1, marks=pytest.mark.xfail)])(lambda number: number)()
