"""The tests that are expected to fail, each with its reason: `python -m tests.expected` writes `tests/expected.md`.

`python -m tests.expected --check` exits with status 1 if the list is out of date. Install everything first, since the
tests of a missing toolkit are not collected.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

FILE = Path(__file__).parent / "expected.md"
HEADING = """# Expected failures

Each is strict: if such a test passes, the run fails, so the list stays true. Most show a fault of a toolkit or of
scikit-learn. `python -m tests.expected` writes this file.

| test | cases | reason |
|---|--:|---|
"""


class Collector:
    """Counts the collected tests that carry an `xfail` mark, by function and reason."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Read the marks of the collected tests."""
        for item in session.items:
            for mark in item.iter_markers("xfail"):
                name = item.nodeid.partition("[")[0]
                self.counts[name, " ".join(str(mark.kwargs.get("reason", "")).split())] += 1


def expected_failures() -> str:
    """Return the text of the page."""
    collector = Collector()
    pytest.main(["--collect-only", "-m", "", "-p", "no:terminal", "-p", "no:cacheprovider", "tests"], [collector])
    rows = (f"| `{name}` | {count} | {reason} |" for (name, reason), count in sorted(collector.counts.items()))
    return HEADING + "\n".join(rows) + "\n"


if __name__ == "__main__":
    page = expected_failures()
    if sys.argv[1:] == ["--check"]:
        current = page == FILE.read_text(encoding="utf-8")
        sys.exit(0 if current else f"{FILE.name} is out of date: python -m tests.expected")
    FILE.write_text(page, encoding="utf-8")
