"""Compare methods over data sets: winning numbers, Pareto fronts, and leave-one-out winning numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankadapters.compare.page import page
from rankadapters.compare.results import Results
from rankadapters.compare.winning import (
    Front,
    LeaveOneOut,
    MixedDecimalsWarning,
    WinningNumbers,
    front,
    leave_one_out,
    winning_numbers,
)
from rankadapters.core.declaration.guesses import hints

__all__ = [
    "Front",
    "LeaveOneOut",
    "MixedDecimalsWarning",
    "Results",
    "WinningNumbers",
    "front",
    "leave_one_out",
    "page",
    "winning_numbers",
]


if not TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = hints(__name__, __all__)


def __dir__() -> list[str]:
    """Return only the public names, for completion."""
    return sorted(__all__)
