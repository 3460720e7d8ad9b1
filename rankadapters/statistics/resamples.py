"""Resamples of queries as rows of a matrix; its product with per-query values gives the resampled sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

CELLS = 1 << 21  # cells of the matrix in memory at once
WORD = 64  # bits


@dataclass(frozen=True, slots=True)
class Resamples:
    """Random swaps of two models within queries, and bootstrap samples of queries, both fixed by the seed.

    With more than one data set, `strata` is the number of queries of each; each data set is sampled on its own.
    """

    n_queries: int
    n_resamples: int
    seed: int
    strata: tuple[int, ...] = ()

    @property
    def holds_all_swaps(self) -> bool:
        """Whether every possible swap is tried, because `n_resamples` suffices for all of them."""
        return self.n_queries < self.n_resamples.bit_length()

    @property
    def n_swaps(self) -> int:
        """Number of swaps to try."""
        return 1 << self.n_queries if self.holds_all_swaps else self.n_resamples

    @property
    def n_blocks(self) -> int:
        """Number of blocks of swaps and of samples together."""
        return len(list(self._rows(self.n_swaps))) + len(list(self._rows(self.n_resamples)))

    def swaps(self) -> Iterator[NDArray[np.uint8]]:
        """Yield blocks of matrix rows: 1 for a query in which the two models are swapped, else 0.

        >>> [block.tolist() for block in Resamples(2, 4, seed=0).swaps()]
        [[[0, 0], [1, 0], [0, 1], [1, 1]]]
        """
        rng, n_words = np.random.default_rng([self.seed, 0]), -(-self.n_queries // WORD)
        for rows in self._rows(self.n_swaps):
            if self.holds_all_swaps:
                words = np.arange(rows.start, rows.stop, dtype=np.uint64)[:, None]
            else:
                words = rng.integers(2**WORD, size=(len(rows), n_words), dtype=np.uint64)
            # Little-endian on every machine, so that all machines swap the same queries.
            yield np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, count=self.n_queries, bitorder="little")

    def samples(self) -> Iterator[NDArray[np.intp]]:
        """Yield blocks of matrix rows: how often each query is in a bootstrap sample.

        >>> [block.tolist() for block in Resamples(5, 3, seed=0, strata=(2, 3)).samples()]
        [[[0, 2, 1, 1, 1], [1, 1, 1, 0, 2], [2, 0, 2, 0, 1]]]
        """
        rng = np.random.default_rng([self.seed, 1])
        low, high = self._ranges()
        for rows in self._rows(self.n_resamples):
            drawn = rng.integers(low, high, size=(len(rows), self.n_queries))
            drawn += self.n_queries * np.arange(len(rows))[:, None]
            yield np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)

    def _ranges(self) -> tuple[Any, Any]:
        """Return the range of queries from which each entry of a sample comes: all, or those of its stratum."""
        if not self.strata:
            return 0, self.n_queries
        ends = np.cumsum(self.strata)
        return np.repeat(ends - self.strata, self.strata), np.repeat(ends, self.strata)

    def _rows(self, n_rows: int) -> Iterator[range]:
        size = max(1, CELLS // self.n_queries)
        return (range(first, min(first + size, n_rows)) for first in range(0, n_rows, size))
