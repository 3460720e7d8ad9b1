"""Short ids of parametrized cases."""

from __future__ import annotations

from typing import Any

import rankadapters as ra
from rankadapters.objectives import Objective

LONGEST_ID = 40


def pytest_make_parametrize_id(val: Any) -> str | None:
    """Return the name of a convention, the kind of an objective, the start of a long text; None for pytest's own id."""
    if isinstance(val, Objective):
        return val.kind
    if isinstance(val, ra.Convention):
        return val.name[:LONGEST_ID]
    if isinstance(val, str | bytes | int) and len(repr(val)) > LONGEST_ID:
        return repr(val).strip("'\"")[:LONGEST_ID]
    return None
