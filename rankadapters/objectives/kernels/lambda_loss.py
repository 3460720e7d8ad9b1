"""Gradients of LambdaLoss: pairs weighted by gains, discounts and the distance of their ranks."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import ALL_FINITE
from rankadapters.objectives.kernels.lambdas import end_query, keep_powers
from rankadapters.objectives.kernels.lanes import LANES, load, magnitude, only_first, same, store, where_greater
from rankadapters.objectives.kernels.queries import add_lanes, begin_query

# The weight of a pair of ranks i < j is abs(gain_i - gain_j) (steps[j - i] + discounts[i] - discounts[j]). With `both`,
# a pair counts in both orders; the weight of an order is gain x discount of the row that it ranks first.
PairWeights = namedtuple("PairWeights", "steps discounts both")  # noqa: PYI024 - numba knows this kind


@internal(forceinline=True)
def pair_weights(gain, gains, step, discount, discounts):
    """Return the weights of four pairs; a weight is negative if the lower-ranked row has the larger gain."""
    return (gain - gains) * (step + (discount - discounts))


@internal(forceinline=True)
def add_row_of_loss(ranks, weights, i, n):
    """Add the gradients of the pairs of rank i with every later rank; with `weights.both`, of both orders of a pair."""
    _, powers, gains, lambdas, hessians, _ = ranks
    steps, discounts, both = weights
    power, gain, discount = same(powers[i]), same(gains[i]), same(discounts[i])
    pulls, curvatures = same(0.0), same(0.0)
    j = i + np.uint64(1)
    while j < np.uint64(n):
        other_powers, other_gains = load(powers, j), load(gains, j)
        inverse = same(1.0) / (power + other_powers)
        if both:
            push, weight = (gain * other_powers - other_gains * power) * inverse, gain + other_gains
        else:
            signed = pair_weights(gain, other_gains, load(steps, j - i), discount, load(discounts, j))
            push = where_greater(signed, same(0.0), other_powers, power) * signed * inverse
            weight = magnitude(signed)
        push = only_first(push, np.uint64(n) - j)
        bend = only_first(weight * (power * other_powers) * (inverse * inverse), np.uint64(n) - j)
        store(lambdas, j, load(lambdas, j) + push)
        store(hessians, j, load(hessians, j) + bend)
        pulls, curvatures = pulls + push, curvatures + bend
        j += np.uint64(LANES)
    lambdas[i] -= add_lanes(pulls)
    hessians[i] += add_lanes(curvatures)


@internal
def add_pairs_of_loss(ranks, weights, n, first, last, sigma):
    """Add the gradients of the pairs of ranks `first` to `last - 1` with every later rank."""
    for i in range(np.uint64(first), np.uint64(last)):
        keep_powers(ranks, i, n, sigma)
        add_row_of_loss(ranks, weights, i, n)


@jit
def lambda_loss_gradients(queries, weights, pairing, first, last, memory, grad, hess):
    """Same as `lambdas.lambda_gradients`, for LambdaLoss."""
    ranks = memory.ranks
    for q in range(queries.indptr.size - 1):
        n = queries.rowptr[q + 1] - queries.rowptr[q]
        if n == 0:
            continue
        if first == 0:
            far = begin_query(ranks, queries, q)
            if far >= 0:
                return far
            for r in range(n if weights.both else 0):
                ranks.gains[r] *= weights.discounts[r]
        end = min(pairing.limit, n - 1)
        add_pairs_of_loss(ranks, weights, n, first, min(last, end), pairing.sigma)
        if last >= end:
            end_query(ranks, queries, q, 0.0, pairing, grad, hess)
    return ALL_FINITE
