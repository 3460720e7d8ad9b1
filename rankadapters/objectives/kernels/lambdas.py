"""Lambda gradients of all pairs with a row in the top ranks, computed with one division and no exponential per pair."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import ALL_FINITE
from rankadapters.objectives.kernels.exponentials import exponentials
from rankadapters.objectives.kernels.lanes import (
    LANES,
    at,
    load,
    magnitude,
    only_at,
    only_first,
    pick,
    same,
    store,
    where_greater,
)
from rankadapters.objectives.kernels.queries import (
    Ranks,
    add_lanes,
    begin_query,
    columns,
    sum_scale,
    write_gradients,
)

# Settings of all pairs. Each pair's delta is divided by `offset + slope * score distance`. `by_sum` scales a query by
# log2(1 + S) / S, where S sums the query's lambdas. `floor` bounds p (1 - p) from below. `common` is the gain of most
# rows, or NaN; pairs of two rows of this gain have no gradient and are skipped.
Pairing = namedtuple("Pairing", "limit sigma offset slope by_sum hessian floor common")  # noqa: PYI024 - numba knows this kind

# Weights of a query's pairs: the change of DCG under `discounts`, or 1 with `unit`. They are divided by `offset` plus
# the score distance (0 without normalization).
Weighing = namedtuple("Weighing", "discounts unit offset floor")  # noqa: PYI024 - as above

# Working memory for one query. The caller owns it, so that a query can take several calls, and Ctrl-C works between
# them. `total[0]` is the sum of the lambdas' magnitudes so far. `listed` has `count[0]` ranks without the common gain.
Memory = namedtuple("Memory", "ranks total listed count late")  # noqa: PYI024 - as above
Late = namedtuple("Late", "pushes bends")  # noqa: PYI024 - as above

FEWEST = 8  # from this many pairs on, a row adds them four at a time, and only the rest one by one
LISTED_SHARE = 4  # ranks without the common gain are listed if they are at most 1 in 4
SMALLEST_POWER = 1e-100  # its square does not underflow, and the square of its inverse does not overflow


def make_memory(width: int) -> Memory:
    """Allocate memory for queries of up to `width` rows."""
    listed, count = np.empty(width + LANES, np.int32), np.zeros(1, np.int64)
    return Memory(columns(Ranks, width), np.zeros(1), listed, count, columns(Late, FEWEST))


@internal(forceinline=True)
def changes(gain, gains, discount, discounts, unit):
    """Return, for four pairs, the change of DCG when the rows swap or, with `unit`, the sign of gain - other gain."""
    if unit:
        none, one = same(0.0), same(1.0)
        return where_greater(gain, gains, one, none) - where_greater(gains, gain, one, none)
    return (discount - discounts) * (gain - gains)


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
def add_in_turn(total, values):
    """Add four numbers to `total` one after the other."""
    return total + at(values, 0) + at(values, 1) + at(values, 2) + at(values, 3)


@internal(forceinline=True)
def add_row(ranks, weighing, i, n):
    """Add the lambdas and hessians of the pairs of rank i with later ranks; return the sum of lambda magnitudes."""
    scores, powers, gains, lambdas, hessians, _ = ranks
    discounts, unit = weighing.discounts, weighing.unit
    score, power, gain = same(scores[i]), same(powers[i]), same(gains[i])
    discount, offset, floor = same(0.0 if unit else discounts[i]), same(weighing.offset), same(weighing.floor)
    pulls, curvatures, sizes = same(0.0), same(0.0), same(0.0)
    later = np.uint64(n) - i - np.uint64(1)
    end = np.uint64(n) - (later % np.uint64(LANES) if later >= np.uint64(FEWEST) else later)
    j = i + np.uint64(1)
    while j < end:
        delta = changes(gain, load(gains, j), discount, discount if unit else load(discounts, j), unit)
        push, bend = pull_apart(delta, power, load(powers, j), score, load(scores, j), offset, floor)
        store(lambdas, j, load(lambdas, j) + push)
        store(hessians, j, load(hessians, j) + bend)
        pulls = pulls + push
        curvatures = curvatures + bend
        sizes = sizes + magnitude(push)
        j += np.uint64(LANES)
    pull, curvature, size = add_lanes(pulls), add_lanes(curvatures), add_lanes(sizes)
    while j < np.uint64(n):
        delta = changes(gain, load(gains, j), discount, discount if unit else load(discounts, j), unit)
        delta = only_first(delta, np.uint64(n) - j)
        push, bend = pull_apart(delta, power, load(powers, j), score, load(scores, j), offset, floor)
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
def add_listed(ranks, weighing, i, n, listed, late, first, count):
    """Same as `add_row` for a rank i with the common gain, but add only its pairs with the ranks listed[first:count].

    The other pairs of rank i would add 0. Skipping them changes no bit: the listed pairs are added in the same lanes.
    """
    scores, powers, gains, lambdas, hessians, _ = ranks
    discounts, unit = weighing.discounts, weighing.unit
    score, power, gain = same(scores[i]), same(powers[i]), same(gains[i])
    discount, offset, floor = same(0.0 if unit else discounts[i]), same(weighing.offset), same(weighing.floor)
    later = np.uint64(n) - i - np.uint64(1)
    end = np.uint64(n) - (later % np.uint64(LANES) if later >= np.uint64(FEWEST) else later)
    pulls, curvatures, sizes = same(0.0), same(0.0), same(0.0)
    for t in range(np.uint64(LANES)):
        listed[count + t] = i  # fills the last lanes: a pair of a row with itself adds 0
    t, n_late = first, np.uint64(0)
    while t < count:
        delta = changes(gain, pick(gains, listed, t), discount, discount if unit else pick(discounts, listed, t), unit)
        other_powers = pick(powers, listed, t)
        push, bend = pull_apart(delta, power, other_powers, score, pick(scores, listed, t), offset, floor)
        for lane in range(LANES):
            j, lambda_of_pair, hessian_of_pair = np.uint64(listed[t]), at(push, lane), at(bend, lane)
            lambdas[j] += lambda_of_pair
            hessians[j] += hessian_of_pair
            lane_in_row = (j - i - np.uint64(1)) % np.uint64(LANES)
            if j < end:
                pulls = pulls + only_at(lambda_of_pair, lane_in_row)
                curvatures = curvatures + only_at(hessian_of_pair, lane_in_row)
                sizes = sizes + only_at(abs(lambda_of_pair), lane_in_row)
            else:
                late.pushes[n_late], late.bends[n_late] = lambda_of_pair, hessian_of_pair
                n_late += np.uint64(1)
            t += np.uint64(1)
    pull, curvature, size = add_lanes(pulls), add_lanes(curvatures), add_lanes(sizes)
    for t in range(n_late):
        pull += late.pushes[t]
        curvature += late.bends[t]
        size += abs(late.pushes[t])
    lambdas[i] -= pull
    hessians[i] += curvature
    return size


@internal(forceinline=True)
def divided_ranks(ranks, gains, n, pairing):
    """Return `ranks` with new gains, and an offset: pairs are divided by offset + distance of the returned scores."""
    divided = pairing.slope > 0.0 and ranks.scores[0] != ranks.scores[n - 1]
    scores = ranks.scores if divided else ranks.zeros
    offset = pairing.offset if divided else 1.0
    return Ranks(scores, ranks.powers, gains, ranks.lambdas, ranks.hessians, ranks.zeros), offset


@internal(forceinline=True)
def keep_powers(ranks, i, n, sigma):
    """Recompute the powers relative to the score of rank i if i is 0, or if the powers have become too small."""
    if i == 0 or ranks.powers[i] < SMALLEST_POWER:
        exponentials(ranks.scores, np.int64(i), n, sigma, ranks.powers)


@internal
def add_pairs(memory, n, first, last, discounts, unit, pairing):
    """Add all pairs of ranks `first` to `last - 1` with later ranks; return the sum of lambda magnitudes so far."""
    ranks, offset = divided_ranks(memory.ranks, memory.ranks.gains, n, pairing)
    weighing, total = Weighing(discounts, unit, offset, pairing.floor), memory.total[0]
    listed, count, ahead = memory.listed, memory.count[0], np.uint64(0)
    for i in range(np.uint64(first), np.uint64(last)):
        keep_powers(memory.ranks, i, n, pairing.sigma)
        if count >= 0 and ranks.gains[i] == pairing.common:
            while ahead < np.uint64(count) and np.uint64(listed[ahead]) < i:
                ahead += np.uint64(1)
            total += add_listed(ranks, weighing, i, n, listed, memory.late, ahead, np.uint64(count))
        else:
            total += add_row(ranks, weighing, i, n)
    memory.total[0] = total
    return total


@internal(forceinline=True)
def end_query(ranks, queries, q, total, pairing, grad, hess):
    """Scale a query's lambdas and hessians, and write them to the gradients of its rows."""
    unscaled = queries.inverse[q] * pairing.sigma
    scale = unscaled * sum_scale(2.0 * total * unscaled, pairing.by_sum)
    bend = scale * pairing.sigma * pairing.hessian
    write_gradients(queries, q, ranks.lambdas, ranks.hessians, scale, bend, grad, hess)


@jit
def lambda_gradients(queries, unit, pairing, first, last, memory, grad, hess):
    """Write the gradients of every query that has any.

    A call adds only the pairs of ranks `first` to `last - 1`. It loads its queries if `first` is 0, and writes those
    whose ranks are all done. Return a row whose score is too far from others of its query, or -1.
    """
    for q in range(queries.indptr.size - 1):
        n = queries.rowptr[q + 1] - queries.rowptr[q]
        if n == 0:
            continue
        if first == 0:
            far = begin_query(memory.ranks, queries, q)
            if far >= 0:
                return far
            memory.total[0] = 0.0
            memory.count[0] = -1
            if not np.isnan(pairing.common):
                memory.count[0] = list_uncommon(memory.ranks.gains, n, pairing.common, memory.listed)
        end = min(pairing.limit, n - 1)
        total = add_pairs(memory, n, first, min(last, end), queries.discounts, unit, pairing)
        if last >= end:
            end_query(memory.ranks, queries, q, total, pairing, grad, hess)
    return ALL_FINITE
