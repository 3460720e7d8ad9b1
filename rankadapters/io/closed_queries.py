"""Queries of a stream that are closed: a hash of each, by which one that returns is found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]


class ClosedQueries:
    """Hashes of the queries so far, 8 bytes each, in sorted runs; twice that while two large runs are merged.

    Integers of 64 bits with a sign never share a hash; that any two of n other ids do has probability n^2 / 2^65.
    """

    def __init__(self) -> None:
        self._runs: list[Hashes] = []

    @property
    def nbytes(self) -> int:
        """Memory of the hashes."""
        return sum(run.nbytes for run in self._runs)

    def returned(self, hashes: Hashes) -> int:
        """Number of the first of some queries that was closed before, or stands twice among them; -1 for none.

        Examples
        --------
        >>> closed = ClosedQueries()
        >>> closed.close(np.array([5, 3], np.uint64))
        >>> closed.returned(np.array([4, 3], np.uint64)), closed.returned(np.array([4, 6, 4], np.uint64))
        (1, 2)
        >>> closed.returned(np.array([4, 6], np.uint64))
        -1
        """
        again = np.ones(hashes.size, np.bool_)
        again[np.unique(hashes, return_index=True)[1]] = False
        for run in self._runs:
            at = np.minimum(np.searchsorted(run, hashes), run.size - 1)
            again |= run[at] == hashes
        return int(np.argmax(again)) if again.any() else -1

    def close(self, hashes: Hashes) -> None:
        """Add queries; a run is merged with the one before once it is as long, so that there are few."""
        self._runs.append(np.sort(hashes))
        while len(self._runs) > 1 and self._runs[-1].size >= self._runs[-2].size:
            last = [self._runs.pop(), self._runs.pop()]
            self._runs.append(np.sort(np.concatenate(last), kind="stable"))  # which merges runs that are sorted
