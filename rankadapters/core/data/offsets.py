"""Offsets: where each query's rows begin, and where the last one's end."""

from __future__ import annotations

import numpy as np

from rankadapters.core.data.columns import Array, Ints


def offsets(sizes: Array) -> Ints:
    """Return the running sum of sizes, from 0: one entry more than there are sizes.

    >>> offsets(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    sums = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=sums[1:])
    return sums
