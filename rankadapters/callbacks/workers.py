"""Integer arrays added up over the workers of a training, and errors that all of them raise."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError

Integers = NDArray[np.int64]

_DRAWERS, _DRAWER = 64, 1000  # where failing workers leave the text of their errors, each in a drawer drawn at random


class Exchange(Protocol):
    """What adds up the arrays of all workers: MPI's allreduce, say, or a Dask actor by `ra.dask.exchange`."""

    def add(self, key: str, parts: int, array: Integers, /) -> Integers:
        """Wait until `parts` workers have handed an array of one shape over under this key, and give each the sum.

        Every worker calls it with the same keys in the same order. Where a worker is lost, the others get an error.
        """
        ...


def summed(exchange: Exchange, key: str, parts: int, size: int, own: Callable[[], Integers]) -> Integers:
    """Sum an array of each worker; where a worker fails to make its own, all raise.

    `key` names this sum, alike on all workers; `size` is the length of the array, which a worker that fails must know
    too, and `own` makes this worker's array.
    """
    array, failure = np.zeros(size + 1, np.int64), None
    try:
        array[:-1] = own()
    except Exception as error:  # noqa: BLE001 - whatever it is, the others wait for this worker's part
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
    """Tell all workers of the errors of some; texts that two workers put into one drawer are lost."""
    drawers = np.zeros((_DRAWERS, 1 + _DRAWER), np.int64)
    if failure is not None:
        letters = [ord(letter) for letter in f"{type(failure).__name__}: {failure}"[:_DRAWER]]
        drawers[secrets.randbelow(_DRAWERS), : 1 + len(letters)] = [1, *letters]
    found = exchange.add(key, parts, drawers.ravel()).reshape(drawers.shape)
    texts = {"".join(chr(letter) for letter in drawer[1:] if letter) for drawer in found if drawer[0] == 1}
    return "\n".join(sorted(texts)) or "its error is in its own log."
