"""Compare methods over data sets: winning numbers, Pareto fronts, and leave-one-out winning numbers."""

from __future__ import annotations

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
from rankadapters.core.declaration.guesses import list_public

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

list_public(__name__)
