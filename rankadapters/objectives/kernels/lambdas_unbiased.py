"""Lambda gradients of pairs, divided by ratios of position bias; and the costs of the pairs, by row."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.objectives.kernels.lambdas_by_table import REACH, from_table

EXACT, BY_TABLE, IN_FLOAT32 = 0, 1, 2  # the arithmetic of the sigmoid
LARGEST_EXPONENT = np.float32(88.7)
LEAST_RATIO = 1e-16  # pairs are not divided by a smaller ratio, or by NaN
NO_RATIO = -1.0  # marks a row whose position has no ratio

# A pair is divided by ratios[0, p] ratios[1, q], for the position p of the row with the larger gain and q of the other.
# With `mirrored`, its cost is that of the opposite order. costs[0] sums, by row, the costs of pairs in which this row
# has the larger gain, costs[1] of its other pairs. `costs` and `positions` are in query order. `table` is for BY_TABLE.
Bias = namedtuple("Bias", "positions ratios costs mirrored table")  # noqa: PYI024 - for numba

# Arrays by rank: both ratios of the row's position, and both sums of costs of the row's pairs.
Shares = namedtuple("Shares", "plus minus gained lost")  # noqa: PYI024 - as above


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


@internal
def add_unbiased_pairs(arithmetic, ranks, shares, n, higher, lower, deltas, pairing, bias):
    """Add each pair's lambda and hessian to both rows, one pair at a time; return the sum of lambda magnitudes."""
    scores, _, lambdas, hessians, _, _ = ranks
    plus, minus, gained, lost = shares
    table, mirrored = bias.table, bias.mirrored
    apart = pairing.slope > 0.0 and scores[0] != scores[np.uint64(n - 1)]
    total, narrow = 0.0, arithmetic == IN_FLOAT32
    for t in range(higher.size):
        high, low, delta = np.uint64(higher[t]), np.uint64(lower[t]), deltas[t]
        distance = scores[high] - scores[low]
        distance = np.float64(np.float32(distance)) if narrow else distance
        likely, unlikely = chances(arithmetic, distance, pairing.sigma, table)
        if apart:
            delta /= pairing.offset + abs(distance)
        push = -unlikely * (pairing.sigma * delta)
        bend = max(likely * unlikely, pairing.floor) * (pairing.sigma * pairing.sigma * delta) * pairing.hessian
        up, down = plus[high], minus[low]
        if up >= LEAST_RATIO and down >= LEAST_RATIO:
            push /= up * down
            bend /= up * down
        if not (up < 0.0 or down < 0.0):  # true for NaN, but not for NO_RATIO
            cost = cost_of(arithmetic, mirrored, likely, unlikely, distance, pairing.sigma) * delta
            gained[high] += cost / down if down >= LEAST_RATIO else 0.0
            lost[low] += cost / up if up >= LEAST_RATIO else 0.0
        total -= 2.0 * (np.float64(np.float32(push)) if narrow else push)
        add(arithmetic, lambdas, hessians, high, low, push, bend)
    return total


@jit(inline="always")
def add(arithmetic, lambdas, hessians, high, low, push, bend):
    """Add a pair's lambda and hessian to both rows, in float64 or, like the toolkits, in float32."""
    if arithmetic == EXACT:
        lambdas[high] += push
        lambdas[low] -= push
        hessians[high] += bend
        hessians[low] += bend
    else:
        single, bent = np.float32(push), np.float32(bend)
        lambdas[high] = np.float32(lambdas[high]) + single
        lambdas[low] = np.float32(lambdas[low]) - single
        hessians[high] = np.float32(hessians[high]) + bent
        hessians[low] = np.float32(hessians[low]) + bent


@internal
def begin_bias(shares, queries, q, n, bias):
    """Copy the ratios of each rank's position to `shares`, and set the costs to 0."""
    begin, start, rows = queries.rowptr[q], queries.indptr[q], queries.rows
    positions, ratios = bias.positions, bias.ratios
    for r in range(n):
        position = positions[start + rows[begin + r]]
        shares.plus[r] = ratios[0, position] if position < ratios.shape[1] else NO_RATIO
        shares.minus[r] = ratios[1, position] if position < ratios.shape[1] else NO_RATIO
        shares.gained[r] = 0.0
        shares.lost[r] = 0.0


@internal
def write_costs(shares, queries, q, n, costs):
    """Write the sums of costs of each row of a query, in query order."""
    begin, start, rows = queries.rowptr[q], queries.indptr[q], queries.rows
    for r in range(n):
        index = start + rows[begin + r]
        costs[0, index] = shares.gained[r]
        costs[1, index] = shares.lost[r]
