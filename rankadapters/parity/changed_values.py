"""Values that changes of one kind would give, and what each change is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Self

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.declaration.convention import Convention


class Cause(NamedTuple):
    """What would give a number: in words, and the convention where it is another one."""

    text: str
    convention: Convention | None = None


class ChangedValues(NamedTuple):
    """Values that changes would give, NaN where a change gives none, and a description of each change."""

    values: Floats
    describe: Callable[[int], Cause]

    @classmethod
    def of(cls, changes: Iterable[tuple[str, float]]) -> Self:
        """Join changes in words with their values."""
        listed = list(changes)
        values = np.array([value for _, value in listed], np.float64)
        return cls(values, lambda index: Cause(f"it is {listed[index][0]}"))
