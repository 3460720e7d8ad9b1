"""The compiled ranking: a stable descending sort of each query's scores, complete, or only of the top k."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import internal, jit

ALL_FINITE = -1
FEW = 8  # up to this many rows, ranks are counted without a branch
# For a query of n rows, what is added to the FEW scores that are read: -inf to those that are not the query's.
ABSENT = np.where(np.arange(FEW) < np.arange(FEW + 1)[:, None], 0.0, -np.inf).ravel()
NO_ORDER = np.empty(0, np.int32)
COUNTED = 48  # up to this many rows, ranks are counted; longer queries are sorted
LANES = 16  # rows are distributed over lanes; the k-th largest lane maximum is at most the k-th largest score
SPARE_LANES = 4  # with fewer than k + 4 lanes, that maximum as a threshold lets too many rows pass
BUCKETS_PER_ROW = 2  # rows that share a bucket cost mispredicted branches; with more buckets, fewer rows do
MOST_BUCKETS = 2**30  # bucket numbers are int32
MOST_KEPT = 4  # if the top buckets have more than 4 k rows, the bucket of the k-th row is divided again
MOST_DIVISIONS = 2
RUN = 16  # merge sort starts from insertion-sorted runs of this length
MOVES_PER_ROW = 4  # after more moves, insertion sort gives up and a merge sort takes over

# Working memory to rank a query; `order` is the result.
Sorting = namedtuple("Sorting", "order ordered rows bucket ends kept top")  # noqa: PYI024 - numba supports this kind


def make_sorting(width, like):
    """Return working memory for queries of up to `width` rows, with scores in the dtype of `like`."""
    ends = np.empty(BUCKETS_PER_ROW * width + 2, np.int32)
    rows, bucket = np.empty(width + 1, np.int32), np.empty(width, np.int32)
    kept, top = np.empty(width + 1, np.int32), np.empty(width, like.dtype)
    return Sorting(np.empty(width, np.int32), np.empty(width, like.dtype), rows, bucket, ends, kept, top)


new_sorting = internal(make_sorting)  # for use in kernels


@internal
def count_ranks(scores, ranks):
    """Write each row's 0-based rank by counting: quadratic, but branch-free and vectorized, best for few rows."""
    n = scores.size
    for i in range(n):
        ranks[i] = 0
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


@internal
def lane_maxima(scores, lanes):
    """Write the maximum of each lane, where row i is in lane i % LANES; the compiler vectorizes the inner loops."""
    for j in range(LANES):
        lanes[j] = scores[j]
    first = LANES
    while first + LANES <= scores.size:
        block = scores[first : first + LANES]
        for j in range(LANES):
            lanes[j] = block[j] if block[j] > lanes[j] else lanes[j]
        first += LANES
    rest = scores[first:]
    for j in range(rest.size):
        lanes[j] = rest[j] if rest[j] > lanes[j] else lanes[j]


@internal
def kth_largest(values, k):
    """Return the k-th largest of a few finite values, by counting."""
    best = -np.inf
    for i in range(values.size):
        value = values[i]
        count = 0
        for j in range(values.size):
            count += values[j] >= value
        candidate = value if count >= k else -np.inf
        best = candidate if candidate > best else best
    return best


@internal
def rows_from(scores, threshold, rows):
    """Collect the rows with scores of at least `threshold`; branch-free: rows below it are overwritten."""
    end = np.uint64(0)  # unsigned, since numba checks signed indices for negative values
    for i in range(scores.size):
        rows[end] = i
        end += np.uint64(scores[i] >= threshold)
    return np.int64(end)


@internal
def extremes(scores):
    """Return the lowest and highest score."""
    low, high = scores[0], scores[0]
    for i in range(scores.size):
        low = scores[i] if scores[i] < low else low
        high = scores[i] if scores[i] > high else high
    return np.float64(low), np.float64(high)


@internal
def extremes_of_bucket(scores, bucket, b):
    """Return the lowest and highest score of the rows in a bucket."""
    low, high = np.inf, -np.inf
    for i in range(scores.size):
        score = np.float64(scores[i])
        low = score if bucket[i] == b and score < low else low
        high = score if bucket[i] == b and score > high else high
    return low, high


@internal
def fill_buckets(scores, low, high, bucket, ends):
    """Count the rows in equal-width buckets from `high` down to `low`; scores outside count in the outermost ones."""
    n_buckets = BUCKETS_PER_ROW * scores.size
    n_buckets = n_buckets if n_buckets < MOST_BUCKETS else MOST_BUCKETS
    last = np.float64(n_buckets - 1)
    scale = last / (high - low) if high > low else 0.0
    scale = scale if scale - scale == 0 else 0.0
    for b in range(n_buckets + 1):
        ends[b] = 0
    for i in range(scores.size):
        # Rounding is monotone, so a higher score never lands in a later bucket.
        position = (high - scores[i]) * scale
        position = position if position > 0 else 0.0
        bucket[i] = np.int32(position if position < last else last)
    for i in range(scores.size):
        ends[np.uint64(bucket[i]) + np.uint64(1)] += 1


@internal
def end_buckets(k, ends):
    """Turn counts into offsets, down to the bucket with the k-th row; return that bucket and its end."""
    b, end = 0, ends[1]
    while end < k:
        b += 1
        ends[b], end = end, end + ends[b + 1]
    return b, end


@internal
def insert_run(scores, order, first, last):
    """Sort order[first:last] by insertion."""
    for i in range(first + 1, last):
        row = order[i]
        score = scores[row]
        j = i
        while j > first and scores[order[j - 1]] < score:
            order[j] = order[j - 1]
            j -= 1
        order[j] = row


@internal
def merge(scores, order, first, middle, last, merged):
    """Merge order[first:middle] and order[middle:last], both sorted, into `merged[first:last]`."""
    i, j = first, middle
    for t in range(first, last):
        if j >= last or (i < middle and scores[order[i]] >= scores[order[j]]):
            merged[t] = order[i]
            i += 1
        else:
            merged[t] = order[j]
            j += 1


@internal
def merge_sort(scores, order, spare):
    """Sort `order` by descending score, stably."""
    n = order.size
    for first in range(0, n, RUN):
        insert_run(scores, order, first, min(first + RUN, n))
    width = RUN
    while width < n:
        for first in range(0, n, 2 * width):
            merge(scores, order, first, first + width, min(first + 2 * width, n), spare)
        for i in range(n):
            order[i] = spare[i]
        width *= 2


@internal
def insert_all(order, ordered, n, most_moves):
    """Sort the first n rows by `ordered`, by insertion; return False if that needs more than `most_moves` moves."""
    moves = 0
    for i in range(1, n):
        score = ordered[i]
        if ordered[i - 1] < score:
            row, j = order[i], i
            while j > 0 and ordered[j - 1] < score:
                order[j], ordered[j] = order[j - 1], ordered[j - 1]
                j -= 1
            order[j], ordered[j] = row, score
            moves += i - j
            if moves > most_moves:
                return False
    return True


@internal
def rank_by_buckets(scores, k, space):
    """Rank as `rank` does: bucket sort, then insertion sort, or merge sort if that takes too many moves."""
    n, bucket, ends = scores.size, space.bucket, space.ends
    low, high = extremes(scores)
    fill_buckets(scores, low, high, bucket, ends)
    last, count = end_buckets(n if k is None else k, ends)
    if k is not None:
        divisions = 0
        while count > MOST_KEPT * k and k < n and divisions < MOST_DIVISIONS:
            low, high = extremes_of_bucket(scores, bucket, last)
            if low == high:
                break
            fill_buckets(scores, low, high, bucket, ends)
            last, count = end_buckets(k, ends)
            divisions += 1
    end = np.uint64(0)
    for i in range(n):  # branch-free: rows of other buckets are written, then overwritten
        space.rows[end] = i
        end += np.uint64(bucket[i] <= last)
    for r in range(end):
        row = np.uint64(space.rows[r])
        b = np.uint64(bucket[row])
        position = np.uint64(ends[b])
        space.order[position] = row
        space.ordered[position] = scores[row]
        ends[b] += 1
    if not insert_all(space.order, space.ordered, count, MOVES_PER_ROW * count):
        merge_sort(scores, space.order[:count], bucket)
    return count


@jit(inline="always")
def rank(scores, k, space):
    """Order the top rows by descending score, then row; return how many: at least k, and all that tie with the k-th.

    The rows are written to `space.order`. With None as k, which compiles sooner, all rows are ordered.
    """
    count = scores.size
    if count > COUNTED:
        count = rank_by_buckets(scores, k, space)
    else:
        count_ranks(scores, space.bucket)
        for i in range(count):
            space.order[np.uint64(space.bucket[i])] = i
    return count


@jit(inline="always")
def rank_top(scores, k, space):
    """Rank as `rank` does, for min(k, n); if k is small, only rows from a score threshold on are sorted."""
    n = scores.size
    if k + SPARE_LANES > LANES or 2 * n < 3 * LANES:
        return rank(scores, min(k, n), space)
    lanes, rows = space.ordered[:LANES], space.kept
    lane_maxima(scores, lanes)
    count = rows_from(scores, kth_largest(lanes, k), rows)
    top = space.top[:count]
    for i in range(count):
        top[i] = scores[np.uint64(rows[i])]
    if count > COUNTED:
        rank_by_buckets(top, count, space)
        for r in range(count):
            space.order[r] = rows[np.uint64(space.order[r])]
    else:
        count_ranks(top, space.bucket)
        for i in range(count):
            space.order[np.uint64(space.bucket[i])] = rows[i]
    return count


@jit(inline="always")
def longest_of(indptr):
    """Return the number of rows of the longest query."""
    width = 0
    for q in range(len(indptr) - 1):
        width = max(width, indptr[q + 1] - indptr[q])
    return width


@jit(inline="always")
def all_finite(scores):
    """Return whether all scores are finite; it has no branches, so that the compiler vectorizes it."""
    broken = False
    for i in range(len(scores)):
        broken |= scores[i] - scores[i] != 0
    return not broken


@jit
def first_non_finite(scores, order, first, last):
    """Return the row number, in the caller's order, of the first score that is not finite, else -1."""
    for i in range(first, last):
        row = order[i] if len(order) else i
        if scores[row] - scores[row] != 0:
            return row
    return ALL_FINITE


@jit(inline="always")
def four_from(array, first):
    """Return four neighboring entries of an array."""
    return array[first], array[first + np.uint64(1)], array[first + np.uint64(2)], array[first + np.uint64(3)]


@jit(inline="always")
def write_few(few, absent, ties, rows, first):
    """Write the rows of a tuple of scores by rank, from position `first` on; return False if a score is not finite.

    Ranks are counted, without a branch. Each byte of `ranks` is the rank of a row, and each bit of `tied` says whether
    a row ties with an earlier one. `absent` is added to the scores: -inf where the query has no such row.
    """
    broken, ranks, tied = 0.0, np.uint64(0), np.uint64(0)
    for i in range(len(few)):
        broken += few[i] - few[i]
    if broken != 0:
        return False
    for i in range(len(few)):
        for j in range(len(few)):
            if i < j:
                wins = few[i] + absent[i] >= few[j] + absent[j]
                ranks += np.uint64(1 << 8 * j) if wins else np.uint64(1 << 8 * i)
    if ties:
        for i in range(len(few)):
            for j in range(len(few)):
                if i < j:
                    tied |= np.uint64(few[i] + absent[i] == few[j] + absent[j]) << np.uint64(j)
        for i in range(len(few)):
            rank = (ranks >> np.uint64(8 * i)) & np.uint64(255)
            rows[first + rank] = np.int32(i) ^ -np.int32((tied >> np.uint64(i)) & np.uint64(1))
    else:
        for i in range(len(few)):
            rows[first + ((ranks >> np.uint64(8 * i)) & np.uint64(255))] = i
    return True


@jit(inline="always")
def rank_few(few, n, ties, rows, first):
    """Write the rows of a query by rank, given its n scores and others up to FEW; return False if one is not finite.

    It writes four or eight rows, whatever the query has, so that the processor need not guess how often a loop runs.
    What is written beyond the query is overwritten when later queries are ranked.
    """
    half, absent = np.uint64(FEW // 2), np.uint64(FEW) * n
    scores, added = four_from(few, np.uint64(0)), four_from(ABSENT, absent)
    if n <= half:
        return write_few(scores, added, ties, rows, first)
    more, more_added = four_from(few, half), four_from(ABSENT, absent + half)
    return write_few(scores + more, added + more_added, ties, rows, first)


@jit
def ranked_rows(scores, order, indptr, k, ties, rowptr, rows):
    """Write the rows of each query by rank, numbered within the query; `rowptr` says how many per query.

    Returns the first row whose score is not finite, else -1. `order` (empty for row order) lists the rows of each query
    in the order that ties keep. With `ties`, all rows that tie with the k-th are written too, a row that ties with the
    previous one is written as ~row, and `rowptr` must have room for all rows. Queries without room are skipped.
    """
    width = longest_of(indptr)
    space = new_sorting(width, scores)
    gathered, few = np.empty(width if order.size else 0, scores.dtype), np.empty(FEW, scores.dtype)
    last_start, last_first = (order.size or scores.size) - FEW, rows.size - FEW
    for q in range(indptr.size - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        first, room = rowptr[q] - rowptr[0], rowptr[q + 1] - rowptr[q]
        if room == 0:
            continue
        if n <= FEW and start <= last_start and first <= last_first:
            if order.size:
                for i in range(FEW):
                    few[i] = scores[np.uint64(order[np.uint64(start + i)])]
            else:
                for i in range(FEW):
                    few[i] = scores[np.uint64(start + i)]
            if rank_few(few, np.uint64(n), ties, rows, np.uint64(first)):
                continue
        if order.size:
            query_scores = gathered[:n]
            for i in range(n):
                query_scores[i] = scores[order[start + i]]
        else:
            query_scores = scores[start : start + n]
        if not all_finite(query_scores):
            return first_non_finite(scores, order, start, start + n)
        count = rank_top(query_scores, k, space)
        query_rows = rows[first : first + room]
        for r in range(min(count, room)):
            query_rows[r] = space.order[r]
        if ties:
            previous = query_scores[np.uint64(query_rows[0])]
            for r in range(1, count):
                score = query_scores[np.uint64(query_rows[r])]
                query_rows[r] ^= -np.int32(score == previous)
                previous = score
            if count < n:
                query_rows[count] = 0  # a value that is not ~row ends the last tie
    return ALL_FINITE
