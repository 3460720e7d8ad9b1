"""Pareto fronts of methods by normalized winning number and by number of comparisons or data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankadapters.compare.winning import ALL, WinningNumbers
from rankadapters.core.declaration.arguments import choice, flag
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.table import Table
from rankadapters.plotting.plots import fronts
from rankadapters.statistics.document import Document

AGAINST = {"iwn": "ideal winning number", "n_datasets": "number of data sets"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Front(Document):
    """The methods that no other method dominates; made by `front`.

    Attributes
    ----------
    against : str
        The second axis beside the normalized winning number: `iwn` or `n_datasets`.
    strict : bool
        Whether only a method that is higher on both axes dominates.
    first : tuple of str
        Methods that no other dominates, the highest normalized winning number first.
    second : tuple of str
        Methods that exactly one other dominates.
    points : dict of str to (int, float)
        Second axis and normalized winning number of every method that has one.
    """

    against: str
    strict: bool
    first: tuple[str, ...]
    second: tuple[str, ...]
    points: dict[str, tuple[int, float]]

    def blocks(self) -> list[str | Table]:
        """Return a table of the methods that no other method dominates (rank 1) or exactly one does (rank 2)."""
        lines = [
            (name, rank, f"{self.points[name][1]:.4f}", str(self.points[name][0]))
            for rank, names in (("1", self.first), ("2", self.second))
            for name in names
        ]
        axis = AGAINST[self.against]
        condition = "higher in both" if self.strict else "as high in both and higher in one"
        return [
            Table.of(f"Front of NWN and {axis}", ("method", "rank", "NWN", axis), lines),
            f"Rank 1: no other method is {condition}. Rank 2: exactly one is.",
        ]

    def plot(self) -> Any:
        """Draw all methods, with the names of those in `first` and `second`, like Figures 1 and 2 of Tax et al. (2015).

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        MissingToolkitError
            matplotlib or adjustText is not installed.
        """
        return fronts(self.points, [self.first, self.second], AGAINST[self.against], "normalized winning number")


def front(numbers: WinningNumbers, *, against: str = "iwn", strict: bool = False, group: str = ALL) -> Front:
    """Return the methods that no other method dominates, and the methods that exactly one other method dominates.

    Parameters
    ----------
    numbers : WinningNumbers
        Made by `winning_numbers`.
    against : str
        The second axis beside NWN: `iwn`, the number of comparisons that NWN is based on, or `n_datasets`.
    strict : bool
        By default a method dominates another if it is at least as high on both axes and higher on one. With `strict`,
        as in the text of Tax et al. (2015), it must be higher on both; if all methods have the same number of
        comparisons, then none dominates.
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
    rows = np.flatnonzero(~np.isnan(numbers.nwn[row]))
    heights, widths = numbers.nwn[row][rows], getattr(numbers, against)[row][rows]
    n_beating = np.array([_n_beating(m, heights, widths, strict=strict) for m in range(rows.size)], int)
    names = [numbers.methods[m] for m in rows]
    first, second = (
        tuple(names[m] for m in np.argsort(-heights, kind="stable") if n_beating[m] == rank) for rank in (0, 1)
    )
    points = {name: (int(width), float(height)) for name, width, height in zip(names, widths, heights, strict=True)}
    return Front(against=against, strict=strict, first=first, second=second, points=points)


def _n_beating(m: int, heights: Any, widths: Any, *, strict: bool) -> int:
    higher, wider = heights > heights[m], widths > widths[m]
    if strict:
        return int((higher & wider).sum())
    return int(((heights >= heights[m]) & (widths >= widths[m]) & (higher | wider)).sum())
