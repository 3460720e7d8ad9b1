"""Sums of integer arrays over all workers of a training; if one worker fails, all of them raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError

Integers = NDArray[np.int64]


class Exchange(Protocol):
    """A sum over all workers: for example MPI's allreduce, or `ra.dask.exchange`."""

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
        if failure is not None:
            raise failure
        who = "another worker" if n_failed == 1 else f"{n_failed} other workers"
        raise InputError(f"{who} of {parts} failed.\nHint: its log has the error.")
    return total[:-1]
