"""Winning numbers: for each method, the number of opponents it is better than; over all, with one left out; fronts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.compare.results import KEYS, Results
from rankadapters.core.arrays import Ints
from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.arguments import flag, names, whole, word
from rankadapters.core.errors import InputError, warn_caller
from rankadapters.evaluation.table import Cell, Table
from rankadapters.plotting.plots import bagplots, bars, fronts
from rankadapters.statistics.document import Document, plain
from rankadapters.statistics.halfspace_depth import Bagplot, bagplot

AXES = ("measure", "dataset")
ALL = "all"
CELL = ["dataset", "measure"]  # methods are compared within these
AGAINST = {"iwn": "ideal winning number", "n_datasets": "number of data sets"}
MOST_DECIMALS = 98  # values printed with more are taken as exact, like values given as numbers
NO_OPPONENTS = "no method has an opponent, so there is no number to draw."
TWO_METHODS = "results of two methods on one data set"


class MixedDecimalsWarning(UserWarning):
    """Warning that some values differ, but are equal in the decimals with which both were printed."""


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class WinningNumbers(Document):
    """How often each method wins; made by `winning_numbers`.

    Attributes
    ----------
    methods : tuple of str
        Names of the methods, in the order of the results.
    by : str
        Kind of the groups: `measure` or `dataset`.
    groups : tuple of str
        The measures or data sets, and last `all` for all together.
    wn : int64 array, shape (n_groups, n_methods)
        Winning number: how many methods each method is better than, summed over data sets and measures.
    iwn : int64 array, shape (n_groups, n_methods)
        Ideal winning number: how many opponents each method has, summed likewise.
    n_datasets : int64 array, shape (n_groups, n_methods)
        Number of data sets on which the method has a value.
    n_pairs, n_ties : int
        Number of compared pairs of methods, and of those with equal values, which are a win for neither.
    n_undecided : int
        Number of pairs that differ, but not in the decimals with which both were printed. Their wins count as given.
    """

    methods: tuple[str, ...]
    by: str
    groups: tuple[str, ...]
    wn: Ints = field(repr=False)
    iwn: Ints = field(repr=False)
    n_datasets: Ints = field(repr=False)
    n_pairs: int
    n_ties: int
    n_undecided: int

    @property
    def nwn(self) -> NDArray[np.float64]:
        """Normalized winning number wn / iwn, shape (n_groups, n_methods); NaN for a method without opponents."""
        return _normalize_wins(self.wn, self.iwn)

    def blocks(self) -> list[str | Table]:
        """Return a table over all data sets and measures, a table by group, and notes."""
        by_group = [self.group_table()] if len(self.groups) > 2 else []  # noqa: PLR2004 - one group is all of them
        return [self.table(), *by_group, "\n".join(self.notes())]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; an undefined number is None."""
        groups = _numbers_to_dict(self, self.groups, ("wn", "iwn", "nwn", "n_datasets"))
        pairs = {name: getattr(self, name) for name in ("n_pairs", "n_ties", "n_undecided")}
        return {"by": self.by, "groups": groups, **pairs}

    def plot(self, *, n: int = 20) -> Any:
        """Return a matplotlib Figure of the normalized winning numbers over all groups, the best first.

        Parameters
        ----------
        n : int
            Largest number of methods shown.

        Raises
        ------
        InputError
            No method has an opponent, or `n` is not a positive whole number.
        MissingToolkitError
            matplotlib is not installed.
        """
        nwn, n_shown = self.nwn[-1], whole("n", n, hint="n=20")
        named = [(self.methods[m], float(nwn[m])) for m in self._best_first() if not math.isnan(nwn[m])][:n_shown]
        if not named:
            raise InputError(NO_OPPONENTS, hint=TWO_METHODS)
        return bars(named, "normalized winning number", "Winning numbers")

    def _best_first(self) -> list[int]:
        nwn = self.nwn[-1]
        return sorted(range(len(self.methods)), key=lambda m: (math.isnan(nwn[m]), -nwn[m]))

    def table(self) -> Table:
        """The methods over all data sets and measures, the best normalized winning number first."""
        nwn = self.nwn[-1]
        counts = np.stack([self.wn[-1], self.iwn[-1], self.n_datasets[-1]], axis=1).tolist()
        lines = [(self.methods[m], _number(nwn[m]), *(Cell("{}", n) for n in counts[m])) for m in self._best_first()]
        return Table.of("Winning numbers", ("method", "NWN", "WN", "IWN", "data sets"), lines)

    def group_table(self) -> Table:
        """The normalized winning number of each method in each group."""
        nwn = self.nwn
        lines = [(method, *map(_number, nwn[:, m])) for m, method in enumerate(self.methods)]
        return Table.of(f"Normalized winning numbers by {self.by}", ("method", *self.groups), lines)

    def notes(self) -> list[str]:
        """Return notes on ties, undecided pairs and methods without opponents."""
        notes = [f"{self.n_ties} of {self.n_pairs} pairs of methods tie, which is a win for neither."]
        if self.n_undecided:
            notes.append(_undecided_note(self.n_undecided))
        without_opponents = ", ".join(self.methods[m] for m in np.flatnonzero(self.iwn[-1] == 0))
        if without_opponents:
            notes.append(f"Without opponents, so that no number is defined: {without_opponents}.")
        return notes


@frozen_class
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
        return _normalize_wins(self.wn, self.iwn)

    def points(self, method: str) -> list[tuple[int, Fraction]]:
        """Return a method's (ideal, normalized) winning numbers without each data set or measure, if defined.

        Raises
        ------
        InputError
            There is no such method.
        """
        m = self.methods.index(word("method", method, self.methods))
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
            hint = "front(...).points has those with some"
            raise InputError(f"{method!r} has no opponents, so it has no points.", hint=hint)
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
            A method is unknown or has no opponents, or no method has any.
        MissingToolkitError
            matplotlib is not installed.
        """
        with_opponents = [name for name, iwn in zip(self.methods, self.all_iwn, strict=True) if iwn]
        drawn = with_opponents if methods is None else names("methods", methods, hint="methods=['name', ...]")
        if not drawn:
            raise InputError(NO_OPPONENTS, hint=TWO_METHODS)
        panels = {name: ([(iwn, float(nwn)) for iwn, nwn in self.points(name)], self.bagplot(name)) for name in drawn}
        return bagplots(panels, "ideal winning number", "normalized winning number")

    def blocks(self) -> list[str | Table]:
        """Return a table of the normalized winning numbers, with their range if one data set or measure is left out."""
        lines = []
        for m, column in enumerate(self.nwn.T):
            if not self.all_iwn[m]:
                continue
            over_all = self.all_wn[m] / self.all_iwn[m]
            moves = np.abs(column - over_all)
            furthest = self.left_out[int(np.nanargmax(moves))] if np.nanmax(moves, initial=0.0) else "-"
            spread = (_number(extreme.reduce(column)) for extreme in (np.fmin, np.fmax))
            lines.append((self.methods[m], _number(over_all), *spread, furthest))
        header = ("method", "NWN", "lowest", "highest", "moved most without")
        return [Table.of(f"Normalized winning numbers, one {self.over} left out at a time", header, lines)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; an undefined number is None."""
        return {"over": self.over, "left_out": _numbers_to_dict(self, self.left_out, ("wn", "iwn", "nwn"))}


@frozen_class
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
            (name, Cell("{}", rank), _number(self.points[name][1]), Cell("{}", self.points[name][0]))
            for rank, names in enumerate((self.first, self.second), 1)
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


def winning_numbers(results: Results, *, by: str = "measure") -> WinningNumbers:
    """Count how often every method is better than the other methods on the same data set by the same measure.

    WN(i) counts the methods k with value(i) > value(k), summed over data sets and measures. IWN(i) likewise counts all
    methods k != i that have a value where i has one. NWN = WN / IWN.

    Parameters
    ----------
    results : Results
        The values.
    by : str
        Groups that are also counted separately: `measure` or `dataset`.

    Returns
    -------
    WinningNumbers
        By group, and over all.

    Raises
    ------
    InputError
        `by` is neither `measure` nor `dataset`, or `results` is not a `Results`.

    Warns
    -----
    MixedDecimalsWarning
        Some values differ, but not in the decimals with which both were printed.

    References
    ----------
    Qin, Liu, Xu, Li (2010), LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Tax, Bockting, Hiemstra (2015), A cross-benchmark comparison of 87 learning to rank methods. Its normalized numbers
    leave the method itself out of IWN.

    Examples
    --------
    >>> values = {("a", "D1", "MAP"): 0.5, ("b", "D1", "MAP"): 0.4, ("c", "D1", "MAP"): 0.4, ("a", "D2", "MAP"): 0.3}
    >>> numbers = winning_numbers(Results(values, higher_is_better=True))
    >>> numbers.wn[-1].tolist(), numbers.iwn[-1].tolist(), numbers.n_ties
    ([2, 0, 0], [2, 2, 2], 1)
    """
    word("by", by, AXES, hint="by='dataset' counts each data set apart")
    groups, wn, iwn = _wins_by_group(results, by)
    frame = _numbered(results)
    n_undecided = _n_undecided_pairs(frame)
    if n_undecided:
        warn_caller(_undecided_note(n_undecided), MixedDecimalsWarning)
    sizes = frame.groupby([*CELL, "value"], observed=True).size()  # equal values of one data set and measure
    n_datasets = [
        frame.groupby(keys, observed=False)["dataset"].nunique().to_numpy(np.int64).reshape(-1, len(results.methods))
        for keys in ([by, "method"], ["method"])
    ]
    return WinningNumbers(
        methods=results.methods, by=by, groups=(*groups, ALL), wn=np.vstack([wn, wn.sum(axis=0)]),
        iwn=np.vstack([iwn, iwn.sum(axis=0)]), n_datasets=np.vstack(n_datasets), n_pairs=int(iwn.sum()) // 2,
        n_ties=int((sizes * (sizes - 1) // 2).sum()), n_undecided=n_undecided,
    )  # fmt: skip


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
    word("over", over, AXES, hint="over='measure' leaves out one measure")
    left_out, wn, iwn = _wins_by_group(results, over)
    all_wn, all_iwn = wn.sum(axis=0), iwn.sum(axis=0)
    return LeaveOneOut(
        methods=results.methods, over=over, left_out=left_out, wn=all_wn - wn, iwn=all_iwn - iwn,
        all_wn=all_wn, all_iwn=all_iwn,
    )  # fmt: skip


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
    >>> values = {("a", "D1", "MAP"): 0.5, ("b", "D1", "MAP"): 0.4, ("c", "D1", "MAP"): 0.3}
    >>> numbers = winning_numbers(Results(values, higher_is_better=True))
    >>> front(numbers).first, front(numbers).second, front(numbers, strict=True).first
    (('a',), ('b',), ('a', 'b', 'c'))
    """
    word("against", against, AGAINST, hint="against='n_datasets'")
    if not isinstance(numbers, WinningNumbers):
        raise InputError(f"numbers are of type {type(numbers).__name__}.", hint="ra.compare.winning_numbers(results)")
    row = numbers.groups.index(word("group", group, numbers.groups, hint="group='all' is the last"))
    rows = np.flatnonzero(~np.isnan(numbers.nwn[row]))
    heights, widths = numbers.nwn[row][rows], getattr(numbers, against)[row][rows]
    higher, wider = np.subtract.outer(heights, heights), np.subtract.outer(widths, widths)
    if flag("strict", strict):
        beats = (higher > 0) & (wider > 0)
    else:
        beats = (higher >= 0) & (wider >= 0) & ((higher > 0) | (wider > 0))
    names, n_beating = [numbers.methods[m] for m in rows], beats.sum(axis=0)
    first, second = (
        tuple(names[m] for m in np.argsort(-heights, kind="stable") if n_beating[m] == rank) for rank in (0, 1)
    )
    points = {name: (int(width), float(height)) for name, width, height in zip(names, widths, heights, strict=True)}
    return Front(against=against, strict=bool(strict), first=first, second=second, points=points)


def _numbered(results: Results) -> Any:
    """Return the cells with numbers in place of names: pandas 2.2 cannot group by names with lone surrogates."""
    frame = results.frame
    for key in KEYS:
        frame[key] = frame[key].cat.rename_categories(range(len(frame[key].cat.categories)))
    return frame


def _wins_by_group(results: Results, axis: str) -> tuple[tuple[str, ...], Ints, Ints]:
    """Return the names of an axis (its measures or data sets), and WN and IWN of shape (n_names, n_methods)."""
    if not isinstance(results, Results):
        hint = "ra.compare.Results(results), or Results.read(path)"
        raise InputError(f"results are of type {type(results).__name__}.", hint=hint)
    frame = _numbered(results)
    is_higher = np.array(results.higher)[frame["measure"].cat.codes]
    frame["worth"] = frame["value"].where(is_higher, -frame["value"])
    cells = frame.groupby(CELL, observed=True)["worth"]
    frame["wn"], frame["iwn"] = cells.rank(method="min") - 1, cells.transform("size") - 1
    sums = frame.groupby([axis, "method"], observed=False)[["wn", "iwn"]].sum().to_numpy(np.int64)
    groups: tuple[str, ...] = getattr(results, f"{axis}s")
    wn, iwn = sums.T.reshape(2, len(groups), len(results.methods))
    return groups, wn, iwn


def _normalize_wins(wn: Ints, iwn: Ints) -> NDArray[np.float64]:
    """Divide winning numbers by ideal ones; NaN for a method without opponents."""
    ratio: NDArray[np.float64] = np.divide(wn, iwn, out=np.full(wn.shape, math.nan), where=iwn > 0)
    return ratio


def _numbers_to_dict(report: WinningNumbers | LeaveOneOut, groups: Sequence[str], names: Sequence[str]) -> Any:
    """Return the named arrays, of shape (n_groups, n_methods), as nested dicts by group, method and name."""
    arrays, methods = {name: getattr(report, name) for name in names}, report.methods
    return {
        group: {method: {n: plain(a[g, m]) for n, a in arrays.items()} for m, method in enumerate(methods)}
        for g, group in enumerate(groups)
    }


def _n_undecided_pairs(frame: Any) -> int:
    """Count pairs of different values that become equal when both are rounded to the fewer decimals of the two."""
    n_pairs, decimals = 0, frame["decimals"].astype(float)
    decimals = decimals.where(decimals.between(0, MOST_DECIMALS), math.inf)
    for fewest in decimals[decimals < math.inf].unique():
        rows = frame[decimals >= fewest].assign(is_coarse=decimals == fewest)
        with np.errstate(over="ignore"):
            scaled = rows["value"] * 10.0**fewest
        rounded = rows["value"].where(np.isinf(scaled), np.rint(scaled))
        for sign, values in ((1, rounded), (-1, rows["value"])):
            coarse = rows.assign(value=values).groupby([*CELL, "value"], observed=True)["is_coarse"]
            n_pairs += sign * int((coarse.sum() * (coarse.size() - coarse.sum())).sum())
    return n_pairs


def _undecided_note(n: int) -> str:
    differ = "pair of values differs, but is" if n == 1 else "pairs of values differ, but are"
    return f"{n} {differ} equal in the decimals that both were printed with: wins are counted from the values as given."


def _number(value: float) -> str:
    return "-" if math.isnan(value) else Cell("{:.4f}", value)
