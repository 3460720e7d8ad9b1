"""Gradients of all pairs with a row in the top ranks, four pairs at once, with one division and no exponential a pair.

The weight of a pair is the change of a measure (`changes`), 1, or a weight of LambdaLoss.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import ALL_FINITE
from rankadapters.objectives.kernels import LANES
from rankadapters.objectives.kernels.changes import ONE, compute_changes, last_changing, make_swaps, prepare
from rankadapters.objectives.kernels.exponentials import exponentials
from rankadapters.objectives.kernels.lanes import at, load, magnitude, only_first, same, store, where_greater
from rankadapters.objectives.kernels.queries import Ranks, add_lanes, begin_query, columns, sum_scale, write_gradients

# Settings of all pairs. Each pair's delta is divided by `offset + slope * score distance`. `by_sum` scales a query by
# log2(1 + S) / S, where S sums the query's lambdas. `floor` bounds p (1 - p) from below. `common` is the gain of most
# rows, or NaN; pairs of two rows of this gain have no gradient and are skipped.
Pairing = namedtuple("Pairing", "limit sigma offset slope by_sum hessian floor common")  # noqa: PYI024 - numba knows this kind

# LambdaLoss: the weight of a pair of ranks i < j is abs(gain_i - gain_j) (steps[j - i] + discounts[i] - discounts[j]).
# With `both`, a pair counts in both orders; the weight of an order is gain x discount of the row that it ranks first.
Loss = namedtuple("Loss", "steps discounts both")  # noqa: PYI024 - as above

# How the pairs of a query are divided: by `offset` plus the distance of `scores`, which are 0 without normalization;
# `floor` is the lower limit of p (1 - p) in hessians.
Dividing = namedtuple("Dividing", "scores offset floor")  # noqa: PYI024 - as above

# The numbers of the row at the upper rank of a pair.
Upper = namedtuple("Upper", "score power gain discount")  # noqa: PYI024 - as above

# Working memory for one query. The caller owns it, so that a query can take several calls, and Ctrl-C works between
# them. `total[0]` is the sum of the lambdas' magnitudes so far. `listed` has `count[0]` ranks without the common gain.
Memory = namedtuple("Memory", "ranks total listed count")  # noqa: PYI024 - as above

FEWEST = 8  # from this many pairs on, a row adds them four at a time, and only the rest one by one
LISTED_SHARE = 4  # ranks without the common gain are listed if they are at most 1 in 4
SMALLEST_POWER = 1e-100  # its square does not underflow, and the square of its inverse does not overflow


def make_memory(width: int, *, swapping: bool = False) -> tuple[Any, ...]:
    """Allocate memory for queries of up to `width` rows, and for changes unless pairs are weighted without them."""
    memory = Memory(columns(Ranks, width), np.zeros(1), np.empty(width, np.int32), np.zeros(1, np.int64))
    return memory, make_swaps(width) if swapping else None


@internal(forceinline=True)
def pull_apart(delta, power, powers, score, scores, offset, floor):
    """Return the lambdas and hessians of four pairs.

    With E = exp(sigma s), 1 / (1 + exp(sigma (s_i - s_j))) = E_j / (E_i + E_j). One division serves this, the hessian
    and the score distance.
    """
    both = power + powers
    distance = offset + (score - scores)
    inverse = same(1.0) / (both * distance)
    inverse_both = inverse * distance
    push = where_greater(delta, same(0.0), powers, power) * delta * inverse
    spread = inverse_both * inverse_both * (power * powers)
    return push, inverse * (both * magnitude(delta)) * where_greater(spread, floor, spread, floor)


@internal(forceinline=True)
def change_of_dcg(gain, gains, discount, discounts, unit):
    """Return, for four pairs, the change of DCG when the rows swap or, with `unit`, the sign of gain - other gain."""
    if unit:
        none, one = same(0.0), same(1.0)
        return where_greater(gain, gains, one, none) - where_greater(gains, gain, one, none)
    return (discount - discounts) * (gain - gains)


@internal(forceinline=True)
def four_pairs(upper, ranks, swaps, discounts, unit, dividing, j, count):
    """Return the lambdas and hessians of the pairs of a row with ranks j to j + 3; 0 from the index `count` on."""
    if swaps is not None:
        delta = load(swaps.changes, j)
    else:
        gains, later = load(ranks.gains, j), load(discounts, j)
        delta = change_of_dcg(same(upper.gain), gains, same(upper.discount), later, unit)
    return pull_apart(
        only_first(delta, count), same(upper.power), load(ranks.powers, j), same(upper.score),
        load(dividing.scores, j), same(dividing.offset), same(dividing.floor),
    )  # fmt: skip


@internal(forceinline=True)
def end_of_lanes(i, n):
    """Return the rank after the last one that rank i is paired with four at a time."""
    later = np.uint64(n) - i - np.uint64(1)
    return np.uint64(n) - (later % np.uint64(LANES) if later >= np.uint64(FEWEST) else later)


@internal(forceinline=True)
def add_in_turn(total, values):
    """Add four numbers to `total` one after the other."""
    return total + at(values, 0) + at(values, 1) + at(values, 2) + at(values, 3)


@internal(forceinline=True)
def add_row(ranks, swaps, discounts, unit, dividing, i, n):
    """Add the lambdas and hessians of the pairs of rank i with later ranks; return the sum of lambda magnitudes."""
    lambdas, hessians = ranks.lambdas, ranks.hessians
    upper = Upper(dividing.scores[i], ranks.powers[i], ranks.gains[i], discounts[i])
    j, end = i + np.uint64(1), end_of_lanes(i, n)
    pulls, curvatures, sizes = same(0.0), same(0.0), same(0.0)
    while j < end:
        push, bend = four_pairs(upper, ranks, swaps, discounts, unit, dividing, j, np.uint64(LANES))
        store(lambdas, j, load(lambdas, j) + push)
        store(hessians, j, load(hessians, j) + bend)
        pulls, curvatures, sizes = pulls + push, curvatures + bend, sizes + magnitude(push)
        j += np.uint64(LANES)
    pull, curvature, size = add_lanes(pulls), add_lanes(curvatures), add_lanes(sizes)
    while j < np.uint64(n):
        push, bend = four_pairs(upper, ranks, swaps, discounts, unit, dividing, j, np.uint64(n) - j)
        store(lambdas, j, load(lambdas, j) + push)
        store(hessians, j, load(hessians, j) + bend)
        pull, curvature = add_in_turn(pull, push), add_in_turn(curvature, bend)
        size = add_in_turn(size, magnitude(push))
        j += np.uint64(LANES)
    lambdas[i] -= pull
    hessians[i] += curvature
    return size


@internal
def list_uncommon(gains, n, common, listed):
    """List the ranks whose gain is not the common one; return how many there are, or -1 if too many."""
    count = np.uint64(0)
    for r in range(n):
        listed[count] = r
        count += np.uint64(gains[r] != common)
    return np.int64(count) if np.int64(count) * LISTED_SHARE <= n else -1


@internal(forceinline=True)
def only_at(number, lane):
    """Return `number` in one lane, and 0 in the other lanes."""
    return only_first(same(number), lane + np.uint64(1)) - only_first(same(number), lane)


@internal(forceinline=True)
def add_listed(ranks, discounts, unit, dividing, i, n, listed, t, count):
    """Same as `add_row` for a rank i with the common gain, but add only its pairs with the ranks listed[t:count].

    The other pairs of rank i would add 0. Skipping them changes no bit: the listed pairs are added in the same lanes.
    """
    lambdas, hessians = ranks.lambdas, ranks.hessians
    upper, end = Upper(dividing.scores[i], ranks.powers[i], ranks.gains[i], discounts[i]), end_of_lanes(i, n)
    pulls, curvatures, sizes = same(0.0), same(0.0), same(0.0)
    pull, curvature, size, in_lanes = 0.0, 0.0, 0.0, True
    while t < count:
        j = np.uint64(listed[t])
        pushes, bends = four_pairs(upper, ranks, None, discounts, unit, dividing, j, np.uint64(1))
        push, bend = at(pushes, 0), at(bends, 0)
        lambdas[j] += push
        hessians[j] += bend
        if j < end:
            lane = (j - i - np.uint64(1)) % np.uint64(LANES)
            pulls, curvatures = pulls + only_at(push, lane), curvatures + only_at(bend, lane)
            sizes = sizes + only_at(abs(push), lane)
        else:
            if in_lanes:
                pull, curvature, size, in_lanes = add_lanes(pulls), add_lanes(curvatures), add_lanes(sizes), False
            pull, curvature, size = pull + push, curvature + bend, size + abs(push)
        t += np.uint64(1)
    if in_lanes:
        pull, curvature, size = add_lanes(pulls), add_lanes(curvatures), add_lanes(sizes)
    lambdas[i] -= pull
    hessians[i] += curvature
    return size


@internal(forceinline=True)
def keep_powers(ranks, i, n, sigma):
    """Recompute the powers relative to the score of rank i if i is 0, or if the powers have become too small."""
    if i == 0 or ranks.powers[i] < SMALLEST_POWER:
        exponentials(ranks.scores, np.int64(i), n, sigma, ranks.powers)


@internal
def add_pairs(kind, memory, swaps, n, first, last, discounts, pairing):
    """Add all pairs of ranks `first` to `last - 1` with later ranks; sum the lambda magnitudes in `memory.total`."""
    ranks, listed, count = memory.ranks, memory.listed, memory.count[0]
    divided = pairing.slope > 0.0 and ranks.scores[0] != ranks.scores[n - 1]
    scores = ranks.scores if divided else ranks.zeros
    dividing = Dividing(scores, pairing.offset if divided else 1.0, pairing.floor)
    total, unit, ahead = memory.total[0], kind == ONE, np.uint64(0)
    for i in range(np.uint64(first), np.uint64(last)):
        keep_powers(ranks, i, n, pairing.sigma)
        if swaps is not None:
            changes, running, sums, numbers = swaps
            compute_changes(kind, ranks.gains, np.int64(i), n, discounts, changes, running, sums, numbers)
            total += add_row(ranks, swaps, discounts, unit, dividing, i, n)
        elif count >= 0 and ranks.gains[i] == pairing.common:
            while ahead < np.uint64(count) and np.uint64(listed[ahead]) < i:
                ahead += np.uint64(1)
            total += add_listed(ranks, discounts, unit, dividing, i, n, listed, ahead, np.uint64(count))
        else:
            total += add_row(ranks, None, discounts, unit, dividing, i, n)
    memory.total[0] = total


@internal(forceinline=True)
def add_row_of_loss(ranks, loss, i, n):
    """Same as `add_row`, for LambdaLoss; with `loss.both`, add both orders of a pair."""
    _, powers, gains, lambdas, hessians, _ = ranks
    steps, discounts, both = loss
    power, gain, discount = same(powers[i]), same(gains[i]), same(discounts[i])
    pulls, curvatures = same(0.0), same(0.0)
    j = i + np.uint64(1)
    while j < np.uint64(n):
        other_powers, other_gains = load(powers, j), load(gains, j)
        inverse = same(1.0) / (power + other_powers)
        if both:
            push, weight = (gain * other_powers - other_gains * power) * inverse, gain + other_gains
        else:
            signed = (gain - other_gains) * (load(steps, j - i) + (discount - load(discounts, j)))
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
def add_pairs_of_loss(ranks, loss, n, first, last, sigma):
    """Same as `add_pairs`, for LambdaLoss."""
    for i in range(np.uint64(first), np.uint64(last)):
        keep_powers(ranks, i, n, sigma)
        add_row_of_loss(ranks, loss, i, n)


@internal(forceinline=True)
def prepare_query(kind, queries, n, pairing, loss, memory, swaps):
    """Compute what the pairs of a loaded query need."""
    gains = memory.ranks.gains
    memory.total[0], memory.count[0] = 0.0, -1
    if loss is not None:
        for r in range(n if loss.both else 0):
            gains[r] *= loss.discounts[r]
    elif swaps is not None:
        prepare(kind, gains, n, queries.discounts, swaps)
    elif not np.isnan(pairing.common):
        memory.count[0] = list_uncommon(gains, n, pairing.common, memory.listed)


@jit
def pair_gradients(queries, kind, pairing, loss, first, last, memory, swaps, grad, hess):
    """Write the gradients of every query that has any.

    A call adds only the pairs of ranks `first` to `last - 1`. It loads its queries if `first` is 0, and writes those
    whose ranks are all done. Return a row whose score is too far from others of its query, or -1. `loss` is None or the
    weights of LambdaLoss, `swaps` is None or the memory of changes.
    """
    ranks = memory.ranks
    for q in range(queries.indptr.size - 1):
        n = queries.rowptr[q + 1] - queries.rowptr[q]
        if n == 0:
            continue
        if first == 0:
            far = begin_query(ranks, queries, q)
            if far >= 0:
                return far
            prepare_query(kind, queries, n, pairing, loss, memory, swaps)
        end, stop = min(pairing.limit, n - 1), min(last, pairing.limit, n - 1)
        if loss is not None:
            add_pairs_of_loss(ranks, loss, n, first, stop, pairing.sigma)
        elif swaps is not None:
            add_pairs(
                kind, memory, swaps, n, first, last_changing(kind, n, stop, swaps.numbers), queries.discounts, pairing
            )
        else:
            add_pairs(kind, memory, swaps, n, first, stop, queries.discounts, pairing)
        if last >= end:
            unscaled = queries.inverse[q] * pairing.sigma
            scale = unscaled * sum_scale(2.0 * memory.total[0] * unscaled, pairing.by_sum)
            bend = scale * pairing.sigma * pairing.hessian
            write_gradients(queries, q, ranks.lambdas, ranks.hessians, scale, bend, grad, hess)
    return ALL_FINITE
