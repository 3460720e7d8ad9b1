"""A decorator that runs a test for every row of a table as one case, and names all rows that fail."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.helpers.missing_packages import skipped_if_a_package_is_missing

MAX_FAILURES = 10  # after so many failed rows the remaining rows do not run
MAX_TITLE = 100  # characters of a row's name


def for_each(
    names: str | tuple[str, ...],
    rows: Iterable[Any] | Callable[..., Iterable[Any]],
    ids: Callable[[Any], object] | Iterable[str] = repr,
) -> Callable[..., Any]:
    """Return a decorator that calls a test for every row and fails with the names of the rows that failed.

    It replaces `pytest.mark.parametrize` where rows are too many or too similar to be cases. All rows share the
    fixtures of one case, so that a row sees the files and patches of earlier rows. Decorators may be stacked. If rows
    depend on fixtures, `rows` is a function of the fixtures.
    """
    arguments = [names] if isinstance(names, str) else list(names)
    fixed = None if callable(rows) else list(rows)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run_all(**fixtures: Any) -> None:
            failures, skipped = [], []
            table = list(rows(**fixtures)) if fixed is None else fixed
            titles = [title(row, ids) for row in table] if callable(ids) else list(ids)
            if not table:
                pytest.skip(f"no rows of {', '.join(arguments)} here")
            for row, name in zip(table, titles, strict=True):
                values = values_of(row, single=isinstance(names, str))
                try:
                    with skipped_if_a_package_is_missing():
                        test(**fixtures, **dict(zip(arguments, values, strict=True)))
                except pytest.skip.Exception as reason:
                    skipped.append(reason)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - every failure is reported
                    failures.append((name, error))
                if len(failures) == MAX_FAILURES:
                    break
            if failures:
                raise_failures(failures, len(table))
            if len(skipped) == len(table):
                raise skipped[0]

        parameters = inspect.signature(test).parameters
        assert not set(arguments) - set(parameters), f"{test.__name__} has no argument for some of {names}"
        fixtures = [parameter for name, parameter in parameters.items() if name not in arguments]
        run_all.__signature__ = inspect.Signature(fixtures)  # type: ignore[attr-defined]
        return run_all

    return decorate


PARAMETERS = type(pytest.param())


def short(value: Any) -> str:
    """Return an id of a value with a long text, such as a convention."""
    return str(value)[:60]


def values_of(row: Any, *, single: bool) -> tuple[Any, ...]:
    """Return a row's values, one for each argument."""
    if isinstance(row, PARAMETERS):
        assert not row.marks, "a row cannot have marks; make it a case"
        return tuple(row.values)
    return (row,) if single else tuple(row)


def title(row: Any, ids: Callable[[Any], object]) -> str:
    """Return the name of a row in a message."""
    if isinstance(row, PARAMETERS):
        return str(row.id or ", ".join(repr(value) for value in row.values))[:MAX_TITLE]
    values = row if isinstance(row, tuple) else (row,)
    return ", ".join(str(ids(value)) for value in values)[:MAX_TITLE]


def raise_failures(failures: list[tuple[str, BaseException]], rows: int) -> None:
    """Fail with one line for each failed row, and the first row's traceback."""
    lines = [f"- {name}: {type(error).__name__}: {error!s:.300}" for name, error in failures]
    more = f"the first {MAX_FAILURES}" if len(failures) == MAX_FAILURES else f"{len(failures)} of {rows}"
    raise AssertionError("\n".join([f"rows that failed ({more}):", *lines])) from failures[0][1]


def long_except(names: Iterable[str], *short_names: str) -> list[Any]:
    """Return the cases of `pytest.mark.parametrize` with all names, of which all but some are marked as long."""
    return [pytest.param(name, marks=[pytest.mark.long] * (name not in short_names), id=name) for name in names]
