"""The table of rows as one case: it fails where a row fails, names those rows, and hands fixtures on."""

from __future__ import annotations

import pytest

from tests.core.every_row import every_row


@every_row(("number", "square"), [(1, 1), (2, 4)])
def test_every_row_is_tried_with_the_fixtures_of_the_test(number, square, monkeypatch):
    assert number**2 == square
    assert isinstance(monkeypatch, pytest.MonkeyPatch)


def test_a_failure_names_the_rows_and_the_other_rows_are_tried():
    tried = []

    @every_row("number", [1, 2, 3], ids="row {}".format)
    def check(number):
        tried.append(number)
        assert number == 2
        with pytest.raises(ValueError, match="no"):
            pass

    with pytest.raises(BaseExceptionGroup, match="3 of 3 rows fail") as failure:
        check()
    assert tried == [1, 2, 3]
    assert [each.__notes__ for each in failure.value.exceptions] == [
        ["row 0: row 1"], ["row 1: row 2"], ["row 2: row 3"]
    ]  # fmt: skip


def test_a_test_is_skipped_where_every_row_is():
    ran = []

    @every_row("number", [1, 2])
    def some_skip(number):
        if number == 1:
            pytest.skip("one")
        ran.append(number)

    @every_row("number", [1, 2])
    def all_skip(number):
        pytest.skip("each")

    some_skip()
    assert ran == [2]
    with pytest.raises(pytest.skip.Exception, match="each"):
        all_skip()


def test_a_table_without_rows_is_an_error():
    with pytest.raises(ValueError, match="at least one row"):
        every_row("number", [])
