"""Sum the row values in each bin of each feature; a boosting round compares all decision stumps by these sums."""

from __future__ import annotations

import numpy as np

from rankadapters.core.ranking.jit import jit


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
