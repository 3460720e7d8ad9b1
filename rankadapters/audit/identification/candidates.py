"""Search for the conventions whose means are near the printed numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rankadapters.audit.identification.numbers import Number
from rankadapters.core.data.columns import Flags, Floats, Ints
from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.grid import Block, Values, omission_notes, values_to_search, with_refusals
from rankadapters.statistics.known_presets import starting_presets
from rankadapters.statistics.search import Data, Groups, Progress, Search

SLACK = 1e-9  # the means of a search may be off by this much; candidates are later evaluated exactly


@dataclass(slots=True)
class Candidates:
    """Conventions whose means, according to a search, are near the printed numbers.

    Attributes
    ----------
    numbers : sequence of Number
        The printed numbers.
    presets : list of Convention
        The presets from which the changed fields of a convention are counted.
    means : list of float64 array, shape (n, n_numbers)
        The means of the conventions whose means are within the reach of all numbers.
    n_changes : list of int64 array, shape (n,)
        The number of fields in which these conventions differ from the nearest preset.
    nearest : (float, Block)
        The smallest distance to the first number, and the conventions at this distance.
    notes : list of str
        Parts of the grid that could not be searched, with the reason.
    """

    numbers: Sequence[Number]
    presets: list[Convention]
    means: list[Floats] = field(default_factory=list)
    n_changes: list[Ints] = field(default_factory=list)
    nearest: tuple[float, Block] = (np.inf, {})
    notes: list[str] = field(default_factory=list)
    _groups: dict[int | None, dict[object, list[Block]]] = field(default_factory=dict)
    _differing: dict[tuple[str, Values], Flags] = field(default_factory=dict)

    def add_means(self, means: Floats, n_changes: int) -> None:
        """Record the means of presets with a mistake, which counts as so many changes."""
        self.means.append(means)
        self.n_changes.append(np.full(len(means), n_changes))

    def groups(self, without: int | None = None) -> list[list[Block]]:
        """Group the conventions that give all numbers (except the one at index `without`) by their per-query values."""
        return list(self._groups.get(without, {}).values())

    def add(self, groups: Groups) -> None:
        """From a search's groups, record the means near the numbers, the matching conventions and the nearest one."""
        distances = np.abs(groups.means - [float(number.printed.value) for number in self.numbers])
        near = (distances <= [number.reach for number in self.numbers]).all(axis=-1)
        if near.any():
            values = np.stack([self._n_changes(blocks) for blocks in groups.blocks])
            policies = np.stack([self._n_changes(blocks) for blocks in groups.policies.blocks])
            indices = np.nonzero(near)
            self.means.append(groups.means[indices])
            self.n_changes.append((values[indices[0]] + policies[indices[1]]).min(axis=1))
        smallest = float(np.fmin.reduce(distances[..., 0], axis=None))  # ignores NaN
        if smallest < self.nearest[0]:
            value, policy = np.argwhere(distances[..., 0] == smallest)[0].tolist()
            self.nearest = smallest, groups.conventions(value, policy)[0]
        self._keep(groups, distances <= [number.unit / 2 + SLACK for number in self.numbers])

    def _keep(self, groups: Groups, matches: Flags) -> None:
        """Keep the conventions that give all numbers, or all but one."""
        n_numbers = len(self.numbers)
        for value, policy in np.argwhere(matches.sum(axis=-1) >= max(1, n_numbers - 1)).tolist():
            keys = [groups.key(value, policy, number) for number in range(n_numbers)]
            for without in (None, *range(n_numbers if n_numbers > 1 else 0)):
                kept = [number for number in range(n_numbers) if number != without]
                if matches[value, policy, kept].all():
                    key = tuple(keys[number] for number in kept)
                    blocks = self._groups.setdefault(without, {}).setdefault(key, [])
                    blocks += groups.conventions(value, policy, kept[0])

    def _n_changes(self, blocks: list[Block]) -> Ints:
        """Return, for each preset, the smallest number of changed fields that gives a convention of the blocks."""
        counts = [np.sum([self._differ(name, values) for name, values in block.items()], axis=0) for block in blocks]
        return np.asarray(np.min(counts, axis=0), np.int64)

    def _differ(self, name: str, values: Values) -> Flags:
        """Return, for each preset, whether its value of a field is none of these."""
        if (name, values) not in self._differing:
            self._differing[name, values] = np.array([getattr(p, name) not in values for p in self.presets])
        return self._differing[name, values]


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
