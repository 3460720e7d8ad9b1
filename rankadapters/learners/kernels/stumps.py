"""Sums over the rows of each bin of each feature, from which a boosting round reads all its decision stumps."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import kernel


@kernel
def add_by_bin(bins, values, first, last, sums):
    """Add the value of each row from `first` to `last` to the bins of its features.

    `bins` holds a bin below 256 for each row and feature, and `sums` a row of bins for each feature. Row by row, every
    sum is another one, so that no addition waits for the one before.
    """
    flat, n_bins = sums.ravel(), np.uint64(sums.shape[1])
    for i in range(first, last):
        value, row = values[i], bins[i]
        place = np.uint64(0)
        for f in range(row.size):
            flat[place + np.uint64(row[f])] += value
            place += n_bins
