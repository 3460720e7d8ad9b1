"""Gradients of ApproxNDCG, which replaces the ranks in NDCG by soft ranks: sums of sigmoids."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import ALL_FINITE
from rankadapters.objectives.kernels import LANES
from rankadapters.objectives.kernels.lanes import load, only_first, same, store
from rankadapters.objectives.kernels.pairs import keep_powers
from rankadapters.objectives.kernels.queries import Ranks, add_lanes, begin_query, columns, write_gradients

LOGARITHM, LOGARITHM_FROM_TWO, RECIPROCAL, POWER = range(4)

# The discount's formula (`kind`) and parameter, the steepness `sigma` of the sigmoids, and the hessian of every row.
SoftRanks = namedtuple("SoftRanks", "kind parameter sigma hessian")  # noqa: PYI024 - for numba

# Working memory, as `pairs.Memory`. By rank: the soft rank, and the gain x the discount's slope at the soft rank.
Memory = namedtuple("Memory", "ranks soft")  # noqa: PYI024 - as above
Soft = namedtuple("Soft", "soft_ranks slopes")  # noqa: PYI024 - as above


def make_memory(width: int) -> tuple[Memory]:
    """Allocate memory for queries of up to `width` rows."""
    return (Memory(columns(Ranks, width), columns(Soft, width)),)


@internal
def slope_of(kind, parameter, rank):
    """Return the derivative of a discount at a rank, which may be fractional."""
    if kind == RECIPROCAL:
        return -1.0 / (rank * rank)
    if kind == POWER:
        return np.log(parameter) * parameter ** (rank - 1.0)
    if kind == LOGARITHM_FROM_TWO and rank < 2.0:  # noqa: PLR2004 - rank 2
        return 0.0
    argument = rank + (1.0 if kind == LOGARITHM else 0.0)
    return -np.log(parameter) / (argument * np.log(argument) ** 2)


@internal(forceinline=True)
def add_soft_ranks(powers, soft_ranks, i, n):
    """For each pair of rank i and a later rank, add 1 / (1 + exp(sigma (own - other score))) to both soft ranks."""
    power, rank_above = same(powers[i]), same(0.0)
    j = i + np.uint64(1)
    while j < np.uint64(n):
        other_powers = load(powers, j)
        inverse = same(1.0) / (power + other_powers)
        rank_above = rank_above + only_first(other_powers * inverse, np.uint64(n) - j)
        store(soft_ranks, j, load(soft_ranks, j) + only_first(power * inverse, np.uint64(n) - j))
        j += np.uint64(LANES)
    soft_ranks[i] += add_lanes(rank_above)


@internal(forceinline=True)
def add_pulls(powers, slopes, lambdas, i, n):
    """Add the lambdas of each pair of rank i and a later rank: the score of each changes the other's soft rank."""
    power, slope, pulls = same(powers[i]), same(slopes[i]), same(0.0)
    j = i + np.uint64(1)
    while j < np.uint64(n):
        other_powers = load(powers, j)
        inverse = same(1.0) / (power + other_powers)
        pull = only_first((power * other_powers) * (inverse * inverse) * (slope - load(slopes, j)), np.uint64(n) - j)
        store(lambdas, j, load(lambdas, j) - pull)
        pulls = pulls + pull
        j += np.uint64(LANES)
    lambdas[i] += add_lanes(pulls)


@internal
def run_steps(memory, n, first, last, settings):
    """Run steps `first` to `last - 1` of a query: its first n - 1 steps compute soft ranks, its last n - 1 lambdas."""
    ranks, (soft_ranks, slopes), half = memory.ranks, memory.soft, n - 1
    for step in range(first, min(last, 2 * half)):
        i = step if step < half else step - half
        if step == half:
            for r in range(n):
                slopes[r] = ranks.gains[r] * slope_of(settings.kind, settings.parameter, soft_ranks[r])
        keep_powers(ranks, i, n, settings.sigma)
        if step < half:
            add_soft_ranks(ranks.powers, soft_ranks, np.uint64(i), n)
        else:
            add_pulls(ranks.powers, slopes, ranks.lambdas, np.uint64(i), n)


@jit
def approx_ndcg_gradients(queries, settings, first, last, memory, grad, hess):
    """Same as `pairs.pair_gradients`, for ApproxNDCG; `first` and `last` count the steps of `run_steps`."""
    ranks, soft_ranks = memory.ranks, memory.soft.soft_ranks
    for q in range(queries.indptr.size - 1):
        n = queries.rowptr[q + 1] - queries.rowptr[q]
        if n == 0:
            continue
        if first == 0:
            far = begin_query(ranks, queries, q)
            if far >= 0:
                return far
            for r in range(n):
                soft_ranks[r] = ranks.hessians[r] = 1.0
        run_steps(memory, n, first, last, settings)
        if last >= 2 * (n - 1):
            scale = queries.inverse[q] * settings.sigma
            write_gradients(queries, q, ranks.lambdas, ranks.hessians, scale, settings.hessian, grad, hess)
    return ALL_FINITE
