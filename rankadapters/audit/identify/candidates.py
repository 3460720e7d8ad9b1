"""What a search keeps: conventions whose means come near a printed number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.field_grid import Values
from rankadapters.audit.printed import Printed
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError

Cutoffs = tuple[int | None, ...]
Progress = Callable[[int, int], object]
Block = dict[str, Values]  # conventions: each combination of these values, which give every query one value

SLACK = 1e-9  # sums here are not exact: what comes close is evaluated
NEARBY = 0.1  # of the number: the numbers that are this close show how many conventions a random one has
LEAST = 5  # numbers with as many digits on either side


class Candidate(NamedTuple):
    """Conventions whose mean is near the printed number.

    Attributes
    ----------
    mean : float
        Their mean.
    block : Block
        The conventions.
    key : object
        What every query's value is; None where the mean does not print as the number.
    """

    mean: float
    block: Block
    key: object


@dataclass(slots=True)
class Candidates:
    """What the search found.

    Attributes
    ----------
    measure : type of Convention
        What was searched.
    printed : Printed
        The number searched for.
    near : list of Candidate
        The conventions whose mean is in the window around it.
    nearest : (float, Block)
        The smallest distance to the printed number, and who has it.
    left_out : list of str
        What could not be searched, and why.
    """

    measure: type[Convention]
    printed: Printed
    near: list[Candidate] = field(default_factory=list)
    nearest: tuple[float, Block] = (np.inf, {})
    left_out: list[str] = field(default_factory=list)

    def distances(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far means are from the printed number."""
        found: NDArray[np.float64] = np.abs(means - float(self.printed.value))
        return found

    @property
    def unit(self) -> float:
        """The distance between two printed numbers with as many digits."""
        return 2 * float(self.printed.half)

    @property
    def window(self) -> float:
        """The largest distance at which a mean is near the printed number."""
        return max(NEARBY * abs(float(self.printed.value)), (LEAST + 0.5) * self.unit)

    def prints(self, distance: float) -> bool:
        """Tell whether a mean at this distance may be the printed number."""
        return distance <= self.unit / 2 + SLACK

    def add(self, mean: float, key: object, blocks: Iterable[Block]) -> None:
        """Keep conventions and their mean."""
        self.near.extend(Candidate(mean, block, key) for block in blocks)


def is_convention(measure: type[Convention], block: Block) -> bool:
    """Tell whether the values of a block go together; all of its conventions say the same."""
    try:
        measure(**{name: values[0] for name, values in block.items()})
    except ConventionError:
        return False
    return True
