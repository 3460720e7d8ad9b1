"""The top rows of one query without sorting it: a bound from a few maxima, then only the rows above the bound."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core._kernels import inlined, kernel
from rankadapters.core._kernels.sorting import count_ranks, full_order

# A query's rows are dealt over lanes; the k-th largest lane maximum bounds the k-th score from below.
FEW_LANES, MANY_LANES = 16, 32
LANES_BEYOND_K = 4  # with fewer spare lanes than this the bound lets too many rows through
COUNTED = 96  # up to this many rows ranks are counted, beyond it rows are sorted

Scratch = namedtuple("Scratch", "lanes every_row rows scores ranks ranked bucket ends")  # noqa: PYI024 - numba knows this kind


@kernel
def make_scratch(width, like):
    """Working memory for queries of up to `width` rows; scores in the dtype of `like`."""
    return Scratch(
        np.empty(MANY_LANES, like.dtype),
        np.arange(width).astype(np.int32),
        np.empty(width + 1, np.int32),
        np.empty(width, like.dtype),
        np.empty(width, np.int32),
        np.empty(width, np.int32),
        np.empty(width, np.int32),
        np.empty(width + 1, np.int32),
    )


@kernel
def few_lane_maxima(scores, lanes):
    """As lane_maxima for a number of lanes known when it is compiled, which unrolls the inner loop."""
    for j in range(FEW_LANES):
        lanes[j] = scores[j]
    first = FEW_LANES
    while first + FEW_LANES <= scores.size:
        block = scores[first : first + FEW_LANES]
        for j in range(FEW_LANES):
            lanes[j] = block[j] if block[j] > lanes[j] else lanes[j]
        first += FEW_LANES
    rest = scores[first:]
    for j in range(rest.size):
        lanes[j] = rest[j] if rest[j] > lanes[j] else lanes[j]


@kernel
def lane_maxima(scores, lanes):
    """Maximum of each lane, where row i lies in lane i % lanes.size; the inner loops become packed instructions."""
    n, width = scores.size, lanes.size
    lanes[:] = scores[:width]
    for first in range(width, n - width + 1, width):
        block = scores[first : first + width]
        for j in range(width):
            lanes[j] = block[j] if block[j] > lanes[j] else lanes[j]
    rest = scores[n - n % width :]
    for j in range(rest.size):
        lanes[j] = rest[j] if rest[j] > lanes[j] else lanes[j]


@kernel
def kth_largest(values, k):
    """k-th largest of a few finite values, by counting."""
    best = -np.inf
    for i in range(values.size):
        value = values[i]
        count = 0
        for j in range(values.size):
            count += values[j] >= value
        bound = value if count >= k else -np.inf
        best = bound if bound > best else best
    return best


@kernel
def rows_from(scores, bound, rows):
    """Collect the rows with a score of at least `bound`; branch-free: every row is written, few advance the end."""
    end = np.uint64(0)  # unsigned, since numba would test a signed index for wraparound
    for i in range(scores.size):
        rows[end] = i
        end += np.uint64(scores[i] >= bound)
    return np.int64(end)


@inlined
def rank_listed(scores, rows, ranked, scratch):
    """Write `rows`, which have these scores, into `ranked` by descending score, keeping their sequence in ties."""
    n = scores.size
    ranks = scratch.ranks[:n]
    if n > COUNTED:
        full_order(scores, ranks, scratch.bucket, scratch.ends)
        for r in range(n):
            ranked[r] = rows[ranks[r]]
    else:
        count_ranks(scores, ranks)
        for i in range(n):
            ranked[np.uint64(ranks[i])] = rows[i]


@inlined
def rank_top(scores, k, scratch):
    """Write the top rows into scratch.ranked, at least min(k, n) and all that tie with the k-th; return how many."""
    n = scores.size
    width = FEW_LANES if k + LANES_BEYOND_K <= FEW_LANES else MANY_LANES
    if k + LANES_BEYOND_K > width or 2 * n < 3 * width:
        rank_listed(scores, scratch.every_row, scratch.ranked, scratch)
        return n
    lanes, rows = scratch.lanes[:width], scratch.rows
    if width == FEW_LANES:
        few_lane_maxima(scores, lanes)
    else:
        lane_maxima(scores, lanes)
    count = rows_from(scores, kth_largest(lanes, k), rows)
    top = scratch.scores[:count]
    for i in range(count):
        top[i] = scores[np.uint64(rows[i])]
    rank_listed(top, rows, scratch.ranked, scratch)
    return count
