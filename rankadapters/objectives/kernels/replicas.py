"""Lambda gradients whose pairs are added one by one, in the arithmetic of LightGBM or XGBoost, bit for bit.

LightGBM has a table of sigmoids, and XGBoost sigmoids in float32; both have float32 sums. XGBoost also draws random
pairs. Under a position bias, pairs are divided by its ratios, in either arithmetic or exactly.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import ALL_FINITE, merge_sort
from rankadapters.objectives.kernels.changes import (
    DCG,
    ONE,
    XGBOOST_PRECISIONS,
    compute_changes,
    last_changing,
    make_swaps,
    prepare_changes,
    xgboost_change_of_precision,
)
from rankadapters.objectives.kernels.queries import WIDEST, row_at, sum_scale, write_gradients

EXACT, BY_TABLE, IN_FLOAT32 = range(3)  # the arithmetic of the sigmoid
BINS = 1024 * 1024
REACH = 25.0  # the table covers sigmoid arguments of +-25
LARGEST_EXPONENT = np.float32(88.7)
LEAST_RATIO = 1e-16  # pairs are not divided by a smaller ratio, or by NaN
MODULUS = 2147483647  # minstd_rand: x -> 48271 x mod (2^31 - 1)
MULTIPLIER = 48271
NO_RATIO = -1.0  # marks a row whose position has no ratio

# Settings: the kind of the pair weight (`changes`), the number of random partners of each row (0 for pairs of the top
# ranks), the arithmetic, and the table of sigmoids for BY_TABLE.
Form = namedtuple("Form", "kind samples arithmetic table")  # noqa: PYI024 - for numba

# A pair is divided by ratios[0, p] ratios[1, q], for the position p of the row with the larger gain and q of the other.
# With `mirrored`, its cost is that of the opposite order. costs[0] sums, by row, the costs of pairs in which this row
# has the larger gain, costs[1] of its other pairs. `costs` and `positions` are in query order.
Bias = namedtuple("Bias", "positions ratios costs mirrored")  # noqa: PYI024 - as above

# Working memory for one query, in arrays by rank; without a position bias, `shares` is None.
ReplicaMemory = namedtuple("ReplicaMemory", "scores gains lambdas hessians total shares")  # noqa: PYI024 - as above
# The ratios t+ and t- of each row's position, and the costs of the pairs in which the row is the better and the worse.
Shares = namedtuple("Shares", "plus minus gained lost")  # noqa: PYI024 - as above
Drawn = namedtuple("Drawn", "order left right")  # noqa: PYI024 - as above


def make_memory(width: int, *, exact: bool, biased: bool, drawing: bool, kind: int) -> tuple[Any, ...]:
    """Allocate memory for queries of up to `width` rows, for random pairs, and for changes, as far as needed."""
    scores, gains = np.empty((2, width))
    lambdas, hessians = np.empty((2, width), np.float64 if exact else np.float32)
    shares = Shares(*np.empty((4, width))) if biased else None
    drawn = Drawn(*np.empty((3, width), np.int32)) if drawing else None
    swaps = make_swaps(width, kind)
    if kind not in {DCG, ONE} and all(of_measure is None for of_measure in swaps):
        raise NotImplementedError(f"add_pairs_in_turn does not compute the weight {kind} of a pair.")
    return ReplicaMemory(scores, gains, lambdas, hessians, np.zeros(1), shares), drawn, *swaps


@jit(inline="always")
def first_state(seed):
    """Seed minstd_rand as the C++ library does."""
    return max((seed & 0xFFFFFFFF) % MODULUS, 1)


@jit(inline="always")
def draw(state, n):
    """Return the next state of minstd_rand, and a number from 0 to n - 1 as libstdc++'s uniform_int_distribution."""
    scaling = (MODULUS - 2) // n
    while True:
        state = state * MULTIPLIER % MODULUS
        if state - 1 < n * scaling:
            return state, (state - 1) // scaling


@jit(inline="always")
def draw_partners(state, order, first, last, left, right):
    """Pair each row of a grade, as XGBoost's `mean`, `order[first:last]`, with a random row of a different grade."""
    count = last - first
    for t in range(count):
        state, partner = draw(state, order.size - count)
        left[t] = order[first + t]
        right[t] = order[partner + (count if partner >= first else 0)]
    return state


@internal
def sort_by_grade(gains, order, spare):
    """Sort the ranks into `order` by descending gain; ranks of equal gain stay in rank order."""
    for r in range(order.size):
        order[r] = r
    merge_sort(gains, order, spare)


@jit(inline="always")
def end_of_grade(gains, order, first):
    """Return the index in `order` after the last rank whose gain equals that of `order[first]`."""
    last = first + 1
    while last < order.size and gains[order[last]] == gains[order[first]]:
        last += 1
    return last


@jit
def sigmoid_table(sigma, out):
    """Write 1 / (1 + exp(sigma x)) at out.size points from -25 / sigma to 25 / sigma."""
    low = -REACH / sigma
    bins_per_unit = out.size / (-low - low)
    for i in range(out.size):
        out[i] = 1.0 / (1.0 + np.exp((i / bins_per_unit + low) * sigma))


@jit
def from_table(x, table, low, bins_per_unit):
    """Return the table's value at x, or at the nearer end of the table if x is outside its range."""
    if x <= low:
        return table[0]
    if x >= -low:
        return table[table.size - 1]
    # For the largest float below -low, the bin number can round to one past the last bin.
    return table[np.uint64(min(np.int64((x - low) * bins_per_unit), table.size - 1))]


@jit(inline="always")
def float32_sigmoid(distance, sigma):
    """Return 1 / (1 + exp(-sigma distance)) as XGBoost computes it."""
    falling = min(-np.float32(distance) * np.float32(sigma), LARGEST_EXPONENT)
    return np.float64(np.float32(1.0) / (np.exp(falling) + np.float32(1.0)))


@jit(inline="always")
def chances(arithmetic, distance, sigma, table):
    """Return the probabilities that a pair is in the right and in the wrong order."""
    if arithmetic == IN_FLOAT32:
        right = float32_sigmoid(distance, sigma)
        return right, 1.0 - right
    if arithmetic == BY_TABLE:
        low = -REACH / sigma
        wrong = from_table(distance, table, low, table.size / (-low - low))
        return 1.0 - wrong, wrong
    rest = np.exp(-abs(sigma * distance))
    likely, unlikely = 1.0 / (1.0 + rest), rest / (1.0 + rest)
    return (likely, unlikely) if distance >= 0.0 else (unlikely, likely)


@jit(inline="always")
def cost_of(arithmetic, mirrored, right, wrong, distance, sigma):
    """Return -log of the probability of the right order or, if mirrored, of the wrong order."""
    if arithmetic == IN_FLOAT32:
        return np.log(1.0 / (wrong if mirrored else right))
    x = sigma * distance if mirrored else -sigma * distance
    return max(x, 0.0) + np.log1p(np.exp(-abs(x)))


@jit(inline="always")
def change_of_dcg(arithmetic, gain, lower_gain, discount, lower_discount):
    """Return the ideal DCG x (change of NDCG when two rows swap)."""
    if arithmetic == IN_FLOAT32:
        stay = gain * discount + lower_gain * lower_discount
        return abs(stay - (lower_gain * discount + gain * lower_discount))
    return abs(gain - lower_gain) * abs(discount - lower_discount)


# For speed, arrays are read from named tuples before the loop, and functions of a single pair take no tuples: each
# access would count a reference, which takes ten times as long as the rest of the loop.
@internal(forceinline=True)
def add_pairs_in_turn(form, pairing, bias, memory, drawn, changes, precisions, i, n, count, inverse, discounts, total):
    """Add `count` pairs of rows with different gains: of rank i and later ranks, or those drawn.

    Return `total` plus the lambda magnitudes.
    """
    scores, gains, lambdas, hessians, _, shares = memory
    kind, arithmetic, table, sigma = form.kind, form.arithmetic, form.table, pairing.sigma
    apart = pairing.slope > 0.0 and scores[0] != scores[np.uint64(n - 1)]
    for t in range(count):
        a, b = np.uint64(i), np.uint64(i + 1 + t)
        if drawn is not None:
            a, b = np.uint64(drawn.left[t]), np.uint64(drawn.right[t])
        if gains[a] == gains[b]:
            continue
        high, low = (a, b) if gains[a] > gains[b] else (b, a)
        distance = scores[high] - scores[low]
        if arithmetic == IN_FLOAT32:
            distance = np.float64(np.float32(distance))
        delta = 1.0
        if kind == DCG:
            discount, lower_discount = discounts[high], discounts[low]
            delta = change_of_dcg(arithmetic, gains[high], gains[low], discount, lower_discount) * inverse
        if changes is not None:
            delta = abs(changes[b]) * inverse
        if precisions is not None:  # noqa: SIM102 - numba omits a branch only if its condition is nothing else
            if kind == XGBOOST_PRECISIONS:
                above, below, hits = min(a, b), max(a, b), precisions.running
                change = xgboost_change_of_precision(high == above, above, below, hits, precisions.sums)
                delta = abs(change) / hits[np.uint64(n - 1)]
        if apart:
            delta /= pairing.offset + abs(distance)
        right, wrong = chances(arithmetic, distance, sigma, table)
        spread = max(right * wrong, pairing.floor)
        if bias is None and arithmetic == IN_FLOAT32:  # in XGBoost's order, which matters unless sigma is a power of 2
            push, bend = -wrong * delta * sigma, spread * delta * pairing.hessian * sigma * sigma
        else:
            push, bend = -wrong * (sigma * delta), spread * (sigma * sigma * delta) * pairing.hessian
        if bias is not None:
            up, down = shares.plus[high], shares.minus[low]
            if up >= LEAST_RATIO and down >= LEAST_RATIO:
                push /= up * down
                bend /= up * down
            if not (up < 0.0 or down < 0.0):  # true for NaN, but not for NO_RATIO
                cost = cost_of(arithmetic, bias.mirrored, right, wrong, distance, sigma) * delta
                shares.gained[high] += cost / down if down >= LEAST_RATIO else 0.0
                shares.lost[low] += cost / up if up >= LEAST_RATIO else 0.0
        rounded, bent = lambdas.dtype.type(push), lambdas.dtype.type(bend)
        total -= 2.0 * (np.float64(rounded) if arithmetic == IN_FLOAT32 else push)
        lambdas[high] += rounded
        lambdas[low] -= rounded
        hessians[high] += bent
        hessians[low] += bent
    return total


@internal(forceinline=True)
def add_drawn_pairs(form, pairing, bias, memory, drawn, precisions, n, inverse, discounts, seed):
    """Pair each row with `samples` random rows of other grades, as XGBoost's `mean` does, and add the pairs."""
    gains, order = memory.gains, drawn.order[:n]
    state, first = first_state(seed), 0
    sort_by_grade(gains, order, drawn.right)
    while first < n:
        last = end_of_grade(gains, order, first)
        for _ in range(form.samples if last - first < n else 0):
            state = draw_partners(state, order, first, last, drawn.left, drawn.right)
            count = last - first
            add_pairs_in_turn(
                form, pairing, bias, memory, drawn, None, precisions, 0, n, count, inverse, discounts, 0.0
            )
        first = last


@internal(forceinline=True)
def add_top_pairs(form, pairing, bias, memory, n, first, last, inverse, discounts, precisions, first_ranks, cascade):
    """Add all pairs of ranks `first` to `last - 1` with later ranks; return the sum of lambda magnitudes so far."""
    total, in_turn = memory.total[0], bias is None and form.arithmetic == BY_TABLE
    for i in range(first, last):
        changes = compute_changes(form.kind, memory.gains, i, n, discounts, precisions, first_ranks, cascade)
        start = total if in_turn else 0.0  # LightGBM adds pair by pair, XGBoost rank by rank
        added = add_pairs_in_turn(
            form, pairing, bias, memory, None, changes, precisions, i, n, n - i - 1, inverse, discounts, start
        )
        total = added if in_turn else total + added
    memory.total[0] = total
    return total


@internal(forceinline=True)
def begin_replica(form, queries, q, n, bias, memory, precisions, first_ranks, cascade):
    """Load query q; return a row whose score is too far from the top score, or -1."""
    start, begin, rows = queries.indptr[q], queries.rowptr[q], queries.rows
    scores, gains, lambdas, hessians, total, shares = memory
    for r in range(n):
        scores[r], gains[r] = queries.scores[begin + r], queries.gains[begin + r]
        lambdas[r] = 0.0
        hessians[r] = 0.0
    total[0] = 0.0
    prepare_changes(form.kind, gains[:n], queries.discounts, precisions, first_ranks, cascade)
    if bias is not None:
        positions, ratios = bias.positions, bias.ratios
        for r in range(n):
            position = positions[start + rows[begin + r]]
            shares.plus[r] = ratios[0, position] if position < ratios.shape[1] else NO_RATIO
            shares.minus[r] = ratios[1, position] if position < ratios.shape[1] else NO_RATIO
            shares.gained[r] = 0.0
            shares.lost[r] = 0.0
    far = form.arithmetic == EXACT and scores[0] - scores[n - 1] > WIDEST
    return row_at(queries.order, start + rows[begin + n - 1]) if far else -1


@internal(forceinline=True)
def write_costs(shares, queries, q, n, costs):
    """Write the sums of costs of each row of a query, in query order."""
    begin, start, rows = queries.rowptr[q], queries.indptr[q], queries.rows
    for r in range(n):
        index = start + rows[begin + r]
        costs[0, index] = shares.gained[r]
        costs[1, index] = shares.lost[r]


@jit
def replica_gradients(
    queries, form, pairing, bias, first, last, memory, drawn, precisions, first_ranks, cascade, grad, hess
):
    """Same as `pairs.pair_gradients`; `bias` is None or a `Bias`, `drawn` is None or memory."""
    for q in range(queries.indptr.size - 1):
        n = queries.rowptr[q + 1] - queries.rowptr[q]
        if n == 0:
            continue
        if first == 0:
            far = begin_replica(form, queries, q, n, bias, memory, precisions, first_ranks, cascade)
            if far >= 0:
                return far
        inverse, discounts, seed = queries.inverse[q], queries.discounts, queries.seed + q
        if drawn is not None:
            add_drawn_pairs(form, pairing, bias, memory, drawn, precisions, n, inverse, discounts, seed)
            scale = 1.0 / form.samples if pairing.by_sum else 1.0
        else:
            end = min(pairing.limit, n - 1)
            stop = last_changing(min(last, end), first_ranks)
            total = add_top_pairs(
                form, pairing, bias, memory, n, first, stop, inverse, discounts, precisions, first_ranks, cascade
            )
            if last < end:
                continue
            scale = sum_scale(total, pairing.by_sum)
        if form.arithmetic == IN_FLOAT32:
            scale = np.float64(np.float32(scale))
        write_gradients(queries, q, memory.lambdas, memory.hessians, scale, scale, grad, hess)
        if bias is not None:
            write_costs(memory.shares, queries, q, n, bias.costs)
    return ALL_FINITE
