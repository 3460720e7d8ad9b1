"""Fuzz by hand: `python -m tests.fuzz --examples 1000000`, which prints what pytest does.

Each target has its share of the examples. With atheris (`pip install atheris`) coverage leads the search; without it,
or with `--plain`, hypothesis does, which keeps what failed in `.hypothesis` and tries it first the next time.
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
    """A plugin of pytest that gives every target its share of the examples, and searches with atheris or hypothesis."""

    def __init__(self, examples: int, names: list[str], *, guided: bool) -> None:
        self.examples, self.names, self.guided = examples, names, guided

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keep the tests that hypothesis drives, of these names if there are any."""
        from hypothesis import settings  # which pytest rewrites, and must be the first to import

        wanted = [f"test_{name}" for name in self.names]
        items[:] = [item for item in items if hasattr(item.obj, "hypothesis") and item.name in (wanted or [item.name])]
        usual = [item.obj._hypothesis_internal_use_settings for item in items]
        of_all = sum(each.max_examples for each in usual)
        for item, each in zip(items, usual, strict=True):
            share = max(1, round(self.examples * each.max_examples / of_all))
            item.obj._hypothesis_internal_use_settings = settings(each, max_examples=share)
            if self.guided:
                item.obj = partial(guided, item.obj.__module__, item.name, share)


def guided(module: str, name: str, examples: int) -> None:
    """Search with atheris, in a process of its own, which ends at the first finding."""
    command = [sys.executable, "-m", "tests.fuzz.guided", module, name, str(examples)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def main() -> int:
    """Fuzz the targets one after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz by hand.")
    parser.add_argument(
        "--examples", type=int, default=examples(10_000), help="of all targets (or of those named) together"
    )
    parser.add_argument("--target", nargs="+", default=[], metavar="NAME", help="a test's name after test_")
    parser.add_argument("--plain", action="store_true", help="with hypothesis alone")
    options = parser.parse_args()
    with_atheris = not options.plain and importlib.util.find_spec("atheris") is not None
    budget = Budget(options.examples, options.target, guided=with_atheris)
    return pytest.main([str(Path(__file__).parent), "--verbose", "--durations=0"], plugins=[budget])


if __name__ == "__main__":
    sys.exit(main())
