"""The two loops that numba compiles for evaluation: ranking, and the discounted sums of NDCG and DCG."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rankadapters.core.errors import RankAdaptersError
from rankadapters.core.ranking.jit import cached, compiler_lock, jit, writable
from rankadapters.core.ranking.sorting import NO_ORDER, ranked_rows

SETTING = "RANKADAPTERS_KERNELS"
LATER, NOW, NEVER = "later", "now", "never"

# A process ranks so many rows in numpy, by scores of one type, before it loads cached machine code, and before it
# compiles missing code. Ranking them takes about as long as loading or compiling, so that the total time is at most
# twice that of the better choice. Compiling in a background thread is no way out: the process could not fork
# meanwhile, see `compiler_lock`.
ROWS_BEFORE_LOADING = 8_000_000
ROWS_BEFORE_COMPILING = 40_000_000


class _Process:
    """How many rows this process has ranked by each type of scores, and the types that machine code ranks by now."""

    def __init__(self, choice: str) -> None:
        self.choice = choice
        self.rows: dict[np.dtype[Any], int] = defaultdict(int)
        self.ready: set[np.dtype[Any]] = set()
        self._next_look: dict[np.dtype[Any], float] = defaultdict(lambda: ROWS_BEFORE_LOADING)  # at so many rows

    def pays(self, rows: int, dtype: np.dtype[Any]) -> bool:
        """Count rows that scores of this type will rank; return whether machine code ranks them, and all later ones."""
        if self.choice != LATER or dtype in self.ready:
            return checked(self.choice) != NEVER
        self.rows[dtype] += rows
        if self.rows[dtype] < self._next_look[dtype]:
            return False
        if self.rows[dtype] < ROWS_BEFORE_COMPILING and not cached(ranked_rows, dtype):
            self._next_look[dtype] = ROWS_BEFORE_COMPILING
            return False
        self._next_look[dtype] = math.inf
        if can_import_numba():
            self.ready.add(dtype)
        return dtype in self.ready


def can_import_numba() -> bool:
    """Return whether numba is installed, and fits the installed numpy."""
    try:
        compiler_lock()  # fails if numba is missing, or if it refuses this numpy
    except ImportError:
        return False
    return True


def checked(choice: str) -> str:
    """Return a value of the environment variable RANKADAPTERS_KERNELS, checked.

    The error is not an InputError, which searches catch to skip conventions that do not fit the data.
    """
    if choice not in {LATER, NOW, NEVER}:
        raise RankAdaptersError(
            f"{SETTING}={choice!r}; allowed are {LATER!r}, {NOW!r} and {NEVER!r}.",
            hint=f"leave it out for {LATER!r}, which compiles once much is evaluated",
        )
    return choice


_process = _Process(os.environ.get(SETTING) or LATER)  # is checked when rows are ranked, not when we are imported
pays = _process.pays


@contextmanager
def kernels(choice: str) -> Iterator[None]:
    """Use machine code `later` (after some work), `now` or `never`, in all threads, until the block ends.

    >>> import rankadapters as ra
    >>> with kernels("never"):
    ...     ra.evaluate([1, 0], [0.5, 0.2], "textbook@1", group_sizes=[2]).value
    1.0
    """
    previous, _process.choice = _process.choice, checked(choice)
    try:
        yield
    finally:
        _process.choice = previous


def rank_rows(scores, order, indptr, k, ties, rowptr, rows) -> int:
    """Call `ranked_rows`; an order of None means the order of the rows."""
    order = NO_ORDER if order is None else writable(order)
    return int(ranked_rows(writable(scores), order, writable(indptr), k, ties, rowptr, rows))


def discounted_sums(rows, rankptr, indptr, k, averaged, gains, discounts, totals) -> None:
    """Write each query's sum of gain x discount over the ranks 1..k; `rows` is what `ranked_rows` wrote."""
    add = sums_of_means if averaged else sums_of_rows
    add(rows, rankptr, indptr, k, writable(gains), writable(discounts), totals)


@jit
def sums_of_rows(rows, rankptr, indptr, k, gains, discounts, totals):
    """Add the gains of the ranked rows."""
    for q in range(totals.size):
        first, start = np.uint64(rankptr[q]), np.uint64(indptr[q])
        total = 0.0
        for r in range(min(np.uint64(k), np.uint64(rankptr[q + 1]) - first)):
            total += gains[start + np.uint64(rows[first + r])] * discounts[r]
        totals[q] = total


@jit
def sums_of_means(rows, rankptr, indptr, k, gains, discounts, totals):
    """Add the mean gain of the tie at each rank; a row that ties with the one before it is stored as ~row."""
    for q in range(totals.size):
        ranked, query_gains = rows[rankptr[q] : rankptr[q + 1]], gains[indptr[q] : indptr[q + 1]]
        size, total, first = min(k, ranked.size), 0.0, 0
        while first < size:
            if first + 1 == ranked.size or ranked[first + 1] >= 0:  # no tie
                total += query_gains[np.uint64(ranked[first])] * discounts[first]
                first += 1
                continue
            last, tied, low, high = first, 0.0, np.inf, -np.inf
            while last < ranked.size and (last == first or ranked[last] < 0):
                row = ranked[last]
                gain = query_gains[row if row >= 0 else ~row]
                low, high = min(low, gain), max(high, gain)
                tied += gain
                last += 1
            # Equal gains need no division, so that an ideal order has exactly the ideal DCG.
            mean = low if low == high else tied / (last - first)
            for r in range(first, min(last, size)):
                total += mean * discounts[r]
            first = last
        totals[q] = total
