"""Lambda gradients of pairs whose first row ranks high: one division and no exponential per pair."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core._kernels import kernel, reordering
from rankadapters.core._kernels.ranking import ALL_FINITE
from rankadapters.core._kernels.sorting import make_sorting, rank

# What is the same for every pair of an objective. Each pair's delta is divided by `offset + slope * score distance`;
# `by_sum` scales a query by log2(1 + S) / S, S being the sum of all its lambdas; `floor` bounds p (1 - p) from below.
Pairing = namedtuple("Pairing", "limit sigma offset slope by_sum hessian floor")  # noqa: PYI024 - numba knows this kind

Sorted = namedtuple("Sorted", "scores powers gains lambdas hessians")  # noqa: PYI024 - as above
Workspace = namedtuple("Workspace", "scores order sorting")  # noqa: PYI024 - as above

# A query's working memory. It is the caller's, so that one query can be computed in several calls, between which Python
# may be interrupted: `total`, of one entry, is the sum of the lambdas so far.
Memory = namedtuple("Memory", "rows space total")  # noqa: PYI024 - as above

SMALLEST_POWER = 1e-100  # its square and the square of its inverse are still float64
WIDEST = 1e300  # scores further apart than this have no distance to divide by


def make_workspace(width: int) -> Workspace:
    """Working memory to rank a query."""
    sorting = make_sorting.py_func(width, np.empty(0))
    return Workspace(np.empty(width), sorting.order, sorting)


def make_memory(width: int) -> Memory:
    """Memory for queries of up to `width` rows."""
    rows = Sorted(np.empty(width), np.empty(width), np.empty(width), np.empty(width), np.empty(width))
    return Memory(rows, make_workspace(width), np.zeros(1))


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
    rank(local, n, space.sorting)


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
def add_pairs(rows, n, first, last, total, discounts, unit, pairing):
    """Add the pairs of the ranks from `first` to before `last` with every later rank; return the sum of all lambdas."""
    apart = rows.scores[0] != rows.scores[n - 1]
    offset, slope = (pairing.offset, pairing.slope) if apart else (1.0, 0.0)
    if first == 0:
        raise_powers(rows, 0, n, pairing.sigma)
    for i in range(first, last):
        if rows.powers[i] < SMALLEST_POWER:
            raise_powers(rows, i, n, pairing.sigma)
        total += add_row(i, rows, n, discounts, unit, offset, slope, pairing.floor)
    return total


@kernel
def sum_scale(total, by_sum):
    """log2(1 + S) / S, or 1 where nothing is scaled."""
    return np.log2(1.0 + total) / total if by_sum and total > 0.0 else 1.0


@kernel
def lambda_gradients(
    scores, order, indptr, gains, inverse_ideal, discounts, unit, pairing, first, last, memory, grad, hess
):
    """Gradients of every query with a positive `inverse_ideal`; the others' rows stay as they are.

    Only the pairs of ranks from `first` to before `last` are added: a call begins its queries where `first` is 0, and
    ends those of which no rank is left. Returns the row of a score too far from others of its query, else -1. `order`
    and `gains` are as in ranked_gains.
    """
    rows, space = memory.rows, memory.space
    for q in range(indptr.size - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        if n <= 1 or inverse_ideal[q] <= 0.0:
            continue
        if first == 0:
            rank_query(scores, order, start, n, space)
            for r in range(n):
                place = np.uint64(space.order[r])
                rows.scores[r] = space.scores[place]
                rows.gains[r] = gains[np.uint64(start) + place]
                rows.lambdas[r] = 0.0
                rows.hessians[r] = 0.0
            if rows.scores[0] - rows.scores[n - 1] > WIDEST:
                lowest = start + space.order[n - 1]
                return order[lowest] if order.size else lowest
            memory.total[0] = 0.0
        end = min(pairing.limit, n - 1)
        total = add_pairs(rows, n, first, min(last, end), memory.total[0], discounts, unit, pairing)
        memory.total[0] = total
        if last < end:
            continue
        unscaled = inverse_ideal[q] * pairing.sigma
        scale = unscaled * sum_scale(2.0 * total * unscaled, pairing.by_sum)
        for r in range(n):
            place = start + space.order[r]
            row = np.uint64(order[place] if order.size else place)
            grad[row] = rows.lambdas[r] * scale
            hess[row] = rows.hessians[r] * (scale * pairing.sigma * pairing.hessian)
    return ALL_FINITE
