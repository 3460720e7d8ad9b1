"""Rankings down to the end of the tie at rank k, for measures that need every row of a tie."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import kernel
from rankadapters.core.kernels.in_numpy import ranking as in_numpy
from rankadapters.core.kernels.ranked_rows import ALL_FINITE, all_finite, first_non_finite
from rankadapters.core.kernels.sorting import new_sorting, rank_top


@kernel(in_numpy=in_numpy.ranked_whole_ties)
def ranked_whole_ties(scores, order, indptr, k, columns, outptr, out, ends):
    """As ranking.ranked_columns, with the end of each rank's tie; every row that ties with the k-th has a rank too.

    `outptr` has room for all rows of a query; what is written ends with the tie at rank k.
    """
    width = 0
    for q in range(indptr.size - 1):
        width = max(width, indptr[q + 1] - indptr[q])
    space = new_sorting(width, scores)
    gathered = np.empty(width, scores.dtype)
    for q in range(indptr.size - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        if n == 0:
            continue
        query_scores = gathered[:n]
        for i in range(n):
            query_scores[i] = scores[order[start + i] if order.size else start + i]
        if not all_finite(query_scores):
            return first_non_finite(scores, order, start, start + n)
        count = rank_top(query_scores, k, space)
        first = 0
        while first < min(k, count):
            score, last = query_scores[space.order[first]], first
            while last < count and query_scores[space.order[last]] == score:
                last += 1
            for r in range(first, last):
                ends[outptr[q] + r] = last
                for c in range(columns.shape[0]):
                    out[c, outptr[q] + r] = columns[c, start + space.order[r]]
            first = last
    return ALL_FINITE
