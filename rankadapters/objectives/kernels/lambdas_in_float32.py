"""XGBoost's lambda gradients: pairs from the top or sampled, and the change of NDCG, of MAP or 1, in its float32."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.kernels import inlined, internal, kernel
from rankadapters.core.kernels.ranked_rows import ALL_FINITE
from rankadapters.core.kernels.sorting import merge_sort
from rankadapters.objectives.kernels.lambdas import sum_scale

Pairs = namedtuple("Pairs", "order left right")  # noqa: PYI024 - for numba

DELTA_NDCG, DELTA_ONE, DELTA_MAP = 0, 1, 2
LARGEST_EXPONENT = np.float32(88.7)

MODULUS = 2147483647  # minstd_rand: x -> 48271 x mod (2^31 - 1)
MULTIPLIER = 48271

# As lambdas.Memory; `rows` is a Ranked and `pairs` a Pairs of the longest query's length.
Memory = namedtuple("Memory", "rows pairs total")  # noqa: PYI024 - for numba

# A ranked query: scores, gains, gradients so far, and for MAP the relevant rows up to each rank and sum(gain / rank).
Ranked = namedtuple("Ranked", "scores gains lambdas hessians relevant precisions")  # noqa: PYI024 - for numba


def make_memory(width: int) -> Memory:
    """Memory for queries of up to `width` rows."""
    lambdas, hessians = np.empty(width, np.float32), np.empty(width, np.float32)
    rows = Ranked(np.empty(width), np.empty(width), lambdas, hessians, np.empty(width), np.empty(width))
    pairs = Pairs(np.empty(width, np.int32), np.empty(width, np.int32), np.empty(width, np.int32))
    return Memory(rows, pairs, np.zeros(1))


# It takes its arrays one by one, and pairs by the list: out of a tuple, or in an inlined function for one pair, each
# access would count a reference.
@internal
def add_pairs(
    kind, scores, gains, lambdas, hessians, relevant, precisions, left, right, inverse_ideal, discounts, pairing
):
    """Add pairs of ranks to both rows, one after the other; return the sum of their lambdas."""
    last = np.uint64(scores.size - 1)
    apart = pairing.slope > 0.0 and scores[0] != scores[last]
    total = 0.0
    for t in range(left.size):
        i, j = np.uint64(left[t]), np.uint64(right[t])
        if gains[i] == gains[j]:
            continue
        high, low = (i, j) if gains[i] > gains[j] else (j, i)
        ahead = np.float32(scores[high] - scores[low])
        falling = min(-ahead * np.float32(pairing.sigma), LARGEST_EXPONENT)
        p = np.float64(np.float32(1.0) / (np.exp(falling) + np.float32(1.0)))
        delta = 1.0
        if kind == DELTA_NDCG:
            kept = gains[high] * discounts[high] + gains[low] * discounts[low]
            traded = gains[low] * discounts[high] + gains[high] * discounts[low]
            delta = abs(kept - traded) * inverse_ideal
        elif kind == DELTA_MAP:
            above, below = (i, j) if i < j else (j, i)
            between = precisions[below - np.uint64(1)] - precisions[above]
            if high == above:
                change = relevant[above] / (above + 1.0) - relevant[below] / (below + 1.0) + between
            else:  # the relevant row moves up, and counts at the rank above too
                change = relevant[below] / (below + 1.0) - (relevant[above] + 1.0) / (above + 1.0) - between
            delta = abs(change) / relevant[last]
        if apart:
            delta /= abs(np.float64(ahead)) + pairing.offset
        push = np.float32((p - 1.0) * delta * pairing.sigma)
        bend = np.float32(max(p * (1.0 - p), pairing.floor) * delta * pairing.hessian * pairing.sigma * pairing.sigma)
        lambdas[high] += push
        lambdas[low] -= push
        hessians[high] += bend
        hessians[low] += bend
        total += -2.0 * push
    return total


@inlined
def draw(state, n):
    """Next state of minstd_rand, and libstdc++'s uniform_int_distribution(0, n - 1) on it."""
    scaling = (MODULUS - 2) // n
    while True:
        state = state * MULTIPLIER % MODULUS
        if state - 1 < n * scaling:
            return state, (state - 1) // scaling


@inlined
def first_state(seed):
    """Seed minstd_rand as the C++ library does."""
    return max((seed & 0xFFFFFFFF) % MODULUS, 1)


@inlined
def draw_partners(state, order, first, last, left, right):
    """Pair each row of a grade, at the places from `first` to before `last` of the order, with one of another grade."""
    count = last - first
    for t in range(count):
        state, other = draw(state, order.size - count)
        left[t] = order[first + t]
        right[t] = order[other + (count if other >= first else 0)]
    return state


@internal
def add_sampled_pairs(kind, rows, seed, samples, inverse_ideal, discounts, pairing, pairs):
    """Pair each row with `samples` rows of other grades, drawn as XGBoost's `mean` draws them."""
    scores, gains, lambdas, hessians, relevant, precisions = rows
    n = scores.size
    order, left, right = pairs.order[:n], pairs.left, pairs.right
    state = first_state(seed)
    for r in range(n):
        order[r] = r
    merge_sort(gains, order, right)
    total, first = 0.0, 0
    while first < n:
        last = first + 1
        while last < n and gains[order[last]] == gains[order[first]]:
            last += 1
        count = last - first
        for _ in range(samples if count < n else 0):
            state = draw_partners(state, order, first, last, left, right)
            total += add_pairs(
                kind,
                scores,
                gains,
                lambdas,
                hessians,
                relevant,
                precisions,
                left[:count],
                right[:count],
                inverse_ideal,
                discounts,
                pairing,
            )
        first = last
    return total


@internal
def add_top_pairs(kind, rows, first, last, total, inverse_ideal, discounts, pairing, pairs):
    """Pair the ranks from `first` to before `last` with every later one; return the sum of all lambdas so far."""
    scores, gains, lambdas, hessians, relevant, precisions = rows
    n = scores.size
    left, right = pairs.left, pairs.right
    for r in range(n):
        right[r] = r
    for i in range(first, last):
        left[: n - i - 1] = i
        total += add_pairs(
            kind,
            scores,
            gains,
            lambdas,
            hessians,
            relevant,
            precisions,
            left[: n - i - 1],
            right[i + 1 : n],
            inverse_ideal,
            discounts,
            pairing,
        )
    return total


@internal
def begin(scores, gains, rows):
    """Take a query's rows by rank, none of whose pairs is added yet."""
    relevant, precisions = 0.0, 0.0
    for r in range(rows.scores.size):
        rows.scores[r] = scores[r]
        rows.gains[r] = gains[r]
        rows.lambdas[r] = 0.0
        rows.hessians[r] = 0.0
        relevant += rows.gains[r]
        precisions += rows.gains[r] / (r + 1.0)
        rows.relevant[r] = relevant
        rows.precisions[r] = precisions


@kernel
def lambda_gradients_in_float32(
    scores, gains, ranked, rowptr, order, indptr, inverse_ideal, discounts, kind, samples, seed, pairing, first, last,
    memory, grad, hess,
):  # fmt: skip
    """As lambda_gradients; query i of these draws with seed + i, and `samples` of 0 takes the pairs from the top."""
    every, pairs, carried = memory
    for q in range(indptr.size - 1):
        place, n = rowptr[q], rowptr[q + 1] - rowptr[q]
        if n == 0:
            continue
        lambdas, hessians = every.lambdas[:n], every.hessians[:n]
        rows = Ranked(every.scores[:n], every.gains[:n], lambdas, hessians, every.relevant[:n], every.precisions[:n])
        if first == 0:
            begin(scores[place : place + n], gains[place : place + n], rows)
            carried[0] = 0.0
        if samples:
            add_sampled_pairs(kind, rows, seed + q, samples, inverse_ideal[q], discounts, pairing, pairs)
            scale = np.float32(1.0 / samples if pairing.by_sum else 1.0)
        else:
            end, inverse = min(pairing.limit, n - 1), inverse_ideal[q]
            total = add_top_pairs(kind, rows, first, min(last, end), carried[0], inverse, discounts, pairing, pairs)
            carried[0] = total
            if last < end:
                continue
            scale = np.float32(sum_scale(total, pairing.by_sum))
        for r in range(n):
            own = indptr[q] + ranked[place + r]
            row = np.uint64(order[own] if order.size else own)
            grad[row] = lambdas[r] * scale
            hess[row] = hessians[r] * scale
    return ALL_FINITE
