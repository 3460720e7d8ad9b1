"""The targets by name, each a hypothesis test."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

MODULES = sorted(path.stem for path in Path(__file__).parent.glob("test_*.py"))


def targets() -> dict[str, Callable[..., Any]]:
    """Import the modules and find their tests that hypothesis drives."""
    found = {}
    for name in MODULES:
        module = importlib.import_module(f"tests.fuzz.{name}")
        for test, function in vars(module).items():
            if test.startswith("test_") and hasattr(function, "hypothesis"):
                found[test.removeprefix("test_")] = function
    return found
