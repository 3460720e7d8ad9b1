"""A table of facts as one test case: every row is tried, and a failure names each row that does not hold."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

LONGEST_NOTE = 300  # characters of a row in a failure


def every_row(names: str | tuple[str, ...], rows: Iterable[Any], *, ids: Any = repr) -> Callable[[Any], Any]:
    """Run a test for every row of a table, as `pytest.mark.parametrize` does, but as one case.

    `ids` writes a value of a row in the failure; it may also list the names of the rows. Other arguments of the test
    are fixtures, which all rows share.
    """
    table = [row if isinstance(names, tuple) else (row,) for row in rows]
    columns = names if isinstance(names, tuple) else (names,)
    if not table:
        raise ValueError("a table has at least one row")
    titles = [", ".join(map(ids, row)) for row in table] if callable(ids) else [str(title) for title in ids]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def try_every_row(**fixtures: Any) -> None:
            failures, skips = [], []
            for number, (title, row) in enumerate(zip(titles, table, strict=True)):
                try:
                    test(**fixtures, **dict(zip(columns, row, strict=True)))
                except pytest.skip.Exception as skip:
                    skips.append(skip)
                except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 - a group of all is raised
                    failure.add_note(f"row {number}: {title[:LONGEST_NOTE]}")
                    failures.append(failure)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(table)} rows fail", failures)
            if len(skips) == len(table):
                raise skips[0]

        parameters = inspect.signature(test).parameters.values()
        try_every_row.__signature__ = inspect.Signature([each for each in parameters if each.name not in columns])
        return try_every_row

    return decorate
