"""Compare methods over data sets: winning numbers, Pareto fronts, and leave-one-out winning numbers."""

from functools import partial

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

__dir__ = partial(sorted, __all__)  # completion shows only public names
