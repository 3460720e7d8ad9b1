"""Parameters of tests: short names of long values, and marks of the long ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def short(value: Any) -> str:
    """Return an id of a value with a long text, such as a convention."""
    return str(value)[:60]


def long_except(names: Iterable[str], *short_names: str) -> list[Any]:
    """Return the cases of `pytest.mark.parametrize` with all names, of which all but some are marked as long."""
    return [pytest.param(name, marks=[pytest.mark.long] * (name not in short_names), id=name) for name in names]
