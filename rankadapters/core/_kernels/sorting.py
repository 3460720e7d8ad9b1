"""Stable descending order of one query's scores."""

from __future__ import annotations

import numpy as np

from rankadapters.core._kernels import kernel

RUN = 16  # merge sort starts from insertion-sorted runs of this length
MOVES_PER_ROW = 8  # beyond this the buckets did not help (heavy tails), and a merge sort takes over


@kernel
def count_ranks(scores, ranks):
    """Give each row its 0-based rank by counting: quadratic, but branch-free and vectorised, best below 100 rows."""
    n = scores.size
    ranks[:] = 0
    for i in range(n):
        score = scores[i]
        later_scores = scores[i + 1 :]
        later_ranks = ranks[i + 1 :]
        above = 0
        for j in range(later_scores.size):
            wins = later_scores[j] > score
            above += wins
            later_ranks[j] += 1 - wins
        ranks[i] += above


@kernel
def insert_run(scores, order, first, last):
    """Insertion sort of order[first:last]."""
    for i in range(first + 1, last):
        row = order[i]
        score = scores[row]
        j = i
        while j > first and scores[order[j - 1]] < score:
            order[j] = order[j - 1]
            j -= 1
        order[j] = row


@kernel
def merge_sort(scores, order, spare):
    """Sort `order` by descending score, keeping its sequence among equal scores."""
    n = order.size
    for first in range(0, n, RUN):
        insert_run(scores, order, first, min(first + RUN, n))
    width = RUN
    source, target = order, spare[:n]
    while width < n:
        for first in range(0, n, 2 * width):
            middle, last = min(first + width, n), min(first + 2 * width, n)
            i, j = first, middle
            for t in range(first, last):
                if i < middle and (j >= last or scores[source[i]] >= scores[source[j]]):
                    target[t] = source[i]
                    i += 1
                else:
                    target[t] = source[j]
                    j += 1
        source, target = target, source
        width *= 2
    order[:] = source


@kernel
def bucket_order(scores, order, bucket, ends):
    """Distribute rows over as many equal-width score intervals as there are rows; False where that is impossible."""
    n = scores.size
    low, high = np.float64(scores[0]), np.float64(scores[0])
    for i in range(1, n):
        low = min(low, np.float64(scores[i]))
        high = max(high, np.float64(scores[i]))
    scale = (n - 1) / (high - low) if high > low else 0.0
    if not (np.isfinite(high - low) and np.isfinite(scale)):
        return False
    ends[: n + 1] = 0
    for i in range(n):
        # Rounding is monotone, so a higher score never lands in a later bucket.
        b = np.int32((high - scores[i]) * scale)
        bucket[i] = b
        ends[b + 1] += 1
    for b in range(n):
        ends[b + 1] += ends[b]
    for i in range(n):
        b = bucket[i]
        order[ends[b]] = i
        ends[b] += 1
    return True


@kernel
def full_order(scores, order, bucket, ends):
    """Order all rows of a query by descending score, then row: buckets, then insertion, merge sort as the way out."""
    n = scores.size
    moves = 0
    spread = bucket_order(scores, order, bucket, ends)
    if not spread:
        for i in range(n):
            order[i] = i
        moves = MOVES_PER_ROW * n + 1
    for i in range(1, n):
        if moves > MOVES_PER_ROW * n:
            break
        row = order[i]
        score = scores[row]
        j = i
        while j > 0 and scores[order[j - 1]] < score:
            order[j] = order[j - 1]
            j -= 1
        order[j] = row
        moves += i - j
    if moves > MOVES_PER_ROW * n:
        merge_sort(scores, order, bucket)


@kernel
def order_within(keys, indptr, order):
    """Order the rows of each query by descending key, then row; `order` holds positions in the whole array."""
    width = 0
    for q in range(indptr.size - 1):
        width = max(width, indptr[q + 1] - indptr[q])
    local = np.empty(width, np.int32)
    bucket = np.empty(width, np.int32)
    ends = np.empty(width + 1, np.int32)
    for q in range(indptr.size - 1):
        start = indptr[q]
        n = indptr[q + 1] - start
        if n:
            full_order(keys[start : start + n], local[:n], bucket, ends)
        for i in range(n):
            order[start + i] = start + local[i]
