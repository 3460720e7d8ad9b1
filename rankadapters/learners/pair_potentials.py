"""What RankBoost's distribution over all pairs gives each row, without making a pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import offsets

Floats = NDArray[np.float64]
HIGHEST = 300.0  # H whose exponential, and the sum of many such, is far from overflowing
FEW_GRADES = 32  # up to which each query has room for all of them


class PairPotentials:
    """Potentials of rows under D(i, j) proportional to exp(H_j - H_i), for rows i of a higher label than j.

    p_i = sum over j below i of D(i, j) - sum over j above i of D(j, i)
        = (exp(-H_i) S+_i - exp(H_i) S-_i) / Z,

    where S+_i sums exp(H_j) over the rows of its query with a lower label and S-_i exp(-H_j) over those with a higher
    one, and Z sums all pairs. Where H is large it is taken from the middle of its range in each query, which changes no
    D. The labels are in the order of the queries, and `weight` multiplies the pairs of each.
    """

    def __init__(self, labels: Floats, sizes: NDArray[np.int64], weight: Floats | None) -> None:
        starts = np.cumsum(sizes) - sizes
        mixed = np.maximum.reduceat(labels, starts) > np.minimum.reduceat(labels, starts)
        if weight is not None:
            mixed &= weight > 0
        self.rows = np.flatnonzero(np.repeat(mixed, sizes))  # those that have a pair
        sizes = sizes[mixed]
        self._indptr = offsets(sizes)
        query = np.repeat(np.arange(sizes.size), sizes)
        self._level = _levels(labels[self.rows], query, self._indptr[:-1])
        self._n_levels = int(self._level.max()) + 1
        self._weight = np.empty(0) if weight is None else weight[mixed].astype(np.float64)

    def __call__(self, heights: Floats) -> Floats:
        """Potentials of `rows`, for their H; 0 where all pairs are so right that their weights underflow."""
        from rankadapters.learners.kernels.boosted_pairs import pair_potentials

        if np.abs(heights).max() > HIGHEST:
            starts = self._indptr[:-1]
            low, high = (each.reduceat(heights, starts) for each in (np.minimum, np.maximum))
            heights = heights - np.repeat((low + high) / 2, np.diff(self._indptr))
        up, found = np.exp(heights), np.empty(heights.size)
        lower, higher = np.empty((2, self._n_levels))
        pair_potentials(up, 1.0 / up, self._level, self._indptr, self._weight, lower, higher, found)
        return found


def _levels(labels: Floats, query: NDArray[np.intp], starts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Number the labels of each query by size; equal ones alike, and where there are few grades with gaps."""
    grades, grade = np.unique(labels, return_inverse=True)
    if grades.size <= FEW_GRADES:
        return grade
    order = np.lexsort((labels, query))
    ordered = labels[order]
    rises = np.concatenate([[0], np.cumsum((ordered[1:] > ordered[:-1]) & (query[order][1:] == query[order][:-1]))])
    level = np.empty(labels.size, np.intp)
    level[order] = rises - rises[starts][query[order]]
    return level
