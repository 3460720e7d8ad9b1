"""Estimate how likely a match is mere chance: how often conventions also give random numbers near the printed one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.identification.candidates import Candidates
from rankadapters.statistics.cells import percent

SAME = 12  # means that agree to this many decimals count as one
LIKELY, POSSIBLE = 0.5, 0.05  # if at least this share of random numbers matches, `verdict` doubts a match


@dataclass(frozen=True, kw_only=True, slots=True)
class Chance:
    """How often conventions match random numbers near the printed ones, with as many digits, on the same data.

    Attributes
    ----------
    expected : tuple of float
        Mean number of conventions that give such a number. Entry i counts conventions that differ from a preset in at
        most i fields; the last entry counts all.
    shares : tuple of float
        Share of the random numbers that at least one convention gives; entries as in `expected`.
    n_random : int
        Number of random numbers, or, for several printed numbers, of their combinations.
    """

    expected: tuple[float, ...]
    shares: tuple[float, ...]
    n_random: int

    def share(self, n_changes: int) -> float:
        """Return the share of random numbers that some preset with at most `n_changes` changed fields gives."""
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
        """Return a sentence: the shares of random numbers that conventions give, and the verdict for `n_changes`."""
        text = (
            f"Of the other numbers nearby with as many digits, a convention gives {self._written(self.shares[-1])} too "
            f"({self.expected[-1]:.2g} conventions on average)"
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


def measure_chance(candidates: Candidates) -> Chance:
    """Count the conventions that give random numbers near the printed ones, but not the printed ones themselves."""
    printed = candidates.numbers
    units, numbers, windows = np.array([(n.unit, float(n.printed.value), n.window) for n in printed]).T
    bounded = printed[0].bounded
    below = np.minimum(windows, numbers) if bounded else windows
    above = np.minimum(windows, 1 - numbers) if bounded else windows
    low, high = -np.floor(below / units), np.floor(above / units)
    means = np.concatenate([np.empty((0, len(printed))), *candidates.means])
    n_changes = np.concatenate([np.empty(0, np.int64), *candidates.n_changes])
    steps = np.round((means - numbers) / units)  # distance in units of the last printed digit
    counted = ((steps >= low) & (steps <= high)).all(axis=1) & (steps != 0).any(axis=1)
    n_random = float(np.prod(high - low + 1)) - 1
    expected, shares = [], []
    for most in range(int(n_changes.max(initial=0)) + 1):
        near_presets = counted & (n_changes <= most)
        expected.append(_n_distinct(np.round(means[near_presets], SAME)) / n_random)
        shares.append(_n_distinct(steps[near_presets]) / n_random)
    return Chance(expected=tuple(expected), shares=tuple(shares), n_random=int(n_random))


def _n_distinct(rows: NDArray[np.float64]) -> int:
    return len(np.unique(rows, axis=0))
