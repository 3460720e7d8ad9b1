"""How thorough random tests are: a quick sample by default, all of it under `RANKADAPTERS_TESTS=thorough`."""

from __future__ import annotations

import os

THOROUGH = os.environ.get("RANKADAPTERS_TESTS") == "thorough"


def examples(n: int) -> int:
    """Return the number of examples, seeds or tries to run: n in a thorough run, else a fifth, at least 3."""
    return n if THOROUGH else max(3, n // 5)
