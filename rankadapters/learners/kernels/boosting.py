"""The two sums of a round of RankBoost: of each row over its pairs, and of each bin over its rows."""

from __future__ import annotations

import numpy as np

from rankadapters.core.ranking.jit import jit


@jit
def pair_potentials(up, down, level, indptr, weight, lower, higher, potentials):
    """Write each row's sum over its pairs into `potentials`, divided by the total over all pairs; 0 if the total is 0.

    A pair of the higher row i and the lower row j counts up[j] x down[i]: positive for row i, negative for row j.
    `weight` multiplies the pairs of a query, and may be empty. `level` numbers the labels; `lower` and `higher` are
    buffers of one number per level. The sums go row by row, level by level and query by query, in time linear in the
    number of rows.
    """
    total = 0.0
    for q in range(indptr.size - 1):
        for label in range(lower.size):
            lower[label] = higher[label] = 0.0
        for i in range(indptr[q], indptr[q + 1]):
            lower[level[i]] += up[i]
            higher[level[i]] += down[i]
        below = above = 0.0
        for label in range(lower.size):
            level_sum, lower[label] = lower[label], below
            below += level_sum
            level_sum, higher[-1 - label] = higher[-1 - label], above
            above += level_sum
        for i in range(indptr[q], indptr[q + 1]):
            wins, losses = down[i] * lower[level[i]], up[i] * higher[level[i]]
            if weight.size:
                wins *= weight[q]
                losses *= weight[q]
            total += wins
            potentials[i] = wins - losses
    for i in range(potentials.size):
        potentials[i] = potentials[i] / total if total != 0 else 0.0


@jit
def add_by_bin(bins, values, first, last, sums):
    """Add the value of each row from `first` to `last` (exclusive) to the sum of its bin, for every feature.

    `bins` has the bin number, below 256, of each row and feature. `sums` has one row of bins per feature. Successive
    additions go to different features' sums, so no addition has to wait for the previous one.
    """
    flat, n_bins = sums.ravel(), np.uint64(sums.shape[1])
    for i in range(first, last):
        value, row = values[i], bins[i]
        start = np.uint64(0)
        for f in range(row.size):
            flat[start + np.uint64(row[f])] += value
            start += n_bins
