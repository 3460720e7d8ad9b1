"""Search for the conventions whose means are near the printed numbers, and count those near other numbers too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np

from rankadapters.audit.matches import Chance
from rankadapters.audit.numbers import Number
from rankadapters.core.arrays import Flags, Floats, Ints
from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.attainable import attainable_values, steps_nearby
from rankadapters.statistics.grid import Block, Values, omission_notes, values_to_search, with_refusals
from rankadapters.statistics.known_presets import starting_presets
from rankadapters.statistics.search import Data, Groups, Progress, Search

SLACK = 1e-9  # the means of a search may be off by this much; candidates are later evaluated exactly
SAME = 12  # means that agree to this many decimals count as one
EDGE = 1e-9  # a window that ends at a number includes it, although the division rounds


@dataclass(slots=True)
class Candidates:
    """Conventions whose means, according to a search, are near the printed numbers.

    `means`, of shape (n, n_numbers), are those within the reach of all numbers, and `n_changes` counts the fields in
    which such a convention differs from the nearest of the presets. `nearest` is the smallest distance to the first
    number, with the conventions at this distance; `notes` name the parts of the grid that were not searched.
    """

    numbers: Sequence[Number]
    presets: list[Convention]
    means: list[Floats] = field(default_factory=list)
    n_changes: list[Ints] = field(default_factory=list)
    nearest: tuple[float, Block] = (np.inf, {})
    notes: list[str] = field(default_factory=list)
    _groups: dict[tuple[tuple[int, ...], object], list[Block]] = field(default_factory=dict)
    _changes: dict[object, Ints] = field(default_factory=dict)

    def add_means(self, means: Floats, n_changes: int) -> None:
        """Record the means of presets with a mistake, which counts as so many changes."""
        self.means.append(means)
        self.n_changes.append(np.full(len(means), n_changes))

    def groups(self, indices: tuple[int, ...]) -> list[list[Block]]:
        """Group the conventions that give the numbers at these indices, all or all but one, by per-query values."""
        return [blocks for (given, _), blocks in self._groups.items() if given == indices]

    def add(self, groups: Groups) -> None:
        """From a search's groups, record the means near the numbers, the matching conventions and the nearest one."""
        distances = np.abs(groups.means - [number.value for number in self.numbers])
        near = (distances <= [number.reach for number in self.numbers]).all(axis=-1)
        if near.any():
            values = np.stack([self._n_changes(blocks) for blocks in groups.blocks])
            policies = np.stack([self._n_changes(blocks) for blocks in groups.policies.blocks])
            of_values, of_policies = np.nonzero(near)
            self.means.append(groups.means[of_values, of_policies])
            self.n_changes.append((values[of_values] + policies[of_policies]).min(axis=1))
        smallest = float(np.fmin.reduce(distances[..., 0], axis=None))  # ignores NaN
        if smallest < self.nearest[0]:
            value, policy = np.argwhere(distances[..., 0] == smallest)[0].tolist()
            self.nearest = smallest, groups.conventions(value, policy)[0]
        matches, indices = distances <= [n.unit / 2 + SLACK for n in self.numbers], tuple(range(len(self.numbers)))
        for value, policy in np.argwhere(matches.sum(axis=-1) >= max(1, len(indices) - 1)).tolist():
            keys = [groups.key(value, policy, index) for index in indices]
            for given in filter(None, (indices, *combinations(indices, len(indices) - 1))):
                if matches[value, policy, list(given)].all():
                    blocks = self._groups.setdefault((given, tuple(keys[index] for index in given)), [])
                    blocks += groups.conventions(value, policy, given[0])

    def _n_changes(self, blocks: list[Block]) -> Ints:
        """Return, for each preset, the smallest number of changed fields that gives a convention of the blocks."""
        counts = [self._n_changes_of_block(tuple(block.items())) for block in blocks]
        return counts[0] if len(counts) == 1 else np.min(counts, axis=0)

    def _n_changes_of_block(self, pairs: tuple[tuple[str, Values], ...]) -> Ints:
        """Return, for each preset, the number of fields without a value of the block; once for all cutoffs."""
        if pairs not in self._changes:
            changes = [sum(getattr(preset, name) not in values for name, values in pairs) for preset in self.presets]
            self._changes[pairs] = np.array(changes, np.int64)
        return self._changes[pairs]

    def chance(self, convention: Convention | None) -> Chance:
        """Count the conventions that give the numbers near the printed ones that `convention` can take on the data."""
        nearby = [_nearby(number, convention) for number in self.numbers]
        units, values = np.array([(number.unit, number.value) for number in self.numbers]).T
        means = np.concatenate([np.empty((0, len(nearby))), *self.means])
        n_changes = np.concatenate([np.empty(0, np.int64), *self.n_changes])
        steps = np.round((means - values) / units) + 0.0  # distance in units of the last printed digit
        counted = np.all([numbers.have(column) for numbers, column in zip(nearby, steps.T, strict=True)], axis=0)
        n_random = math.prod(numbers.size for numbers in nearby)
        near_presets = [counted & (n_changes <= most) for most in range(int(n_changes.max(initial=0)) + 1)]
        return Chance(
            expected=tuple(len(np.unique(np.round(means[rows], SAME), axis=0)) / n_random for rows in near_presets),
            shares=tuple(len(np.unique(steps[rows], axis=0)) / n_random for rows in near_presets), n_random=n_random,
        )  # fmt: skip


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
            steps = steps_nearby(values, number.value, number.unit)
            return _Nearby(steps[0], steps[-1], steps)
    low, high = -number.window, number.window
    if number.bounded and 0 <= number.value <= 1:
        low, high = max(low, -number.value), min(high, 1 - number.value)
    return _Nearby(-np.floor(-low / number.unit + EDGE), np.floor(high / number.unit + EDGE))


def find_candidates(numbers: Sequence[Number], measure: type[Convention], progress: Progress) -> Candidates:
    """Return the conventions of a measure's grid, at every cutoff, whose means are near the printed numbers."""
    grids = [values_to_search(measure, number.queries) for number in numbers]
    grid = {
        name: tuple(value for value in values if all(value in one_grid[name] for one_grid in grids))
        for name, values in grids[0].items()
    }
    data = [Data(number.queries, number.scores, number.cutoffs) for number in numbers]
    search = Search(measure, with_refusals(measure, grid), data)
    candidates = Candidates(numbers, list(starting_presets(measure, numbers[0].cutoffs[0]).values()))
    for groups in search.groups(progress):
        candidates.add(groups)
    notes = (note for number in numbers for note in omission_notes(measure, number.queries))
    candidates.notes = list(dict.fromkeys([*notes, *search.notes]))
    return candidates
