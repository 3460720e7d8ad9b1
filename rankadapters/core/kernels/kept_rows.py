"""Rows that a score lets through, in the order that is given: what is ranked without comparing scores."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import kernel
from rankadapters.core.kernels.in_numpy import ranking as in_numpy
from rankadapters.core.kernels.ranked_rows import ALL_FINITE


@kernel(in_numpy=in_numpy.kept_columns)
def kept_columns(scores, order, indptr, k, bound, strict, columns, outptr, out):
    """Write what the first k rows of each query with a score from `bound` on (above it, if `strict`) have, then 0."""
    for q in range(indptr.size - 1):
        room, rank = min(k, outptr[q + 1] - outptr[q]), 0
        for place in range(indptr[q], indptr[q + 1]):
            row = order[place] if order.size else place
            score = scores[row]
            if not np.isfinite(score):
                return row
            if rank < room and (score > bound or (score == bound and not strict)):
                for c in range(columns.shape[0]):
                    out[c, outptr[q] + rank] = columns[c, place]
                rank += 1
        for c in range(columns.shape[0]):
            for r in range(outptr[q] + rank, outptr[q + 1]):
                out[c, r] = 0.0
    return ALL_FINITE
