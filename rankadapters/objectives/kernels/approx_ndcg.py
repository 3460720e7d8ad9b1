"""Gradients of ApproxNDCG: NDCG of ranks that are sums of sigmoids."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.kernels import internal, kernel, merged
from rankadapters.core.kernels.ranked_rows import ALL_FINITE
from rankadapters.objectives.kernels.exponentials import exponentials
from rankadapters.objectives.kernels.lambdas import SMALLEST_POWER, Sorted, begin_query, row_at, sum_of
from rankadapters.objectives.kernels.lanes import LANES, load, only_first, same, store

LOGARITHM, LOGARITHM_FROM_TWO, RECIPROCAL, POWER = range(4)

# As lambdas.Memory: by rank the soft ranks, and then gain x the discount's slope there.
Memory = namedtuple("Memory", "rows places slopes")  # noqa: PYI024 - for numba


def make_memory(width: int) -> Memory:
    """Memory for queries of up to `width` rows."""
    padded = width + LANES
    return Memory(Sorted(*(np.zeros(padded) for _ in range(6))), np.zeros(padded), np.zeros(padded))


@internal
def slope_of(kind, parameter, place):
    """Derivative of a discount by the rank, which need not be whole."""
    if kind == RECIPROCAL:
        return -1.0 / (place * place)
    if kind == POWER:
        return np.log(parameter) * parameter ** (place - 1.0)
    if kind == LOGARITHM_FROM_TWO and place < 2.0:  # noqa: PLR2004 - rank 2
        return 0.0
    argument = place + (1.0 if kind == LOGARITHM else 0.0)
    return -np.log(parameter) / (argument * np.log(argument) ** 2)


@merged
def add_places(powers, places, i, n):
    """Add the chances that rank i and each later rank stand above one another."""
    power, own = same(powers[i]), same(0.0)
    j = i + np.uint64(1)
    while j < np.uint64(n):
        others = load(powers, j)
        inverse = same(1.0) / (power + others)
        own = own + only_first(others * inverse, np.uint64(n) - j)
        store(places, j, load(places, j) + only_first(power * inverse, np.uint64(n) - j))
        j += np.uint64(LANES)
    places[i] += sum_of(own)


@merged
def add_pulls(powers, slopes, lambdas, i, n):
    """Add what rank i and each later rank pull at one another."""
    power, slope, pulls = same(powers[i]), same(slopes[i]), same(0.0)
    j = i + np.uint64(1)
    while j < np.uint64(n):
        others = load(powers, j)
        inverse = same(1.0) / (power + others)
        pull = only_first((power * others) * (inverse * inverse) * (slope - load(slopes, j)), np.uint64(n) - j)
        store(lambdas, j, load(lambdas, j) - pull)
        pulls = pulls + pull
        j += np.uint64(LANES)
    lambdas[i] += sum_of(pulls)


@internal
def run_steps(memory, n, first, last, kind, parameter, sigma):
    """Do some of the 2 (n - 1) steps of a query: one for each rank to find the soft ranks, one to find the pulls."""
    rows, half = memory.rows, n - 1
    for step in range(first, min(last, 2 * half)):
        i = step if step < half else step - half
        if step == half:
            for r in range(n):
                memory.slopes[r] = rows.gains[r] * slope_of(kind, parameter, memory.places[r])
        if i == 0 or rows.powers[i] < SMALLEST_POWER:
            exponentials(rows.scores, np.int64(i), n, sigma, rows.powers)
        if step < half:
            add_places(rows.powers, memory.places, np.uint64(i), n)
        else:
            add_pulls(rows.powers, memory.slopes, rows.lambdas, np.uint64(i), n)


@kernel
def approx_ndcg_gradients(
    scores, gains, ranked, rowptr, order, indptr, inverse, kind, parameter, sigma, hessian, first, last, memory, grad,
    hess,
):  # fmt: skip
    """As lambdas.lambda_gradients, in the steps from `first` to before `last` of run_steps."""
    rows = memory.rows
    for q in range(indptr.size - 1):
        begin, n = rowptr[q], rowptr[q + 1] - rowptr[q]
        if n == 0:
            continue
        if first == 0:
            if not begin_query(rows, scores, gains, begin, n):
                return row_at(order, indptr[q] + ranked[begin + n - 1])
            for r in range(n):
                memory.places[r] = 1.0
        run_steps(memory, n, first, last, kind, parameter, sigma)
        if last < 2 * (n - 1):
            continue
        for r in range(n):
            row = np.uint64(row_at(order, indptr[q] + ranked[begin + r]))
            grad[row] = rows.lambdas[r] * (inverse[q] * sigma)
            hess[row] = hessian
    return ALL_FINITE
