"""XGBoost's lambda gradients: pairs from the top or sampled, and the change of NDCG, of MAP or 1, in its float32."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core._kernels import inlined, kernel
from rankadapters.core._kernels.lambdas import longest, make_workspace, rank_query, sum_scale
from rankadapters.core._kernels.measures import ALL_FINITE
from rankadapters.core._kernels.sorting import merge_sort

DELTA_NDCG, DELTA_ONE, DELTA_MAP = 0, 1, 2
LARGEST_EXPONENT = np.float32(88.7)

MODULUS = 2147483647  # minstd_rand: x -> 48271 x mod (2^31 - 1)
MULTIPLIER = 48271

# A ranked query: scores, gains, gradients so far, and for MAP the relevant rows up to each rank and sum(gain / rank).
Ranked = namedtuple("Ranked", "scores gains lambdas hessians relevant precisions")  # noqa: PYI024 - for numba


@inlined
def delta_of(kind, rows, n, high, low, inverse_ideal, discounts):
    """Change of the measure when the rows at two ranks trade places."""
    if kind == DELTA_ONE:
        return 1.0
    if kind == DELTA_NDCG:
        kept = rows.gains[high] * discounts[high] + rows.gains[low] * discounts[low]
        traded = rows.gains[low] * discounts[high] + rows.gains[high] * discounts[low]
        return abs(kept - traded) * inverse_ideal
    first, last = min(high, low), max(high, low)
    between = rows.precisions[last - 1] - rows.precisions[first]
    if rows.gains[first] < rows.gains[last]:
        gap = rows.relevant[last] / (last + 1.0) - (rows.relevant[first] + 1.0) / (first + 1.0) - between
    else:
        gap = rows.relevant[first] / (first + 1.0) - rows.relevant[last] / (last + 1.0) + between
    return abs(gap) / rows.relevant[n - 1]


@inlined
def add_pair(kind, rows, n, i, j, inverse_ideal, discounts, pairing):
    """Add one pair to both rows; return its part of the sum of lambdas."""
    if rows.gains[i] == rows.gains[j]:
        return 0.0
    high, low = (i, j) if rows.gains[i] > rows.gains[j] else (j, i)
    ahead = np.float32(rows.scores[high] - rows.scores[low])
    falling = min(-ahead * np.float32(pairing.sigma), LARGEST_EXPONENT)
    p = np.float64(np.float32(1.0) / (np.exp(falling) + np.float32(1.0)))
    delta = delta_of(kind, rows, n, high, low, inverse_ideal, discounts)
    if pairing.slope > 0.0 and rows.scores[0] != rows.scores[n - 1]:
        delta /= abs(np.float64(ahead)) + pairing.offset
    push = np.float32((p - 1.0) * delta * pairing.sigma)
    bend = np.float32(max(p * (1.0 - p), pairing.floor) * delta * pairing.hessian * pairing.sigma * pairing.sigma)
    rows.lambdas[high] += push
    rows.lambdas[low] -= push
    rows.hessians[high] += bend
    rows.hessians[low] += bend
    return -2.0 * push


@inlined
def draw(state, n):
    """Next state of minstd_rand, and libstdc++'s uniform_int_distribution(0, n - 1) on it."""
    scaling = (MODULUS - 2) // n
    while True:
        state = state * MULTIPLIER % MODULUS
        if state - 1 < n * scaling:
            return state, (state - 1) // scaling


@kernel
def add_sampled_pairs(kind, rows, n, seed, samples, inverse_ideal, discounts, pairing, order, spare):
    """Pair each row with `samples` rows of other grades, drawn as XGBoost's `mean` draws them."""
    state = max((seed & 0xFFFFFFFF) % MODULUS, 1)
    for r in range(n):
        order[r] = r
    merge_sort(rows.gains[:n], order[:n], spare)
    total, first = 0.0, 0
    while first < n:
        last = first + 1
        while last < n and rows.gains[order[last]] == rows.gains[order[first]]:
            last += 1
        others = n - (last - first)
        for _ in range(samples if others else 0):
            for place in range(first, last):
                state, other = draw(state, others)
                other += last - first if other >= first else 0
                total += add_pair(kind, rows, n, order[place], order[other], inverse_ideal, discounts, pairing)
        first = last
    return total


@kernel
def add_top_pairs(kind, rows, n, inverse_ideal, discounts, pairing):
    """Pair each of the first ranks with every later one."""
    total = 0.0
    for i in range(min(pairing.limit, n - 1)):
        for j in range(i + 1, n):
            total += add_pair(kind, rows, n, i, j, inverse_ideal, discounts, pairing)
    return total


@kernel
def lambda_gradients_in_float32(
    scores, order, indptr, gains, inverse_ideal, discounts, kind, samples, seed, pairing, grad, hess
):
    """As lambda_gradients; query i of these draws with seed + i, and `samples` of 0 takes the pairs from the top."""
    width = longest(indptr)
    space = make_workspace(width)
    rows = Ranked(
        np.empty(width),
        np.empty(width),
        np.empty(width, np.float32),
        np.empty(width, np.float32),
        np.empty(width),
        np.empty(width),
    )
    by_gain, spare = np.empty(width, np.int32), np.empty(width, np.int32)
    for q in range(indptr.size - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        if n <= 1 or inverse_ideal[q] <= 0.0:
            continue
        rank_query(scores, order, start, n, space)
        relevant, precisions = 0.0, 0.0
        for r in range(n):
            place = np.uint64(space.order[r])
            rows.scores[r] = space.scores[place]
            rows.gains[r] = gains[np.uint64(start) + place]
            rows.lambdas[r] = 0.0
            rows.hessians[r] = 0.0
            relevant += rows.gains[r]
            precisions += rows.gains[r] / (r + 1.0)
            rows.relevant[r] = relevant
            rows.precisions[r] = precisions
        if samples:
            add_sampled_pairs(kind, rows, n, seed + q, samples, inverse_ideal[q], discounts, pairing, by_gain, spare)
            scale = np.float32(1.0 / samples if pairing.by_sum else 1.0)
        else:
            total = add_top_pairs(kind, rows, n, inverse_ideal[q], discounts, pairing)
            scale = np.float32(sum_scale(total, pairing.by_sum))
        for r in range(n):
            place = start + space.order[r]
            row = np.uint64(order[place] if order.size else place)
            grad[row] = rows.lambdas[r] * scale
            hess[row] = rows.hessians[r] * scale
    return ALL_FINITE
