"""How winning numbers change when one data set or one measure is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.compare.results import Results
from rankadapters.compare.winning import AXES, normalize_wins, numbers_to_dict, wins_by_group
from rankadapters.core.declaration.arguments import choice, names
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.table import Table
from rankadapters.plotting.plots import Spread, bagplots
from rankadapters.statistics.document import Document
from rankadapters.statistics.halfspace_depth import Bagplot, bagplot

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LeaveOneOut(Document):
    """Winning numbers without each data set, or without each measure; made by `leave_one_out`.

    Attributes
    ----------
    methods : tuple of str
        Names of the methods, in the order of the results.
    over : str
        `dataset` or `measure`.
    left_out : tuple of str
        Names of the data sets or measures, each of which is left out in turn.
    wn, iwn : int64 array, shape (n_left_out, n_methods)
        Winning numbers and ideal winning numbers over the rest.
    all_wn, all_iwn : int64 array, shape (n_methods,)
        The same over all data sets and measures.
    """

    methods: tuple[str, ...]
    over: str
    left_out: tuple[str, ...]
    wn: Ints = field(repr=False)
    iwn: Ints = field(repr=False)
    all_wn: Ints = field(repr=False)
    all_iwn: Ints = field(repr=False)

    @property
    def nwn(self) -> NDArray[np.float64]:
        """Normalized winning numbers, shape (n_left_out, n_methods); NaN for a method without opponents."""
        return normalize_wins(self.wn, self.iwn)

    def points(self, method: str) -> list[tuple[int, Fraction]]:
        """Return a method's (ideal, normalized) winning numbers without each data set or measure, if defined.

        Raises
        ------
        InputError
            There is no such method.
        """
        m = self.methods.index(choice("method", method, self.methods))
        pairs = zip(self.wn[:, m].tolist(), self.iwn[:, m].tolist(), strict=True)
        return [(iwn, Fraction(wn, iwn)) for wn, iwn in pairs if iwn]

    def bagplot(self, method: str) -> Bagplot:
        """Return the bagplot of a method's points (median, bag, loop and outliers), by exact halfspace depth.

        Raises
        ------
        InputError
            There is no such method, or it has no opponents.
        """
        points = self.points(method)
        if not points:
            msg = f"{method!r} has no opponents, so it has no points.\nHint: front(...).points has those with some."
            raise InputError(msg)
        return bagplot(points)

    def plot(self, methods: Sequence[str] | None = None) -> Any:
        """Draw the bagplots of methods, like Figures 3 to 6 of Tax et al. (2015).

        Parameters
        ----------
        methods : sequence of str, optional
            All methods with opponents by default.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        InputError
            A method is unknown or has no opponents.
        MissingToolkitError
            matplotlib is not installed.
        """
        with_opponents = [name for name, iwn in zip(self.methods, self.all_iwn, strict=True) if iwn]
        drawn = with_opponents if methods is None else names("methods", methods, hint="methods=['name', ...]")
        spreads = {name: self._spread(name) for name in drawn}
        return bagplots(spreads, "ideal winning number", "normalized winning number")

    def _spread(self, method: str) -> Spread:
        shape = self.bagplot(method)
        points = [(float(x), float(y)) for x, y in self.points(method)]
        return Spread(points, shape.median, shape.bag, shape.loop, shape.outliers)

    def blocks(self) -> list[str | Table]:
        """Return a table of the normalized winning numbers, with their range if one data set or measure is left out."""
        nwn, lines = self.nwn, []
        for m, method in enumerate(self.methods):
            if not self.all_iwn[m]:
                continue
            column = nwn[:, m]
            defined = column[~np.isnan(column)]
            over_all = self.all_wn[m] / self.all_iwn[m]
            spread = (f"{defined.min():.4f}", f"{defined.max():.4f}") if defined.size else ("-", "-")
            lines.append((method, f"{over_all:.4f}", *spread, self._furthest(column, over_all)))
        header = ("method", "NWN", "lowest", "highest", "moved most without")
        return [Table.of(f"Normalized winning numbers, one {self.over} left out at a time", header, lines)]

    def _furthest(self, column: NDArray[np.float64], whole: float) -> str:
        moves = np.abs(column - whole)
        return "-" if not np.nanmax(moves, initial=0.0) else self.left_out[int(np.nanargmax(moves))]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; an undefined number is None."""
        left_out = numbers_to_dict(self.left_out, self.methods, wn=self.wn, iwn=self.iwn, nwn=self.nwn)
        return {"over": self.over, "left_out": left_out}


def leave_one_out(results: Results, *, over: str = "dataset") -> LeaveOneOut:
    """Compute winning numbers without each data set in turn, or without each measure in turn.

    A method without values on the left-out data set or measure keeps its numbers.

    Raises
    ------
    InputError
        `over` is neither `dataset` nor `measure`.

    Examples
    --------
    >>> values = {("a", "D1", "MAP"): 0.5, ("b", "D1", "MAP"): 0.4, ("a", "D2", "MAP"): 0.2, ("b", "D2", "MAP"): 0.3}
    >>> numbers = leave_one_out(Results(values, higher_is_better=True))
    >>> numbers.left_out, numbers.nwn.tolist()
    (('D1', 'D2'), [[0.0, 1.0], [1.0, 0.0]])
    """
    choice("over", over, AXES, hint="over='measure' leaves out one measure")
    left_out, wn, iwn = wins_by_group(results, over)
    all_wn, all_iwn = wn.sum(axis=0), iwn.sum(axis=0)
    return LeaveOneOut(
        methods=results.methods, over=over, left_out=left_out, wn=all_wn - wn, iwn=all_iwn - iwn,
        all_wn=all_wn, all_iwn=all_iwn,
    )  # fmt: skip
