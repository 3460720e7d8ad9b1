"""Gradients of LambdaLoss: pairs by rank, weighed by gains and by the distance of their ranks."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import internal, kernel, merged
from rankadapters.core.kernels.ranked_rows import ALL_FINITE
from rankadapters.objectives.kernels.exponentials import exponentials
from rankadapters.objectives.kernels.lambdas import SMALLEST_POWER, begin_query, end_query, row_at, sum_of
from rankadapters.objectives.kernels.lanes import LANES, load, magnitude, only_first, same, store, where_greater


@merged
def pair_weights(gain, gains, step, discount, discounts):
    """Weights of four pairs, below 0 where the row at the lower rank has the larger gain."""
    return (gain - gains) * (step + (discount - discounts))


@merged
def add_row_of_loss(powers, gains, lambdas, hessians, i, n, steps, discounts, both):
    """Add the pairs of rank i with every later rank: each one way, or both ways by the gain of the row to be above."""
    power, gain, discount = same(powers[i]), same(gains[i]), same(discounts[i])
    pulls, curvatures = same(0.0), same(0.0)
    j = i + np.uint64(1)
    while j < np.uint64(n):
        others, theirs = load(powers, j), load(gains, j)
        inverse = same(1.0) / (power + others)
        if both:
            push, weight = (gain * others - theirs * power) * inverse, gain + theirs
        else:
            signed = pair_weights(gain, theirs, load(steps, j - i), discount, load(discounts, j))
            push = where_greater(signed, same(0.0), others, power) * signed * inverse
            weight = magnitude(signed)
        push = only_first(push, np.uint64(n) - j)
        bend = only_first(weight * (power * others) * (inverse * inverse), np.uint64(n) - j)
        store(lambdas, j, load(lambdas, j) + push)
        store(hessians, j, load(hessians, j) + bend)
        pulls, curvatures = pulls + push, curvatures + bend
        j += np.uint64(LANES)
    lambdas[i] -= sum_of(pulls)
    hessians[i] += sum_of(curvatures)


@internal
def add_pairs_of_loss(rows, n, first, last, sigma, steps, discounts, both):
    """Add the pairs of the ranks from `first` to before `last` with every later rank."""
    powers = rows.powers
    if first == 0:
        exponentials(rows.scores, np.int64(0), n, sigma, powers)
    for i in range(np.uint64(first), np.uint64(last)):
        if powers[i] < SMALLEST_POWER:
            exponentials(rows.scores, np.int64(i), n, sigma, powers)
        add_row_of_loss(powers, rows.gains, rows.lambdas, rows.hessians, i, n, steps, discounts, both)


@kernel
def lambda_loss_gradients(
    scores, gains, ranked, rowptr, order, indptr, inverse, steps, discounts, both, pairing, first, last, memory, grad,
    hess,
):  # fmt: skip
    """As lambdas.lambda_gradients.

    A pair of the ranks i < j weighs abs(gain_i - gain_j) (steps[j - i] + discounts[i] - discounts[j]); with `both` it
    counts once each way, by gain x discount of the row that should be above.
    """
    rows = memory.rows
    for q in range(indptr.size - 1):
        begin, n = rowptr[q], rowptr[q + 1] - rowptr[q]
        if n == 0:
            continue
        if first == 0:
            if not begin_query(rows, scores, gains, begin, n):
                return row_at(order, indptr[q] + ranked[begin + n - 1])
            for r in range(n if both else 0):
                rows.gains[r] *= discounts[r]
        end = min(pairing.limit, n - 1)
        add_pairs_of_loss(rows, n, first, min(last, end), pairing.sigma, steps, discounts, both)
        if last < end:
            continue
        end_query(rows, ranked, begin, n, order, indptr[q], inverse[q], 0.0, pairing, grad, hess)
    return ALL_FINITE
