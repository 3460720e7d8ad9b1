"""How many conventions would give random numbers in place of the printed ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.identification.candidates import Candidates
from rankadapters.statistics.cells import percent

SAME = 12  # decimals in which the means of conventions that say the same agree
LIKELY, POSSIBLE = 0.5, 0.05  # shares of random numbers


@dataclass(frozen=True, kw_only=True, slots=True)
class Chance:
    """What random numbers with as many digits, near the printed ones, match on the same data.

    Attributes
    ----------
    expected : tuple of float
        How many conventions give such a number on average: presets, then also conventions that differ from one in a
        single field, and so on; the last counts all.
    shares : tuple of float
        Share of these numbers that some such convention gives.
    n_random : int
        How many numbers (of several: choices of all of them) were looked at.
    """

    expected: tuple[float, ...]
    shares: tuple[float, ...]
    n_random: int

    def share(self, n_changes: int) -> float:
        """Share of random numbers that a convention gives which differs from a preset in at most as many fields."""
        return self.shares[min(n_changes, len(self.shares) - 1)]

    def verdict(self, n_changes: int) -> str:
        """Say whether a match that differs from a preset in some fields may be chance.

        >>> [Chance(expected=(e,), shares=(e,), n_random=10**4).verdict(0) for e in (0.6, 0.1, 0.01)]
        ['as likely as not by chance', 'perhaps by chance', 'hardly by chance']
        """
        share = self.share(n_changes)
        doubt = "as likely as not" if share >= LIKELY else "perhaps" if share >= POSSIBLE else "hardly"
        return f"{doubt} by chance"

    def sentence(self, n_changes: int) -> str:
        """Say how many random numbers match as well as one that differs from a preset in some fields."""
        said = (
            f"Of the other numbers nearby with as many digits, a convention gives {self._written(self.shares[-1])} too "
            f"({self.expected[-1]:.2g} conventions on average)"
        )
        if self.share(n_changes) < self.shares[-1]:
            fields = f"one that differs from a preset in {n_changes} field{'s'[: n_changes > 1]} at most"
            said += f", and {fields if n_changes else 'a preset'} {self._written(self.share(n_changes))}"
        return f"{said}: the first match is {self.verdict(n_changes)}."

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types."""
        return {"expected": list(self.expected), "shares": list(self.shares), "n_random": self.n_random}

    def _written(self, share: float) -> str:
        if share >= 0.001:  # noqa: PLR2004 - below, a percentage has no digit left
            return percent(share)
        return f"one in {1 / share:.0f}" if share else f"none of {self.n_random}"


def measure_chance(candidates: Candidates) -> Chance:
    """Count the conventions around the printed numbers, whose own place is left out."""
    found = candidates.numbers
    units, numbers, windows = np.array([(n.unit, float(n.printed.value), n.window) for n in found]).T
    bounded = found[0].bounded  # whether no value lies outside [0, 1]
    below = np.minimum(windows, numbers) if bounded else windows
    above = np.minimum(windows, 1 - numbers) if bounded else windows
    low, high = -np.floor(below / units), np.floor(above / units)
    means = np.concatenate([np.empty((0, len(found))), *candidates.means])
    n_changes = np.concatenate([np.empty(0, np.int64), *candidates.n_changes])
    places = np.round((means - numbers) / units)
    counted = ((places >= low) & (places <= high)).all(axis=1) & (places != 0).any(axis=1)
    n_random = float(np.prod(high - low + 1)) - 1
    expected, shares = [], []
    for most in range(int(n_changes.max(initial=0)) + 1):
        some = counted & (n_changes <= most)
        expected.append(_distinct(np.round(means[some], SAME)) / n_random)
        shares.append(_distinct(places[some]) / n_random)
    return Chance(expected=tuple(expected), shares=tuple(shares), n_random=int(n_random))


def _distinct(rows: NDArray[np.float64]) -> int:
    return len(np.unique(rows, axis=0))
