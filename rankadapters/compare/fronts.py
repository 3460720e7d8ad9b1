"""Methods that no other beats in both: in how often they win, and on how much that rests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankadapters.compare.winning import ALL, WinningNumbers
from rankadapters.core.declaration.arguments import choice, flag
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.table import Table
from rankadapters.plotting.fronts import fronts
from rankadapters.statistics.document import Document

AGAINST = {"iwn": "ideal winning number", "n_datasets": "number of data sets"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Front(Document):
    """The methods that are not beaten; made by `front`.

    Attributes
    ----------
    against : str
        What the normalised winning number is weighed against: `iwn` or `n_datasets`.
    strict : bool
        Whether a method is beaten only by one that is higher in both.
    first : tuple of str
        Methods that no other beats, the highest normalised winning number first.
    second : tuple of str
        Methods that exactly one other beats.
    points : dict of str to (int, float)
        What it is weighed against and the normalised winning number, of every method that has one.
    """

    against: str
    strict: bool
    first: tuple[str, ...]
    second: tuple[str, ...]
    points: dict[str, tuple[int, float]]

    def blocks(self) -> list[str | Table]:
        """Give the methods of both ranks."""
        lines = [
            (name, rank, f"{self.points[name][1]:.4f}", str(self.points[name][0]))
            for rank, names in (("1", self.first), ("2", self.second))
            for name in names
        ]
        what = AGAINST[self.against]
        beaten = "higher in both" if self.strict else "as high in both and higher in one"
        return [
            Table.of(f"Front of NWN and {what}", ("method", "rank", "NWN", what), lines),
            f"Rank 1: no other method is {beaten}. Rank 2: exactly one is.",
        ]

    def plot(self) -> Any:
        """Draw every method, with those of both ranks named, as Figures 1 and 2 of Tax et al. (2015).

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        MissingToolkitError
            matplotlib or adjustText is not installed.
        """
        return fronts(self.points, [self.first, self.second], AGAINST[self.against], "normalised winning number")

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types."""
        points = {name: list(point) for name, point in self.points.items()}
        ranks = {"first": list(self.first), "second": list(self.second)}
        return {"against": self.against, "strict": self.strict, **ranks, "points": points}


def front(numbers: WinningNumbers, *, against: str = "iwn", strict: bool = False, group: str = ALL) -> Front:
    """Find the methods that no other beats in both, and those that exactly one does.

    Parameters
    ----------
    numbers : WinningNumbers
        Made by `winning_numbers`.
    against : str
        What NWN is weighed against: `iwn`, how many meetings it rests on, or `n_datasets`.
    strict : bool
        By default a method is beaten by one that is at least as high in both and higher in one. Strictly, as the text
        of Tax et al. (2015) has it, only by one that is higher in both: where all have met as often, nothing is beaten.
    group : str
        A measure or data set of `numbers.groups`; all by default.

    Raises
    ------
    InputError
        `against` or `group` is unknown.

    Examples
    --------
    >>> from rankadapters.compare import Results, winning_numbers
    >>> values = {("a", "D1", "MAP"): 0.5, ("b", "D1", "MAP"): 0.4, ("c", "D1", "MAP"): 0.3}
    >>> numbers = winning_numbers(Results(values, higher_is_better=True))
    >>> front(numbers).first, front(numbers).second, front(numbers, strict=True).first
    (('a',), ('b',), ('a', 'b', 'c'))
    """
    choice("against", against, AGAINST, hint="against='n_datasets'")
    if not isinstance(numbers, WinningNumbers):
        msg = f"numbers are of type {type(numbers).__name__}.\nHint: ra.compare.winning_numbers(results)."
        raise InputError(msg)
    choice("group", group, numbers.groups, hint="group='all' is the last")
    strict, row = flag("strict", strict), numbers.groups.index(group)
    defined = np.flatnonzero(~np.isnan(numbers.nwn[row]))
    heights, widths = numbers.nwn[row][defined], getattr(numbers, against)[row][defined]
    times = np.array([_n_beating(m, heights, widths, strict=strict) for m in range(defined.size)], int)
    names = [numbers.methods[m] for m in defined]
    first, second = (
        tuple(names[m] for m in np.argsort(-heights, kind="stable") if times[m] == rank) for rank in (0, 1)
    )
    points = {name: (int(width), float(height)) for name, width, height in zip(names, widths, heights, strict=True)}
    return Front(against=against, strict=strict, first=first, second=second, points=points)


def _n_beating(m: int, heights: Any, widths: Any, *, strict: bool) -> int:
    higher, wider = heights > heights[m], widths > widths[m]
    if strict:
        return int((higher & wider).sum())
    return int(((heights >= heights[m]) & (widths >= widths[m]) & (higher | wider)).sum())
