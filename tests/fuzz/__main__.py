"""Fuzz by hand: `python -m tests.fuzz --examples 1000000` runs pytest with that many examples.

Each target gets a share of the examples. If atheris is installed (`pip install atheris`), coverage guides the search.
Otherwise, or with `--plain`, hypothesis searches; it keeps failures in `.hypothesis` and tries them first next time.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.depth import examples


class Budget:
    """A pytest plugin that gives every target its share of the examples, and searches with atheris or hypothesis."""

    def __init__(self, examples: int, names: list[str], *, guided: bool) -> None:
        self.examples, self.names, self.guided = examples, names, guided

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keep the hypothesis tests, or only those that were named, and set their numbers of examples."""
        from hypothesis import settings  # pytest rewrites hypothesis, so it must import it first

        names = [f"test_{name}" for name in self.names]
        items[:] = [item for item in items if hasattr(item.obj, "hypothesis") and item.name in (names or [item.name])]
        usual = [item.obj._hypothesis_internal_use_settings for item in items]
        total = sum(item_settings.max_examples for item_settings in usual)
        for item, item_settings in zip(items, usual, strict=True):
            share = max(1, round(self.examples * item_settings.max_examples / total))
            item.obj._hypothesis_internal_use_settings = settings(item_settings, max_examples=share)
            if self.guided:
                item.obj = partial(guided, item.obj.__module__, item.name, share)


def guided(module: str, name: str, examples: int) -> None:
    """Search with atheris in a new process, which ends at the first finding."""
    command = [sys.executable, "-m", "tests.fuzz.guided", module, name, str(examples)]
    process = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    assert process.returncode == 0, (process.stdout + process.stderr)[-3000:]


def main() -> int:
    """Fuzz the targets, one at a time."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz by hand.")
    parser.add_argument(
        "--examples", type=int, default=examples(10_000), help="of all targets (or of those named) together"
    )
    parser.add_argument("--target", nargs="+", default=[], metavar="NAME", help="a test's name after test_")
    parser.add_argument("--plain", action="store_true", help="with hypothesis alone")
    options = parser.parse_args()
    with_atheris = not options.plain and importlib.util.find_spec("atheris") is not None
    budget = Budget(options.examples, options.target, guided=with_atheris)
    return pytest.main([str(Path(__file__).parent), "--verbose", "--durations=0", "-m", ""], plugins=[budget])


if __name__ == "__main__":
    sys.exit(main())
