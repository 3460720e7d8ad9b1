"""Lambda gradients of pairs whose first row ranks high: one division and no exponential per pair."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core._kernels import kernel, reordering
from rankadapters.core._kernels.ranking import ALL_FINITE
from rankadapters.core._kernels.sorting import full_order

# What is the same for every pair of an objective. Each pair's delta is divided by `offset + slope * score distance`;
# `by_sum` scales a query by log2(1 + S) / S, S being the sum of all its lambdas; `floor` bounds p (1 - p) from below.
Pairing = namedtuple("Pairing", "limit sigma offset slope by_sum hessian floor")  # noqa: PYI024 - numba knows this kind

Sorted = namedtuple("Sorted", "scores powers gains lambdas hessians")  # noqa: PYI024 - as above
Workspace = namedtuple("Workspace", "scores order bucket ends")  # noqa: PYI024 - as above

SMALLEST_POWER = 1e-100  # its square and the square of its inverse are still float64
WIDEST = 1e300  # scores further apart than this have no distance to divide by


@kernel
def make_sorted(width):
    """Working memory for the rows of a query in rank order."""
    return Sorted(np.empty(width), np.empty(width), np.empty(width), np.empty(width), np.empty(width))


@kernel
def make_workspace(width):
    """Working memory to rank a query."""
    order, bucket, ends = np.empty(width, np.int32), np.empty(width, np.int32), np.empty(width + 1, np.int32)
    return Workspace(np.empty(width), order, bucket, ends)


@kernel
def longest(indptr):
    """Rows of the longest query."""
    width = 0
    for q in range(indptr.size - 1):
        width = max(width, indptr[q + 1] - indptr[q])
    return width


@kernel
def rank_query(scores, order, start, n, space):
    """Gather a query's scores as float64 into space.scores and their descending order into space.order."""
    local = space.scores[:n]
    for i in range(n):
        local[i] = scores[order[start + i]] if order.size else scores[start + i]
    full_order(local, space.order[:n], space.bucket, space.ends)


@reordering
def add_row(i, rows, n, discounts, unit, offset, slope, floor):
    """Add the pairs of rank i with every later rank; return the sum of their lambdas.

    A pair counts by its change of DCG or, with `unit`, by 1 where gains differ. With E = exp(sigma s),
    1 / (1 + exp(sigma (s_i - s_j))) is E_j / (E_i + E_j): one division serves it, its hessian and the score distance.
    """
    score, power, gain = rows.scores[i], rows.powers[i], rows.gains[i]
    discount = 0.0 if unit else discounts[i]
    pull, curvature, total = 0.0, 0.0, 0.0
    for j in range(np.uint64(i + 1), np.uint64(n)):  # unsigned, since numba would test for wraparound
        if unit:
            delta = np.float64(gain > rows.gains[j]) - np.float64(gain < rows.gains[j])
        else:
            delta = (gain - rows.gains[j]) * (discount - discounts[j])
        both = power + rows.powers[j]
        distance = offset + slope * (score - rows.scores[j])
        inverse = 1.0 / (both * distance)
        inverse_both = inverse * distance
        push = delta * inverse * (rows.powers[j] if delta > 0.0 else power)
        spread = power * rows.powers[j] * inverse_both * inverse_both
        bend = abs(delta) * (both * inverse) * (spread if spread > floor else floor)
        rows.lambdas[j] += push
        rows.hessians[j] += bend
        pull += push
        curvature += bend
        total += abs(push)
    rows.lambdas[i] -= pull
    rows.hessians[i] += curvature
    return total


@kernel
def raise_powers(rows, first, n, sigma):
    """exp(sigma (s - s_first)) of the ranks from `first` on; only ratios matter, so each stretch has its own unit."""
    for r in range(first, n):
        rows.powers[r] = np.exp(sigma * (rows.scores[r] - rows.scores[first]))


@kernel
def add_pairs(rows, n, discounts, unit, pairing):
    """Add up all pairs of a ranked query; return the sum of their lambdas."""
    apart = rows.scores[0] != rows.scores[n - 1]
    offset, slope = (pairing.offset, pairing.slope) if apart else (1.0, 0.0)
    raise_powers(rows, 0, n, pairing.sigma)
    total = 0.0
    for i in range(min(pairing.limit, n - 1)):
        if rows.powers[i] < SMALLEST_POWER:
            raise_powers(rows, i, n, pairing.sigma)
        total += add_row(i, rows, n, discounts, unit, offset, slope, pairing.floor)
    return total


@kernel
def sum_scale(total, by_sum):
    """log2(1 + S) / S, or 1 where nothing is scaled."""
    return np.log2(1.0 + total) / total if by_sum and total > 0.0 else 1.0


@kernel
def lambda_gradients(scores, order, indptr, gains, inverse_ideal, discounts, unit, pairing, grad, hess):
    """Gradients of every query with a positive `inverse_ideal`; the others' rows stay as they are.

    Returns the row of a score too far from others of its query, else -1. `order` and `gains` are as in ranked_gains.
    """
    width = longest(indptr)
    rows, space = make_sorted(width), make_workspace(width)
    for q in range(indptr.size - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        if n <= 1 or inverse_ideal[q] <= 0.0:
            continue
        rank_query(scores, order, start, n, space)
        for r in range(n):
            place = np.uint64(space.order[r])
            rows.scores[r] = space.scores[place]
            rows.gains[r] = gains[np.uint64(start) + place]
            rows.lambdas[r] = 0.0
            rows.hessians[r] = 0.0
        if rows.scores[0] - rows.scores[n - 1] > WIDEST:
            last = start + space.order[n - 1]
            return order[last] if order.size else last
        total = add_pairs(rows, n, discounts, unit, pairing)
        unscaled = inverse_ideal[q] * pairing.sigma
        scale = unscaled * sum_scale(2.0 * total * unscaled, pairing.by_sum)
        for r in range(n):
            place = start + space.order[r]
            row = np.uint64(order[place] if order.size else place)
            grad[row] = rows.lambdas[r] * scale
            hess[row] = rows.hessians[r] * (scale * pairing.sigma * pairing.hessian)
    return ALL_FINITE
