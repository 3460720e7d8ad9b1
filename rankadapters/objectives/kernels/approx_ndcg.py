"""Gradients of ApproxNDCG: NDCG of ranks that are sums of sigmoids."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.kernels import internal, kernel, merged
from rankadapters.core.kernels.ranked_rows import ALL_FINITE
from rankadapters.objectives.kernels.lambdas import keep_powers
from rankadapters.objectives.kernels.lanes import LANES, load, only_first, same, store
from rankadapters.objectives.kernels.queries import Ranks, add_lanes, begin_query, columns, write_gradients

LOGARITHM, LOGARITHM_FROM_TWO, RECIPROCAL, POWER = range(4)

# How soft ranks are discounted between whole ranks, the steepness of their sigmoids, and the hessian of every row.
SoftRanks = namedtuple("SoftRanks", "kind parameter sigma hessian")  # noqa: PYI024 - for numba

# As lambdas.Memory. By rank: the soft ranks, and then gain x the discount's slope there.
Memory = namedtuple("Memory", "ranks soft")  # noqa: PYI024 - as above
Soft = namedtuple("Soft", "places slopes")  # noqa: PYI024 - as above


def make_memory(width: int) -> Memory:
    """Memory for queries of up to `width` rows."""
    return Memory(columns(Ranks, width), columns(Soft, width))


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
    places[i] += add_lanes(own)


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
    lambdas[i] += add_lanes(pulls)


@internal
def run_steps(memory, n, first, last, soft_ranks):
    """Do some of the 2 (n - 1) steps of a query: one for each rank to find the soft ranks, one to find the pulls."""
    ranks, (places, slopes), half = memory.ranks, memory.soft, n - 1
    for step in range(first, min(last, 2 * half)):
        i = step if step < half else step - half
        if step == half:
            for r in range(n):
                slopes[r] = ranks.gains[r] * slope_of(soft_ranks.kind, soft_ranks.parameter, places[r])
        keep_powers(ranks, i, n, soft_ranks.sigma)
        if step < half:
            add_places(ranks.powers, places, np.uint64(i), n)
        else:
            add_pulls(ranks.powers, slopes, ranks.lambdas, np.uint64(i), n)


@kernel
def approx_ndcg_gradients(queries, soft_ranks, first, last, memory, grad, hess):
    """As lambdas.lambda_gradients, in the steps from `first` to before `last` of run_steps."""
    ranks, places = memory.ranks, memory.soft.places
    for q in range(queries.indptr.size - 1):
        n = queries.rowptr[q + 1] - queries.rowptr[q]
        if n == 0:
            continue
        if first == 0:
            far = begin_query(ranks, queries, q)
            if far >= 0:
                return far
            for r in range(n):
                places[r] = ranks.hessians[r] = 1.0
        run_steps(memory, n, first, last, soft_ranks)
        if last >= 2 * (n - 1):
            scale = queries.inverse[q] * soft_ranks.sigma
            write_gradients(queries, q, ranks.lambdas, ranks.hessians, scale, soft_ranks.hessian, grad, hess)
    return ALL_FINITE
