"""Parameters of tests: short names, marks of the long ones, and how many examples a run tries.

The environment variable RANKADAPTERS_TESTS says how thorough a run is. `golden` also reads the whole golden files;
`thorough` also runs all random examples, and all ways of each training in `tests/training`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest


def short(value: Any) -> str:
    """Return an id of a value with a long text, such as a convention."""
    return str(value)[:60]


def long_except(names: Iterable[str], *short_names: str) -> list[Any]:
    """Return the cases of `pytest.mark.parametrize` with all names, of which all but some are marked as long."""
    return [pytest.param(name, marks=[pytest.mark.long] * (name not in short_names), id=name) for name in names]


DEPTH = os.environ.get("RANKADAPTERS_TESTS")
THOROUGH = DEPTH == "thorough"
WHOLE = DEPTH in {"golden", "thorough"}


def some(cases: Iterable[Any], every: int) -> list[Any]:
    """Return all cases in a thorough run, else the first of every so many."""
    return list(cases)[:: 1 if THOROUGH else every]


def examples(n: int) -> int:
    """Return the number of examples, seeds or tries to run: n in a thorough run, else a fifth, at least 3."""
    return n if THOROUGH else max(3, n // 5)
