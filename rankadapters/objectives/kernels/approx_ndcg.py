"""Gradients of ApproxNDCG, which replaces the ranks in NDCG by soft ranks: sums of sigmoids."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import ALL_FINITE
from rankadapters.objectives.kernels.pairs import keep_powers
from rankadapters.objectives.kernels.queries import WIDEST, plus, row_at, write_gradients

LOGARITHM, LOGARITHM_FROM_TWO, RECIPROCAL, POWER = range(4)

# The discount's formula (`kind`) and parameter, the steepness `sigma` of the sigmoids, and the hessian of every row.
SoftRanks = namedtuple("SoftRanks", "kind parameter sigma hessian")  # noqa: PYI024 - for numba

# Working memory, as `pairs.PairMemory`. By rank, `slopes` are the gain x the discount's slope at the soft rank.
SoftMemory = namedtuple("SoftMemory", "powers lambdas hessians soft_ranks slopes")  # noqa: PYI024 - as above


def make_memory(width: int) -> tuple[SoftMemory]:
    """Allocate memory for queries of up to `width` rows."""
    return (SoftMemory(*np.zeros((5, width))),)


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
    power, rank_above = powers[i], 0.0
    for j in range(np.uint64(i) + np.uint64(1), n):
        inverse = 1.0 / (power + powers[j])
        rank_above = plus(rank_above, powers[j] * inverse)
        soft_ranks[j] += power * inverse
    soft_ranks[i] += rank_above


@internal(forceinline=True)
def add_pulls(powers, slopes, lambdas, i, n):
    """Add the lambdas of each pair of rank i and a later rank: the score of each changes the other's soft rank."""
    power, slope, pulls = powers[i], slopes[i], 0.0
    for j in range(np.uint64(i) + np.uint64(1), n):
        inverse = 1.0 / (power + powers[j])
        pull = (power * powers[j]) * (inverse * inverse) * (slope - slopes[j])
        lambdas[j] -= pull
        pulls = plus(pulls, pull)
    lambdas[i] += pulls


@internal
def run_steps(scores, gains, first, last, settings, memory):
    """Run steps `first` to `last - 1` of a query: its first n - 1 steps compute soft ranks, its last n - 1 lambdas."""
    n, half = scores.size, scores.size - 1
    powers, lambdas, _, soft_ranks, slopes = memory
    for step in range(first, min(last, 2 * half)):
        i = step if step < half else step - half
        if step == half:
            for r in range(n):
                slopes[r] = gains[r] * slope_of(settings.kind, settings.parameter, soft_ranks[r])
        keep_powers(scores, i, settings.sigma, powers)
        if step < half:
            add_soft_ranks(powers, soft_ranks, np.uint64(i), np.uint64(n))
        else:
            add_pulls(powers, slopes, lambdas, np.uint64(i), np.uint64(n))


@jit
def approx_ndcg_gradients(queries, settings, first, last, memory, grad, hess):
    """Same as `pairs.pair_gradients`, for ApproxNDCG; `first` and `last` count the steps of `run_steps`."""
    lambdas, hessians = memory.lambdas, memory.hessians
    for q in range(queries.indptr.size - 1):
        begin, end = queries.rowptr[q], queries.rowptr[q + 1]
        if begin == end:
            continue
        scores, gains = queries.scores[begin:end], queries.gains[begin:end]
        if first == 0:
            if not scores[0] - scores[scores.size - 1] <= WIDEST:
                return row_at(queries.order, queries.indptr[q] + queries.rows[end - 1])
            for r in range(end - begin):
                lambdas[r] = 0.0
                memory.soft_ranks[r] = hessians[r] = 1.0
        run_steps(scores, gains, first, last, settings, memory)
        if last >= 2 * (end - begin - 1):
            scale = queries.inverse[q] * settings.sigma
            write_gradients(queries, q, lambdas, hessians, scale, settings.hessian, grad, hess)
    return ALL_FINITE
