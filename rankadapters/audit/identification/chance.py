"""Estimate how likely a match is mere chance: how many of the numbers near the printed one conventions give too."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.identification.candidates import Candidates
from rankadapters.audit.identification.numbers import Number
from rankadapters.core.data.columns import Flags, Floats
from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.attainable import attainable_values, steps_nearby
from rankadapters.statistics.cells import percent

SAME = 12  # means that agree to this many decimals count as one
EDGE = 1e-9  # a window that ends at a number includes it, although the division rounds
LIKELY, POSSIBLE = 0.5, 0.05  # if at least this share of the numbers matches, `verdict` doubts a match


@dataclass(frozen=True, kw_only=True, slots=True)
class Chance:
    """How many of the numbers near the printed ones, with as many digits, conventions give on the same data.

    If the measure can take few values on the data, such as multiples of 1/50, only these are counted.

    Attributes
    ----------
    expected : tuple of float
        Mean number of conventions that give such a number. Entry i counts conventions that differ from a preset in at
        most i fields, where a mistake counts as a field; the last entry counts all.
    shares : tuple of float
        Share of these numbers that at least one convention gives; entries as in `expected`.
    n_random : int
        Number of numbers nearby, the printed one included, or, for several printed numbers, of their combinations.
    """

    expected: tuple[float, ...]
    shares: tuple[float, ...]
    n_random: int

    def share(self, n_changes: int) -> float:
        """Return the share of the numbers nearby that some preset with at most `n_changes` changed fields gives."""
        return self.shares[min(n_changes, len(self.shares) - 1)]

    def verdict(self, n_changes: int) -> str:
        """Say in words how likely it is that a match with `n_changes` changed fields is mere chance.

        >>> [Chance(expected=(e,), shares=(e,), n_random=10**4).verdict(0) for e in (0.6, 0.1, 0.01)]
        ['as likely as not by chance', 'perhaps by chance', 'hardly by chance']
        """
        share = self.share(n_changes)
        doubt = "as likely as not" if share >= LIKELY else "perhaps" if share >= POSSIBLE else "hardly"
        return f"{doubt} by chance"

    def sentence(self, n_changes: int) -> str:
        """Return a sentence: the share of the numbers nearby that conventions give, and the verdict for `n_changes`."""
        text = (
            f"Of the {self.n_random} numbers nearby that the measure can take, a convention gives "
            f"{self._written(self.shares[-1])} ({self.expected[-1]:.2g} conventions on average)"
        )
        if self.share(n_changes) < self.shares[-1]:
            fields = f"one that differs from a preset in {n_changes} field{'s'[: n_changes > 1]} at most"
            text += f", and {fields if n_changes else 'a preset'} {self._written(self.share(n_changes))}"
        return f"{text}: the first match is {self.verdict(n_changes)}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {"expected": list(self.expected), "shares": list(self.shares), "n_random": self.n_random}

    def _written(self, share: float) -> str:
        if share >= 0.001:  # noqa: PLR2004 - a percentage shows smaller shares as 0
            return percent(share)
        return f"one in {1 / share:.0f}" if share else f"none of {self.n_random}"


def measure_chance(candidates: Candidates, convention: Convention | None) -> Chance:
    """Count the conventions that give the numbers near the printed ones that `convention` can take on the data."""
    nearby = [_nearby(number, convention) for number in candidates.numbers]
    units, numbers = np.array([(number.unit, float(number.printed.value)) for number in candidates.numbers]).T
    means = np.concatenate([np.empty((0, len(nearby))), *candidates.means])
    n_changes = np.concatenate([np.empty(0, np.int64), *candidates.n_changes])
    steps = np.round((means - numbers) / units) + 0.0  # distance in units of the last printed digit
    counted = np.all([nearby[i].have(steps[:, i]) for i in range(len(nearby))], axis=0)
    n_random = math.prod(numbers_nearby.size for numbers_nearby in nearby)
    expected, shares = [], []
    for most in range(int(n_changes.max(initial=0)) + 1):
        near_presets = counted & (n_changes <= most)
        expected.append(_n_distinct(np.round(means[near_presets], SAME)) / n_random)
        shares.append(_n_distinct(steps[near_presets]) / n_random)
    return Chance(expected=tuple(expected), shares=tuple(shares), n_random=n_random)


class _Nearby(NamedTuple):
    """Numbers near a printed one, as distances in units of its last digit: all from low to high, or some of them."""

    low: float
    high: float
    only: Floats | None = None

    @property
    def size(self) -> int:
        return int(self.high - self.low) + 1 if self.only is None else self.only.size

    def have(self, steps: Floats) -> Flags:
        within: Flags = (steps >= self.low) & (steps <= self.high)
        return within if self.only is None else within & np.isin(steps, self.only)


def _nearby(number: Number, convention: Convention | None) -> _Nearby:
    """Return the numbers near the printed one that a convention can take."""
    if convention is not None:
        values = attainable_values(number.queries, number.scores, number.at_cutoff(convention))
        if values is not None:
            steps = steps_nearby(values, float(number.printed.value), number.unit)
            return _Nearby(steps[0], steps[-1], steps)
    value, low, high = float(number.printed.value), -number.window, number.window
    if number.bounded and 0 <= value <= 1:
        low, high = max(low, -value), min(high, 1 - value)
    return _Nearby(-np.floor(-low / number.unit + EDGE), np.floor(high / number.unit + EDGE))


def _n_distinct(rows: NDArray[np.float64]) -> int:
    return len(np.unique(rows, axis=0))
