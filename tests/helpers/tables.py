"""A test that goes through the rows of a table as one case and names all rows that fail."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

MOST = 10  # failed rows, after which the rest of the table is not run
SHORT = 100  # characters of a row's name


def for_each(
    names: str | tuple[str, ...],
    rows: Iterable[Any] | Callable[..., Iterable[Any]],
    ids: Callable[[Any], object] | Iterable[str] = repr,
) -> Callable[..., Any]:
    """Call a test for every row and fail with the rows that failed.

    Takes what `pytest.mark.parametrize` takes, where the rows are too many or too alike to be cases. Fixtures are those
    of the one case: what a row writes or patches is still there for the next. It may be stacked. Rows that depend on a
    fixture are a function of the fixtures.
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
                    test(**fixtures, **dict(zip(arguments, values, strict=True)))
                except pytest.skip.Exception as reason:
                    skipped.append(reason)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - every failure is reported
                    failures.append((name, error))
                if len(failures) == MOST:
                    break
            if failures:
                report(failures, len(table))
            if len(skipped) == len(table):
                raise skipped[0]

        parameters = inspect.signature(test).parameters
        assert not set(arguments) - set(parameters), f"{test.__name__} has no argument for some of {names}"
        fixtures = [each for name, each in parameters.items() if name not in arguments]
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
    """Return what a message calls a row."""
    if isinstance(row, PARAMETERS):
        return str(row.id or ", ".join(repr(value) for value in row.values))[:SHORT]
    values = row if isinstance(row, tuple) else (row,)
    return ", ".join(str(ids(value)) for value in values)[:SHORT]


def report(failures: list[tuple[str, BaseException]], rows: int) -> None:
    """Fail with one line for each failed row, and the first row's traceback."""
    lines = [f"- {name}: {type(error).__name__}: {error!s:.300}" for name, error in failures]
    more = f"the first {MOST}" if len(failures) == MOST else f"{len(failures)} of {rows}"
    raise AssertionError("\n".join([f"rows that failed ({more}):", *lines])) from failures[0][1]
