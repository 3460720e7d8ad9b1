"""The targets by name, each a hypothesis test."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

MODULES = sorted(path.stem for path in Path(__file__).parent.glob("test_*.py"))


@cache
def targets() -> dict[str, Callable[..., Any]]:
    """Import the modules and find their tests that hypothesis drives."""
    found = {}
    for name in MODULES:
        try:
            module = importlib.import_module(f"tests.fuzz.{name}")
        except pytest.skip.Exception:  # a toolkit is not installed
            continue
        for test, function in vars(module).items():
            if test.startswith("test_") and hasattr(function, "hypothesis"):
                found[test.removeprefix("test_")] = function
    return found
