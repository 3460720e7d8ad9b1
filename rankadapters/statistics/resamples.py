"""Resamples of queries as rows of numbers, one for each query: a product with the queries' values gives their sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

CELLS = 1 << 21  # held at once
WORD = 64  # bits


@dataclass(frozen=True, slots=True)
class Resamples:
    """Swaps of two models within queries, and samples of queries with replacement; the same for the same seed.

    `strata` has the number of queries of each data set, where there are several: each is sampled apart.
    """

    n_queries: int
    n_resamples: int
    seed: int
    strata: tuple[int, ...] = ()

    @property
    def holds_all_swaps(self) -> bool:
        """Whether there are no more swaps than resamples."""
        return self.n_queries < self.n_resamples.bit_length()

    @property
    def n_swaps(self) -> int:
        """How many swaps are tried."""
        return 1 << self.n_queries if self.holds_all_swaps else self.n_resamples

    @property
    def n_blocks(self) -> int:
        """How many blocks there are of both."""
        return len(list(self._rows(self.n_swaps))) + len(list(self._rows(self.n_resamples)))

    def swaps(self) -> Iterator[NDArray[np.uint8]]:
        """Blocks of rows that have 1 where the two models are swapped, and 0.

        >>> [block.tolist() for block in Resamples(2, 4, seed=0).swaps()]
        [[[0, 0], [1, 0], [0, 1], [1, 1]]]
        """
        rng, n_words = np.random.default_rng([self.seed, 0]), -(-self.n_queries // WORD)
        for rows in self._rows(self.n_swaps):
            if self.holds_all_swaps:
                words = np.arange(rows.start, rows.stop, dtype=np.uint64)[:, None]
            else:
                words = rng.integers(2**WORD, size=(len(rows), n_words), dtype=np.uint64)
            # Little-endian everywhere, so that every machine swaps the same queries.
            yield np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, count=self.n_queries, bitorder="little")

    def samples(self) -> Iterator[NDArray[np.intp]]:
        """Blocks of rows that have how often each query is drawn."""
        rng = np.random.default_rng([self.seed, 1])
        low, high = self._ranges()
        for rows in self._rows(self.n_resamples):
            drawn = rng.integers(low, high, size=(len(rows), self.n_queries))
            drawn += self.n_queries * np.arange(len(rows))[:, None]
            yield np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)

    def _ranges(self) -> tuple[Any, Any]:
        """From which queries each one's place is drawn."""
        if not self.strata:
            return 0, self.n_queries
        ends = np.cumsum(self.strata)
        return np.repeat(ends - self.strata, self.strata), np.repeat(ends, self.strata)

    def _rows(self, n_rows: int) -> Iterator[range]:
        several = max(1, CELLS // self.n_queries)
        return (range(first, min(first + several, n_rows)) for first in range(0, n_rows, several))
