"""RankBoost's potential of each row, computed from sums per label instead of from all pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.ranking.ranks import offsets

Floats = NDArray[np.float64]
MAX_HEIGHT = 300.0  # if no height is larger, sums of exponentials do not overflow
FEW_GRADES = 32  # up to this many distinct labels, labels are numbered once for all queries, which is faster


class PairPotentials:
    """The potential p of each row, under a distribution D over the pairs of rows i, j with label(i) > label(j).

    D(i, j) is proportional to exp(H_j - H_i), where H ("heights") are the scores of the model.
    p_i = sum over j below i of D(i, j) - sum over j above i of D(j, i)
        = (exp(-H_i) S+_i - exp(H_i) S-_i) / Z

    S+_i is the sum of exp(H_j) over the rows of the same query with a lower label, S-_i the sum of exp(-H_j) over those
    with a higher label, and Z the sum over all pairs. Large heights are first centered within each query, which does
    not change D. The labels are grouped by query, and `weight` multiplies the pairs of each query.
    """

    def __init__(self, labels: Floats, sizes: NDArray[np.int64], weight: Floats | None) -> None:
        starts = np.cumsum(sizes) - sizes
        mixed = np.maximum.reduceat(labels, starts) > np.minimum.reduceat(labels, starts)
        if weight is not None:
            mixed &= weight > 0
        self.rows = np.flatnonzero(np.repeat(mixed, sizes))  # rows of queries with pairs
        sizes = sizes[mixed]
        self._indptr = offsets(sizes)
        query = np.repeat(np.arange(sizes.size), sizes)
        self._level = _levels(labels[self.rows], query, self._indptr[:-1])
        self._n_levels = int(self._level.max()) + 1
        self._weight = np.empty(0) if weight is None else weight[mixed].astype(np.float64)

    def __call__(self, heights: Floats) -> Floats:
        """Return the potentials of `rows` at these heights; 0 if the weights of all pairs underflow."""
        from rankadapters.learners.kernels.boosted_pairs import pair_potentials

        if np.abs(heights).max() > MAX_HEIGHT:
            starts = self._indptr[:-1]
            low, high = (extreme.reduceat(heights, starts) for extreme in (np.minimum, np.maximum))
            heights = heights - np.repeat((low + high) / 2, np.diff(self._indptr))
        up, potentials = np.exp(heights), np.empty(heights.size)
        lower, higher = np.empty((2, self._n_levels))
        pair_potentials(up, 1.0 / up, self._level, self._indptr, self._weight, lower, higher, potentials)
        return potentials


def _levels(labels: Floats, query: NDArray[np.intp], starts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Number the distinct labels of each query in ascending order; few labels are numbered once for all queries."""
    grades, grade = np.unique(labels, return_inverse=True)
    if grades.size <= FEW_GRADES:
        return grade
    order = np.lexsort((labels, query))
    ordered = labels[order]
    rises = np.concatenate([[0], np.cumsum((ordered[1:] > ordered[:-1]) & (query[order][1:] == query[order][:-1]))])
    level = np.empty(labels.size, np.intp)
    level[order] = rises - rises[starts][query[order]]
    return level
