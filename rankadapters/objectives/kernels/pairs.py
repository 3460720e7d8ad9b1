"""Gradients of all pairs with a row in the top ranks, with one division and no exponential a pair.

The weight of a pair is the change of a measure (`changes`), 1, or a weight of LambdaLoss. LLVM computes several pairs
of a row at once, as the processor allows.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import ALL_FINITE
from rankadapters.objectives.kernels.changes import (
    ONE,
    XGBOOST_PRECISIONS,
    compute_changes,
    last_changing,
    make_swaps,
    prepare_changes,
)
from rankadapters.objectives.kernels.exponentials import exponentials
from rankadapters.objectives.kernels.queries import WIDEST, plus, row_at, sum_scale, write_gradients

# Settings of all pairs. Each pair's delta is divided by `offset + slope * score distance`. `by_sum` scales a query by
# log2(1 + S) / S, where S sums the query's lambdas. `floor` bounds p (1 - p) from below. `common` is the gain of most
# rows, or NaN; pairs of two rows of this gain have no gradient and are skipped.
Pairing = namedtuple("Pairing", "limit sigma offset slope by_sum hessian floor common")  # noqa: PYI024 - numba knows this kind

# LambdaLoss: the weight of a pair of ranks i < j is abs(gain_i - gain_j) (steps[j - i] + discounts[i] - discounts[j]).
# With `both`, a pair counts in both orders; the weight of an order is gain x discount of the row that it ranks first.
Loss = namedtuple("Loss", "steps discounts both")  # noqa: PYI024 - as above

# Working memory for one query, in arrays by rank: `powers` are exp(sigma (s - a reference score)), `lambdas` and
# `hessians` are sums. The caller owns it, so that a query can take several calls, and Ctrl-C works between them.
# `total[0]` is the sum of the lambdas' magnitudes so far. `listed` has `count[0]` ranks without the common gain.
PairMemory = namedtuple("PairMemory", "powers lambdas hessians zeros total listed count")  # noqa: PYI024 - as above

LISTED_SHARE = 4  # ranks without the common gain are listed if they are at most 1 in 4
SMALLEST_POWER = 1e-100  # its square does not underflow, and the square of its inverse does not overflow


def make_memory(width: int, kind: int) -> tuple[Any, ...]:
    """Allocate memory for queries of up to `width` rows, and for the changes of a measure."""
    powers, lambdas, hessians, zeros = np.zeros((4, width))
    listed, count = np.empty(width, np.int32), np.zeros(1, np.int64)
    memory = PairMemory(powers, lambdas, hessians, zeros, np.zeros(1), listed, count)
    return memory, *make_swaps(width, kind)


@internal(forceinline=True)
def pull_apart(delta, power, lower_power, distance, floor):
    """Return the lambda and the hessian of a pair.

    With E = exp(sigma s), 1 / (1 + exp(sigma (s_i - s_j))) = E_j / (E_i + E_j). One division serves this, the hessian
    and the score distance.
    """
    both = power + lower_power
    inverse = 1.0 / (both * distance)
    inverse_both = inverse * distance
    push = (lower_power if delta > 0.0 else power) * delta * inverse
    spread = inverse_both * inverse_both * (power * lower_power)
    return push, inverse * (both * abs(delta)) * (spread if spread > floor else floor)


@internal(forceinline=True)
def weigh(kind, gain, lower_gain, discount, lower_discount):
    """Return 1 or the change of DCG when the rows swap, with the sign of gain - other gain."""
    if kind == ONE:
        return (1.0 if gain > lower_gain else 0.0) - (1.0 if lower_gain > gain else 0.0)
    return (discount - lower_discount) * (gain - lower_gain)


@internal(forceinline=True)
def add_row(kind, scores, gains, powers, lambdas, hessians, changes, discounts, offset, floor, i):
    """Add the lambdas and hessians of the pairs of rank i with later ranks; return the sum of lambda magnitudes."""
    score, gain, power, discount = scores[i], gains[i], powers[i], discounts[i]
    pull, curvature, size = 0.0, 0.0, 0.0
    for j in range(np.uint64(i) + np.uint64(1), np.uint64(scores.size)):
        delta = weigh(kind, gain, gains[j], discount, discounts[j]) if changes is None else changes[j]
        push, bend = pull_apart(delta, power, powers[j], offset + (score - scores[j]), floor)
        lambdas[j] += push
        hessians[j] += bend
        pull, curvature, size = plus(pull, push), plus(curvature, bend), plus(size, abs(push))
    lambdas[i] -= pull
    hessians[i] += curvature
    return size


@internal
def list_uncommon(gains, common, listed):
    """List the ranks whose gain is not the common one; return how many there are, or -1 if too many."""
    count = np.uint64(0)
    for r in range(gains.size):
        listed[count] = r
        count += np.uint64(gains[r] != common)
    return np.int64(count) if np.int64(count) * LISTED_SHARE <= gains.size else -1


@internal(forceinline=True)
def add_listed(kind, scores, gains, powers, lambdas, hessians, listed, discounts, offset, floor, i):
    """Same as `add_row` for a rank i with the common gain: its pairs with ranks that are not listed would add 0."""
    score, gain, power, discount = scores[i], gains[i], powers[i], discounts[i]
    pull, curvature, size = 0.0, 0.0, 0.0
    for t in range(listed.size):
        j = np.uint64(listed[t])
        delta = weigh(kind, gain, gains[j], discount, discounts[j])
        push, bend = pull_apart(delta, power, powers[j], offset + (score - scores[j]), floor)
        lambdas[j] += push
        hessians[j] += bend
        pull, curvature, size = pull + push, curvature + bend, size + abs(push)
    lambdas[i] -= pull
    hessians[i] += curvature
    return size


@internal(forceinline=True)
def keep_powers(scores, i, sigma, powers):
    """Recompute the powers relative to the score of rank i if i is 0, or if the powers have become too small."""
    if i == 0 or powers[i] < SMALLEST_POWER:
        exponentials(scores, np.int64(i), scores.size, sigma, powers)


@jit(inline="always")
def add_pairs(kind, pairing, scores, gains, discounts, first, last, memory, precisions, first_ranks, cascade):
    """Add all pairs of ranks `first` to `last - 1` with later ranks; sum the lambda magnitudes in `memory.total`."""
    powers, lambdas, hessians, zeros, totals, listed, counts = memory
    divided = pairing.slope > 0.0 and scores[0] != scores[scores.size - 1]
    offset, distances = (pairing.offset, scores) if divided else (1.0, zeros[: scores.size])
    total, floor, count, t = totals[0], pairing.floor, counts[0], 0
    for i in range(np.uint64(first), np.uint64(last)):
        keep_powers(scores, i, pairing.sigma, powers)
        changes = compute_changes(kind, gains, np.int64(i), gains.size, discounts, precisions, first_ranks, cascade)
        if count >= 0 and gains[i] == pairing.common:
            while t < count and listed[t] < i:
                t += 1
            later = listed[t:count]
            total += add_listed(kind, distances, gains, powers, lambdas, hessians, later, discounts, offset, floor, i)
        else:
            total += add_row(kind, distances, gains, powers, lambdas, hessians, changes, discounts, offset, floor, i)
    totals[0] = total


@internal(forceinline=True)
def add_row_of_loss(gains, powers, lambdas, hessians, steps, discounts, both, i):
    """Same as `add_row`, for LambdaLoss; with `both`, add both orders of a pair."""
    gain, power, discount, pull, curvature = gains[i], powers[i], discounts[i], 0.0, 0.0
    for j in range(np.uint64(i) + np.uint64(1), np.uint64(gains.size)):
        lower_gain, lower_power = gains[j], powers[j]
        inverse = 1.0 / (power + lower_power)
        if both:
            push, weight = (gain * lower_power - lower_gain * power) * inverse, gain + lower_gain
        else:
            signed = (gain - lower_gain) * (steps[j - i] + (discount - discounts[j]))
            push, weight = (lower_power if signed > 0.0 else power) * signed * inverse, abs(signed)
        bend = weight * (power * lower_power) * (inverse * inverse)
        lambdas[j] += push
        hessians[j] += bend
        pull, curvature = plus(pull, push), plus(curvature, bend)
    lambdas[i] -= pull
    hessians[i] += curvature


@internal(forceinline=True)
def add_pairs_of_loss(loss, sigma, scores, gains, first, last, memory):
    """Same as `add_pairs`, for LambdaLoss."""
    powers, lambdas, hessians = memory.powers, memory.lambdas, memory.hessians
    for i in range(np.uint64(first), np.uint64(last)):
        keep_powers(scores, i, sigma, powers)
        add_row_of_loss(gains, powers, lambdas, hessians, loss.steps, loss.discounts, loss.both, i)


@internal(forceinline=True)
def begin_query(kind, pairing, loss, gains, discounts, memory, precisions, first_ranks, cascade):
    """Reset the sums of a query, and compute what its pairs need."""
    for r in range(gains.size):
        memory.lambdas[r] = memory.hessians[r] = 0.0
    memory.total[0], memory.count[0] = 0.0, -1
    prepare_changes(kind, gains, discounts, precisions, first_ranks, cascade)
    if loss is not None:
        for r in range(gains.size if loss.both else 0):
            gains[r] *= loss.discounts[r]
    elif kind < XGBOOST_PRECISIONS and not np.isnan(pairing.common):
        memory.count[0] = list_uncommon(gains, pairing.common, memory.listed)


@jit
def pair_gradients(queries, kind, pairing, loss, first, last, memory, precisions, first_ranks, cascade, grad, hess):
    """Write the gradients of every query that has any.

    A call adds only the pairs of ranks `first` to `last - 1`. It begins its queries if `first` is 0, and writes those
    whose ranks are all done. Return a row whose score is too far from others of its query, or -1. `loss` is None or the
    weights of LambdaLoss; the last three arguments but two are what `changes.make_swaps` returns.
    """
    discounts = queries.discounts
    for q in range(queries.indptr.size - 1):
        begin, end = queries.rowptr[q], queries.rowptr[q + 1]
        if begin == end:
            continue
        scores, gains, ranks = queries.scores[begin:end], queries.gains[begin:end], min(pairing.limit, end - begin - 1)
        if first == 0:
            if not scores[0] - scores[scores.size - 1] <= WIDEST:
                return row_at(queries.order, queries.indptr[q] + queries.rows[end - 1])
            begin_query(kind, pairing, loss, gains, discounts, memory, precisions, first_ranks, cascade)
        stop = min(last, ranks)
        if loss is not None:
            add_pairs_of_loss(loss, pairing.sigma, scores, gains, first, stop, memory)
        else:
            stop = last_changing(stop, first_ranks)
            add_pairs(kind, pairing, scores, gains, discounts, first, stop, memory, precisions, first_ranks, cascade)
        if last >= ranks:
            unscaled = queries.inverse[q] * pairing.sigma
            scale = unscaled * sum_scale(2.0 * memory.total[0] * unscaled, pairing.by_sum)
            bend = scale * pairing.sigma * pairing.hessian
            write_gradients(queries, q, memory.lambdas, memory.hessians, scale, bend, grad, hess)
    return ALL_FINITE
