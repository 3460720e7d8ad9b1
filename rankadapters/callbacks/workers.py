"""Sums of integer arrays over all workers of a training, and errors that all workers raise together."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError

Integers = NDArray[np.int64]

_SLOTS, _SLOT_LENGTH = 64, 1000  # slots for error texts; a failed worker writes its text to a random slot


class Exchange(Protocol):
    """A sum over all workers: for example MPI's allreduce, or the Dask actor of `ra.dask.exchange`."""

    def add(self, key: str, parts: int, array: Integers, /) -> Integers:
        """Wait until `parts` workers have passed an array of the same shape for this key, and return the sum to each.

        Every worker calls it with the same keys in the same order. If a worker is lost, the others get an error.
        """
        ...


def summed(exchange: Exchange, key: str, parts: int, size: int, make_array: Callable[[], Integers]) -> Integers:
    """Return the sum of the workers' arrays; if a worker fails to make its array, all workers raise.

    `key` names this sum and is the same on all workers. `size` is the length of the array, which a failing worker needs
    too. `make_array` makes this worker's array.
    """
    array, failure = np.zeros(size + 1, np.int64), None
    try:
        array[:-1] = make_array()
    except Exception as error:  # noqa: BLE001 - any error, since the other workers wait for this one
        array[-1], failure = 1, error
    total = exchange.add(key, parts, array)
    if n_failed := int(total[-1]):
        causes = _exchanged_texts(exchange, f"{key}, cause", parts, failure)
        if failure is not None:
            raise failure
        who = "another worker" if n_failed == 1 else f"{n_failed} other workers"
        raise InputError(f"{who} of {parts} failed: {causes}")
    return total[:-1]


def _exchanged_texts(exchange: Exchange, key: str, parts: int, failure: Exception | None) -> str:
    """Share the error texts with all workers; two texts in the same random slot are lost."""
    slots = np.zeros((_SLOTS, 1 + _SLOT_LENGTH), np.int64)
    if failure is not None:
        characters = [ord(character) for character in f"{type(failure).__name__}: {failure}"[:_SLOT_LENGTH]]
        slots[secrets.randbelow(_SLOTS), : 1 + len(characters)] = [1, *characters]
    total = exchange.add(key, parts, slots.ravel()).reshape(slots.shape)
    texts = {"".join(chr(character) for character in slot[1:] if character) for slot in total if slot[0] == 1}
    return "\n".join(sorted(texts)) or "its error is in its own log."
