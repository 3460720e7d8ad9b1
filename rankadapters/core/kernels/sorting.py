"""Stable descending order of one query's scores: all of it, or its top alone."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.kernels import inlined, internal

COUNTED = 48  # up to this many rows ranks are counted, beyond it rows are sorted
LANES = 16  # a query's rows are dealt over lanes; the k-th largest lane maximum bounds the k-th score from below
SPARE_LANES = 4  # with fewer beyond k the bound lets too many rows through
BUCKETS_PER_ROW = 2  # fewer rows meet in a bucket, and each of these meetings costs a mispredicted branch
MOST_BUCKETS = 2**30  # whose numbers are int32
MOST_KEPT = 4  # times k: where more rows would be kept, the bucket of the k-th is divided anew
TIMES_NARROWED = 2
RUN = 16  # merge sort starts from insertion-sorted runs of this length
MOVES_PER_ROW = 4  # beyond this the buckets did not help, and a merge sort takes over

# Working memory to rank a query, of which `order` is what is found.
Sorting = namedtuple("Sorting", "order ordered rows bucket ends kept top")  # noqa: PYI024 - numba knows this kind


def make_sorting(width, like):
    """Working memory for queries of up to `width` rows; scores in the dtype of `like`."""
    ends = np.empty(BUCKETS_PER_ROW * width + 2, np.int32)
    rows, bucket = np.empty(width + 1, np.int32), np.empty(width, np.int32)
    kept, top = np.empty(width + 1, np.int32), np.empty(width, like.dtype)
    return Sorting(np.empty(width, np.int32), np.empty(width, like.dtype), rows, bucket, ends, kept, top)


new_sorting = internal(make_sorting)  # in a kernel


@internal
def count_ranks(scores, ranks):
    """Give each row its 0-based rank by counting: quadratic, but branch-free and vectorised, best for few rows."""
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
    """Maximum of each lane, where row i lies in lane i % LANES; the inner loops become packed instructions."""
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


@internal
def rows_from(scores, bound, rows):
    """Collect the rows with a score of at least `bound`; branch-free: every row is written, few advance the end."""
    end = np.uint64(0)  # unsigned, since numba would test a signed index for wraparound
    for i in range(scores.size):
        rows[end] = i
        end += np.uint64(scores[i] >= bound)
    return np.int64(end)


@internal
def extremes(scores, lanes):
    """Lowest and highest score, by lanes, which become packed instructions; `lanes` has room for all scores."""
    n = scores.size
    low, high = scores[0], scores[0]
    first = 0
    if n >= 2 * LANES:
        lows, highs = lanes[:LANES], lanes[LANES : 2 * LANES]
        for j in range(LANES):
            lows[j] = highs[j] = scores[j]
        while first + LANES <= n:
            block = scores[first : first + LANES]
            for j in range(LANES):
                lows[j] = block[j] if block[j] < lows[j] else lows[j]
                highs[j] = block[j] if block[j] > highs[j] else highs[j]
            first += LANES
        for j in range(LANES):
            low = min(low, lows[j])
            high = max(high, highs[j])
    for i in range(first, n):
        low = min(low, scores[i])
        high = max(high, scores[i])
    return np.float64(low), np.float64(high)


@internal
def extremes_of_bucket(scores, bucket, b):
    """Lowest and highest score of the rows in a bucket."""
    low, high = np.inf, -np.inf
    for i in range(scores.size):
        score = np.float64(scores[i])
        low = score if bucket[i] == b and score < low else low
        high = score if bucket[i] == b and score > high else high
    return low, high


@internal
def fill_buckets(scores, low, high, bucket, ends):
    """Count the rows of equal-width intervals from `high` down to `low`, of which the outer ones have all beyond."""
    n_buckets = min(BUCKETS_PER_ROW * scores.size, MOST_BUCKETS)
    last = np.float64(n_buckets - 1)
    scale = last / (high - low) if high > low else 0.0
    scale = scale if scale - scale == 0 else 0.0
    for b in range(n_buckets + 1):
        ends[b] = 0
    for i in range(scores.size):
        # Rounding is monotone, so a higher score never lands in a later bucket.
        place = (high - scores[i]) * scale
        place = place if place > 0 else 0.0
        bucket[i] = np.int32(place if place < last else last)
    for i in range(scores.size):
        ends[np.uint64(bucket[i]) + np.uint64(1)] += 1


@internal
def end_buckets(k, ends):
    """Turn counts into the place where each bucket begins, down to the one that holds the k-th row: it, and its end."""
    b, end = 0, ends[1]
    while end < k:
        b += 1
        ends[b], end = end, end + ends[b + 1]
    return b, end


@internal
def place_top(scores, k, space):
    """Write the rows of the top buckets into space.order, a bucket after the other; return how many."""
    n, bucket, ends = scores.size, space.bucket, space.ends
    low, high = extremes(scores, space.ordered)
    fill_buckets(scores, low, high, bucket, ends)
    last, count = end_buckets(k, ends)
    times = 0
    while count > MOST_KEPT * k and k < n and times < TIMES_NARROWED:
        low, high = extremes_of_bucket(scores, bucket, last)
        if low == high:
            break
        fill_buckets(scores, low, high, bucket, ends)
        last, count = end_buckets(k, ends)
        times += 1
    end = np.uint64(0)
    for i in range(n):  # without a branch: every row is written, those of the top buckets advance the end
        space.rows[end] = i
        end += np.uint64(bucket[i] <= last)
    for r in range(end):
        row = np.uint64(space.rows[r])
        b = np.uint64(bucket[row])
        place = np.uint64(ends[b])
        space.order[place] = row
        space.ordered[place] = scores[row]
        ends[b] += 1
    return count


@internal
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


@internal
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
    for i in range(n):
        order[i] = source[i]


@internal
def insert_all(order, ordered, n, most_moves):
    """Insertion sort of the first n rows by `ordered`; False where it gave up after so many moves."""
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
    """As `rank`: buckets, then insertion, and merge sort as the way out."""
    count = place_top(scores, k, space)
    if not insert_all(space.order, space.ordered, count, MOVES_PER_ROW * count):
        merge_sort(scores, space.order[:count], space.bucket)
    return count


@inlined
def rank(scores, k, space):
    """Order the top rows by descending score, then row: at least k, and all that tie with the k-th; how many.

    `space.order` gets the rows.
    """
    count = scores.size
    if count > COUNTED:
        count = rank_by_buckets(scores, k, space)
    else:
        count_ranks(scores, space.bucket)
        for i in range(count):
            space.order[np.uint64(space.bucket[i])] = i
    return count


@inlined
def rank_top(scores, k, space):
    """As `rank` for min(k, n); of a small k, only rows above a bound are looked at."""
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
