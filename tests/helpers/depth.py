"""How thorough a test run is: quick, or as the environment variable RANKADAPTERS_TESTS says.

`golden` also reads the whole golden files; `thorough` also runs all random examples, and all ways of
each training in `tests/training`.
"""

from __future__ import annotations

import os

DEPTH = os.environ.get("RANKADAPTERS_TESTS")
THOROUGH = DEPTH == "thorough"
WHOLE = DEPTH in {"golden", "thorough"}


def examples(n: int) -> int:
    """Return the number of examples, seeds or tries to run: n in a thorough run, else a fifth, at least 3."""
    return n if THOROUGH else max(3, n // 5)
