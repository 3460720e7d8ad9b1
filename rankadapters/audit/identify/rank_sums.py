"""DCG at many cutoffs at once: one ranking, and running sums over its ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankadapters.core._kernels.ranking import ranked_columns
from rankadapters.core.columns import Array, non_finite, read_only
from rankadapters.core.lowering import Ranked, discounts_of, offsets

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Cutoffs = tuple[int | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Where a flat list of gains, query by query and in rank order, stands: the query and 0-based rank of each."""

    query: NDArray[np.intp]
    rank: NDArray[np.intp]
    n_queries: int

    @classmethod
    def of(cls, sizes: Ints) -> Ranks:
        """Number the ranks of queries of these sizes."""
        query = np.repeat(np.arange(sizes.size), sizes)
        return cls(query, np.arange(query.size) - np.repeat(offsets(sizes)[:-1], sizes), sizes.size)

    def dcg(self, gains: Floats, discount: str, cutoffs: Cutoffs, upto: Ints | None = None) -> Floats:
        """DCG of each query at each cutoff, shape (n_queries, n_cutoffs), in the order of addition of `evaluate`.

        `upto` ends each query's list earlier than its rows do.

        >>> Ranks.of(np.array([2, 1])).dcg(np.array([1.0, 1.0, 3.0]), "reciprocal", (1, 2, None)).tolist()
        [[1.0, 1.5, 1.5], [3.0, 3.0, 3.0]]
        """
        length = int(self.rank.max(initial=0)) + 1
        terms = gains * discounts_of(discount, length)[self.rank]
        if upto is not None:
            terms = np.where(self.rank < upto[self.query], terms, 0.0)
        depth = min(max((k for k in cutoffs if k), default=1), length)
        table = np.zeros((self.n_queries, depth))
        inside = self.rank < depth
        table[self.query[inside], self.rank[inside]] = terms[inside]
        sums = np.cumsum(table, axis=1, out=table)
        found: Floats = sums[:, [min(k or 1, depth) - 1 for k in cutoffs]]
        if None in cutoffs:
            found[:, cutoffs.index(None)] = np.bincount(self.query, weights=terms, minlength=self.n_queries)
        return found


def gains_by_rank(low: Ranked, scores: Array) -> Floats:
    """Gains of all rows in rank order, query by query, as a convention ranks them.

    Raises
    ------
    InputError
        A score is not finite.
    """
    rows = low.rows
    longest = max(1, int(rows.sizes.max(initial=0)))
    ranked: Floats = np.empty((1, int(rows.indptr[-1])))
    gains, means = low.columns[0].values[None, :], low.ranking.tied == "means"
    outptr = offsets(rows.sizes)
    bad = ranked_columns(read_only(scores), rows.order, rows.indptr, longest, means, gains, outptr, ranked)
    if bad >= 0:
        raise non_finite("scores", bad, scores)
    return ranked.ravel()
