"""What callbacks keep of the trainings under way."""

from __future__ import annotations

from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class Trainings(WeakKeyDictionary[Any, T]):
    """What a callback keeps of each training under way, by its model; empty in a pickle.

    One callback may then serve trainings in several threads, and a training that failed leaves nothing.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the trainings."""
        return Trainings, ()
