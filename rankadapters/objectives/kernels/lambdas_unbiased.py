"""Lambda gradients of pairs that are divided by ratios of position bias, and what the pairs cost by position."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.kernels import inlined, internal, kernel
from rankadapters.core.kernels.ranked_rows import ALL_FINITE
from rankadapters.core.kernels.sorting import merge_sort
from rankadapters.objectives.kernels.lambdas import WIDEST, sum_scale
from rankadapters.objectives.kernels.lambdas_by_table import REACH, from_table
from rankadapters.objectives.kernels.lambdas_in_float32 import (
    DELTA_MAP,
    DELTA_NDCG,
    LARGEST_EXPONENT,
    draw_partners,
    first_state,
)
from rankadapters.objectives.kernels.trades import fill_changes, last_changing, prepare

FIRST_TRADE = 3  # `delta` of the first kind of trades; below are those of lambdas_in_float32
EXACT, BY_TABLE, IN_FLOAT32 = 0, 1, 2  # the arithmetic of the sigmoid
LEAST_RATIO = 1e-16  # a smaller one, or NaN, divides nothing
BEYOND = -1.0  # stands for the ratio of a row whose position has none

# As lambdas.Memory. `lambdas` and `hessians` hold float32 values but under EXACT; `plus` and `minus` are the ratios of
# the position of each rank, `gained` and `lost` what its pairs cost where it is the higher or the lower row.
Unbiased = namedtuple(  # noqa: PYI024 - for numba
    "Unbiased", "scores gains lambdas hessians relevant precisions plus minus gained lost"
)
Drawn = namedtuple("Drawn", "order left right deltas")  # noqa: PYI024 - for numba
Trades = namedtuple("Trades", "changes running sums found")  # noqa: PYI024 - of trades.Memory
Memory = namedtuple("Memory", "rows pairs total trades")  # noqa: PYI024 - for numba

# How to compute: the change that weighs a pair, the arithmetic, whether a pair's cost is that of the pair turned round,
# and how many rows each is paired with at random (0: pairs from the top).
Form = namedtuple("Form", "delta arithmetic mirrored samples")  # noqa: PYI024 - for numba


def make_memory(width: int) -> Memory:
    """Memory for queries of up to `width` rows."""
    order, left, right = (np.empty(width, np.int32) for _ in range(3))
    pairs = Drawn(order, left, right, np.empty(width))
    changes, running, sums = (np.empty(width + 1) for _ in range(3))
    rows = Unbiased(*(np.empty(width) for _ in Unbiased._fields))
    return Memory(rows, pairs, np.zeros(1), Trades(changes, running, sums, np.zeros(2)))


@inlined
def chances(arithmetic, distance, sigma, table):
    """Return the probabilities that a pair is ordered right, and wrong."""
    if arithmetic == IN_FLOAT32:
        falling = min(-np.float32(distance) * np.float32(sigma), LARGEST_EXPONENT)
        right = np.float64(np.float32(1.0) / (np.exp(falling) + np.float32(1.0)))
        return right, 1.0 - right
    if arithmetic == BY_TABLE:
        low = -REACH / sigma
        wrong = from_table(distance, table, low, table.size / (-low - low))
        return 1.0 - wrong, wrong
    rest = np.exp(-abs(sigma * distance))
    likely, unlikely = 1.0 / (1.0 + rest), rest / (1.0 + rest)
    return (likely, unlikely) if distance >= 0.0 else (unlikely, likely)


@inlined
def cost_of(form, right, wrong, distance, sigma):
    """-log of the probability that the pair is right or, mirrored, wrong."""
    if form.arithmetic == IN_FLOAT32:
        return np.log(1.0 / (wrong if form.mirrored else right))
    x = sigma * distance if form.mirrored else -sigma * distance
    return max(x, 0.0) + np.log1p(np.exp(-abs(x)))


@inlined
def change_of_precision(upper_is_relevant, above, below, relevant_above, relevant_below, between):
    """Change of the average precision of one relevant row and one that is not, times the relevant rows."""
    if upper_is_relevant:
        return relevant_above / (above + 1.0) - relevant_below / (below + 1.0) + between
    return relevant_below / (below + 1.0) - (relevant_above + 1.0) / (above + 1.0) - between


@internal
def find_deltas(form, rows, left, right, inverse_ideal, discounts, deltas):
    """Find what trading the places of each pair of ranks changes; rows of one gain are no pair."""
    gains, relevant, precisions, last = rows.gains, rows.relevant, rows.precisions, np.uint64(rows.gains.size - 1)
    for t in range(left.size):
        i, j = np.uint64(left[t]), np.uint64(right[t])
        deltas[t] = 1.0
        if form.delta == DELTA_NDCG and form.arithmetic == IN_FLOAT32:
            kept = gains[i] * discounts[i] + gains[j] * discounts[j]
            traded = gains[j] * discounts[i] + gains[i] * discounts[j]
            deltas[t] = abs(kept - traded) * inverse_ideal
        elif form.delta == DELTA_NDCG:
            deltas[t] = abs(gains[i] - gains[j]) * abs(discounts[i] - discounts[j]) * inverse_ideal
        elif form.delta == DELTA_MAP and gains[i] != gains[j]:
            above, below = (i, j) if i < j else (j, i)
            between = precisions[below - np.uint64(1)] - precisions[above]
            upper = gains[above] > gains[below]
            change = change_of_precision(upper, above, below, relevant[above], relevant[below], between)
            deltas[t] = abs(change) / relevant[last]


@internal
def add_unbiased_pairs(form, rows, left, right, deltas, pairing, table):
    """Add pairs of ranks to both rows, one after the other; return the sum of their lambdas."""
    scores, gains, lambdas, hessians, _, _, plus, minus, gained, lost = rows
    apart = pairing.slope > 0.0 and scores[0] != scores[np.uint64(scores.size - 1)]
    total, narrow = 0.0, form.arithmetic == IN_FLOAT32
    for t in range(left.size):
        i, j, delta = np.uint64(left[t]), np.uint64(right[t]), deltas[t]
        if gains[i] == gains[j]:
            continue
        high, low = (i, j) if gains[i] > gains[j] else (j, i)
        distance = scores[high] - scores[low]
        distance = np.float64(np.float32(distance)) if narrow else distance
        likely, unlikely = chances(form.arithmetic, distance, pairing.sigma, table)
        if apart:
            delta /= pairing.offset + abs(distance)
        push = -unlikely * (pairing.sigma * delta)
        bend = max(likely * unlikely, pairing.floor) * (pairing.sigma * pairing.sigma * delta) * pairing.hessian
        up, down = plus[high], minus[low]
        if up >= LEAST_RATIO and down >= LEAST_RATIO:
            push /= up * down
            bend /= up * down
        if not (up < 0.0 or down < 0.0):  # NaN has a position
            cost = cost_of(form, likely, unlikely, distance, pairing.sigma) * delta
            gained[high] += cost / down if down >= LEAST_RATIO else 0.0
            lost[low] += cost / up if up >= LEAST_RATIO else 0.0
        total -= 2.0 * (np.float64(np.float32(push)) if narrow else push)
        add(form.arithmetic, lambdas, hessians, high, low, push, bend)
    return total


@inlined
def add(arithmetic, lambdas, hessians, high, low, push, bend):
    """Add a pair to both rows, in float64 or, as the toolkits do, in float32."""
    if arithmetic == EXACT:
        lambdas[high] += push
        lambdas[low] -= push
        hessians[high] += bend
        hessians[low] += bend
    else:
        single, bent = np.float32(push), np.float32(bend)
        lambdas[high] = np.float32(lambdas[high]) + single
        lambdas[low] = np.float32(lambdas[low]) - single
        hessians[high] = np.float32(hessians[high]) + bent
        hessians[low] = np.float32(hessians[low]) + bent


@internal
def add_sampled(form, rows, seed, inverse_ideal, discounts, pairing, table, pairs):
    """As lambdas_in_float32.add_sampled_pairs."""
    n, total, first = rows.scores.size, 0.0, 0
    order, left, right, state = pairs.order[:n], pairs.left, pairs.right, first_state(seed)
    for r in range(n):
        order[r] = r
    merge_sort(rows.gains, order, right)
    while first < n:
        last = first + 1
        while last < n and rows.gains[order[last]] == rows.gains[order[first]]:
            last += 1
        count = last - first
        for _ in range(form.samples if count < n else 0):
            state = draw_partners(state, order, first, last, left, right)
            find_deltas(form, rows, left[:count], right, inverse_ideal, discounts, pairs.deltas)
            total += add_unbiased_pairs(form, rows, left[:count], right, pairs.deltas, pairing, table)
        first = last
    return total


@internal
def find_traded(kind, gains, i, inverse_ideal, discounts, trades, deltas):
    """Find the deltas of the pairs of rank i with later ones as trades has them."""
    fill_changes(kind, gains, i, gains.size, discounts, trades)
    for j in range(i + 1, gains.size):
        deltas[j - i - 1] = abs(trades.changes[j]) * inverse_ideal


@internal
def add_from_top(form, rows, first, last, total, inverse_ideal, discounts, pairing, table, pairs, trades):
    """As lambdas_in_float32.add_top_pairs."""
    n, left, right, kind = rows.scores.size, pairs.left, pairs.right, form.delta - FIRST_TRADE
    for r in range(n):
        right[r] = r
    for i in range(first, last_changing(kind, n, last, trades.found) if kind >= 0 else last):
        left[: n - i - 1] = i
        every, others = left[: n - i - 1], right[i + 1 : n]
        if kind >= 0:
            find_traded(kind, rows.gains, i, inverse_ideal, discounts, trades, pairs.deltas)
        else:
            find_deltas(form, rows, every, others, inverse_ideal, discounts, pairs.deltas)
        total += add_unbiased_pairs(form, rows, every, others, pairs.deltas, pairing, table)
    return total


@internal
def begin_unbiased(scores, gains, places, positions, ratios, rows):
    """Take a query's rows by rank with the ratios of their positions; none of their pairs is added yet."""
    relevant, precisions = 0.0, 0.0
    for r in range(rows.scores.size):
        rows.scores[r] = scores[r]
        rows.gains[r] = gains[r]
        relevant += gains[r]
        precisions += gains[r] / (r + 1.0)
        rows.relevant[r] = relevant
        rows.precisions[r] = precisions
        position = positions[places[r]]
        rows.plus[r] = ratios[0, position] if position < ratios.shape[1] else BEYOND
        rows.minus[r] = ratios[1, position] if position < ratios.shape[1] else BEYOND
        rows.lambdas[r] = 0.0
        rows.hessians[r] = 0.0
        rows.gained[r] = 0.0
        rows.lost[r] = 0.0


@kernel
def lambda_gradients_unbiased(
    scores, gains, ranked, rowptr, order, indptr, inverse_ideal, discounts, form, seed, pairing, table, positions,
    ratios, costs, first, last, memory, grad, hess,
):  # fmt: skip
    """As lambda_gradients_in_float32, in any arithmetic.

    Each pair is divided by `ratios[0]` at its higher row's position times `ratios[1]` at its lower row's. `positions`
    and the `costs` of the rows as higher and as lower rows are by place, as `ranked` is within a query.
    """
    every, pairs, carried, trades = memory
    for q in range(indptr.size - 1):
        place, n, start = rowptr[q], rowptr[q + 1] - rowptr[q], indptr[q]
        if n == 0:
            continue
        rows = Unbiased(
            every.scores[:n], every.gains[:n], every.lambdas[:n], every.hessians[:n], every.relevant[:n],
            every.precisions[:n], every.plus[:n], every.minus[:n], every.gained[:n], every.lost[:n],
        )  # fmt: skip
        places = ranked[place : place + n]
        if first == 0:
            begin_unbiased(scores[place : place + n], gains[place : place + n], places, positions[start:], ratios, rows)
            carried[0] = 0.0
            if form.delta >= FIRST_TRADE:
                prepare(form.delta - FIRST_TRADE, rows.gains, n, discounts, trades)
            if form.arithmetic == EXACT and rows.scores[0] - rows.scores[n - 1] > WIDEST:
                return order[start + places[n - 1]] if order.size else start + places[n - 1]
        inverse = inverse_ideal[q]
        if form.samples:
            add_sampled(form, rows, seed + q, inverse, discounts, pairing, table, pairs)
            scale = 1.0 / form.samples if pairing.by_sum else 1.0
        else:
            end, total = min(pairing.limit, n - 1), carried[0]
            total = add_from_top(
                form, rows, first, min(last, end), total, inverse, discounts, pairing, table, pairs, trades
            )
            carried[0] = total
            if last < end:
                continue
            scale = sum_scale(total, pairing.by_sum)
        if form.arithmetic == IN_FLOAT32:
            scale = np.float64(np.float32(scale))
        write(rows, places, order, start, scale, costs, grad, hess)
    return ALL_FINITE


@internal
def write(rows, places, order, start, scale, costs, grad, hess):
    """Write a query's gradients by row, and what its pairs cost by place."""
    for r in range(rows.scores.size):
        own = start + places[r]
        row = np.uint64(order[own] if order.size else own)
        grad[row] = rows.lambdas[r] * scale
        hess[row] = rows.hessians[r] * scale
        costs[0, own] = rows.gained[r]
        costs[1, own] = rows.lost[r]
