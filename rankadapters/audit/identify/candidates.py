"""What a search keeps: conventions whose means come close to a printed number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.field_grid import Values
from rankadapters.audit.printed import Printed

Cutoffs = tuple[int | None, ...]
Progress = Callable[[int, int], object]
Block = dict[str, Values]  # conventions: each combination of these values, which give every query one value

SLACK = 1e-9  # sums here are not exact: what comes close is evaluated


@dataclass(slots=True)
class Candidates:
    """What the search found.

    Attributes
    ----------
    printed : Printed
        The number searched for.
    groups : dict
        By what every query's value is: the blocks of conventions that give these values.
    nearest : (float, Block)
        The smallest distance to the printed number, and who has it.
    left_out : list of str
        What could not be searched, and why.
    """

    printed: Printed
    groups: dict[object, list[Block]] = field(default_factory=dict)
    nearest: tuple[float, Block] = (np.inf, {})
    left_out: list[str] = field(default_factory=list)

    def distances(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far means are from the printed number."""
        found: NDArray[np.float64] = np.abs(means - float(self.printed.value))
        return found

    @property
    def near(self) -> float:
        """The largest distance at which a mean may still be the printed number."""
        return float(self.printed.half) + SLACK

    def add(self, key: object, blocks: Iterable[Block]) -> None:
        """Keep conventions under what they make of every query."""
        self.groups.setdefault(key, []).extend(blocks)
