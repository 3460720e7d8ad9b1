"""Lambda gradients whose pairs are added one by one, as in XGBoost: pairs of the top ranks, or random pairs.

XGBoost's sums are float32. Under a position bias, pairs are divided by its ratios, with any arithmetic of the sigmoid.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import ALL_FINITE
from rankadapters.objectives.kernels.lambdas_unbiased import (
    EXACT,
    IN_FLOAT32,
    Shares,
    add_unbiased_pairs,
    begin_bias,
    float32_sigmoid,
    write_costs,
)
from rankadapters.objectives.kernels.pair_draws import draw_partners, end_of_grade, first_state, sort_by_grade
from rankadapters.objectives.kernels.queries import WIDEST, columns, row_at, sum_scale, write_gradients
from rankadapters.objectives.kernels.trades import fill_changes, last_changing, make_trades, prepare

DELTA_NDCG, DELTA_ONE, DELTA_MAP = 0, 1, 2
FIRST_TRADE = 3  # FIRST_TRADE + a kind in trades.py selects another measure's change; used here only under a bias

# Settings: the code of the pair weight, the number of random partners of each row (0 for pairs of the top ranks), and
# the arithmetic of the sigmoid.
Form = namedtuple("Form", "delta samples arithmetic")  # noqa: PYI024 - for numba

# One query, in arrays by rank. For MAP also the number of relevant rows, and the sum of gain / rank, up to each rank.
InTurn = namedtuple("InTurn", "scores gains lambdas hessians relevant precisions")  # noqa: PYI024 - as above
Pairs = namedtuple("Pairs", "order left right")  # noqa: PYI024 - as above
Memory = namedtuple("Memory", "ranks total pairs deltas shares trades")  # noqa: PYI024 - as lambdas.Memory


def make_memory(width: int) -> Memory:
    """Allocate memory for queries of up to `width` rows."""
    lambdas, hessians = np.empty(width, np.float32), np.empty(width, np.float32)
    ranks = InTurn(np.empty(width), np.empty(width), lambdas, hessians, np.empty(width), np.empty(width))
    pairs = Pairs(np.empty(width, np.int32), np.empty(width, np.int32), np.empty(width, np.int32))
    return Memory(ranks, np.zeros(1), pairs, np.empty(width), None, None)


def make_biased_memory(width: int) -> Memory:
    """Allocate memory for queries of up to `width` rows under a position bias; lambdas are stored as float64."""
    ranks, shares = columns(InTurn, width), columns(Shares, width)
    return make_memory(width)._replace(ranks=ranks, shares=shares, trades=make_trades(width))


@jit(inline="always")
def change_of_precision(upper_is_relevant, above, below, relevant_above, relevant_below, between):
    """Return (number of relevant rows) x (change of AP when a relevant and an irrelevant row swap)."""
    if upper_is_relevant:
        return relevant_above / (above + 1.0) - relevant_below / (below + 1.0) + between
    # The relevant row moves up, so it is one more hit at the upper rank.
    return relevant_below / (below + 1.0) - (relevant_above + 1.0) / (above + 1.0) - between


# For speed, arrays are read from named tuples before the loop, and functions of a single pair take no tuples: each
# access would count a reference, which takes ten times as long as the rest of the loop.
@internal(forceinline=True)
def keep_pairs(form, memory, n, count, inverse_ideal, discounts):
    """Drop pairs of equal gains, put the larger gain on the left, compute deltas; return how many pairs are left.

    For the measures of trades.py, `deltas` must be computed already.
    """
    _, gains, _, _, relevant, precisions = memory.ranks
    (_, left, right), deltas, n_kept = memory.pairs, memory.deltas, 0
    for t in range(count):
        i, j = np.uint64(left[t]), np.uint64(right[t])
        if gains[i] == gains[j]:
            continue
        high, low = (i, j) if gains[i] > gains[j] else (j, i)
        delta = deltas[t] if form.delta >= FIRST_TRADE else 1.0
        if form.delta == DELTA_NDCG and form.arithmetic == IN_FLOAT32:
            stay = gains[high] * discounts[high] + gains[low] * discounts[low]
            traded = gains[low] * discounts[high] + gains[high] * discounts[low]
            delta = abs(stay - traded) * inverse_ideal
        elif form.delta == DELTA_NDCG:
            delta = abs(gains[high] - gains[low]) * abs(discounts[high] - discounts[low]) * inverse_ideal
        elif form.delta == DELTA_MAP:
            above, below = min(high, low), max(high, low)
            between = precisions[below - np.uint64(1)] - precisions[above]
            change = change_of_precision(high == above, above, below, relevant[above], relevant[below], between)
            delta = abs(change) / relevant[np.uint64(n - 1)]
        left[n_kept], right[n_kept], deltas[n_kept] = high, low, delta
        n_kept += 1
    return n_kept


@internal
def add_float32_pairs(scores, lambdas, hessians, n, higher, lower, deltas, pairing):
    """Add each pair's lambda and hessian to both rows, one pair at a time; return the sum of lambda magnitudes."""
    apart = pairing.slope > 0.0 and scores[0] != scores[np.uint64(n - 1)]
    total = 0.0
    for t in range(higher.size):
        high, low, delta = np.uint64(higher[t]), np.uint64(lower[t]), deltas[t]
        ahead = np.float32(scores[high] - scores[low])
        p = float32_sigmoid(ahead, pairing.sigma)
        if apart:
            delta /= abs(np.float64(ahead)) + pairing.offset
        push = np.float32((p - 1.0) * delta * pairing.sigma)
        bend = np.float32(max(p * (1.0 - p), pairing.floor) * delta * pairing.hessian * pairing.sigma * pairing.sigma)
        lambdas[high] += push
        lambdas[low] -= push
        hessians[high] += bend
        hessians[low] += bend
        total += -2.0 * push
    return total


@internal(forceinline=True)
def add_pairs(form, queries, q, memory, n, count, pairing, bias):
    """Add the pairs in `memory.pairs`, except pairs of equal gains; return the sum of lambda magnitudes."""
    ranks, deltas = memory.ranks, memory.deltas
    count = keep_pairs(form, memory, n, count, queries.inverse[q], queries.discounts)
    higher, lower = memory.pairs.left[:count], memory.pairs.right[:count]
    if bias is None:
        return add_float32_pairs(ranks.scores, ranks.lambdas, ranks.hessians, n, higher, lower, deltas, pairing)
    return add_unbiased_pairs(form.arithmetic, ranks, memory.shares, n, higher, lower, deltas, pairing, bias)


@internal
def add_sampled_pairs(form, queries, q, memory, n, pairing, bias):
    """Pair each row with `samples` random rows of other grades, as XGBoost's `mean` does, and add the pairs."""
    gains, order, left, right = memory.ranks.gains, memory.pairs.order[:n], memory.pairs.left, memory.pairs.right
    state, first = first_state(queries.seed + q), 0
    sort_by_grade(gains, order, right)
    while first < n:
        last = end_of_grade(gains, order, first)
        for _ in range(form.samples if last - first < n else 0):
            state = draw_partners(state, order, first, last, left, right)
            add_pairs(form, queries, q, memory, n, last - first, pairing, bias)
        first = last


@internal
def compute_swap_deltas(kind, gains, i, n, inverse_ideal, discounts, trades, deltas):
    """Compute the deltas of the pairs of rank i with later ranks, for a measure of trades.py."""
    fill_changes(kind, gains, i, n, discounts, trades)
    for j in range(i + 1, n):
        deltas[j - i - 1] = abs(trades.changes[j]) * inverse_ideal


@internal
def add_top_pairs(form, queries, q, memory, n, first, last, pairing, bias):
    """Add all pairs of ranks `first` to `last - 1` with later ranks; return the sum of lambda magnitudes so far."""
    left, right, trades, total = memory.pairs.left, memory.pairs.right, memory.trades, memory.total[0]
    kind = form.delta - FIRST_TRADE
    if bias is not None:  # numba omits this branch from a kernel without bias
        last = last_changing(kind, n, last, trades.numbers)
    for i in range(first, last):
        for j in range(i + 1, n):
            left[j - i - 1], right[j - i - 1] = i, j
        if bias is not None and kind >= 0:
            gains, inverse = memory.ranks.gains, queries.inverse[q]
            compute_swap_deltas(kind, gains, i, n, inverse, queries.discounts, trades, memory.deltas)
        total += add_pairs(form, queries, q, memory, n, n - i - 1, pairing, bias)
    memory.total[0] = total
    return total


@internal
def load_query(ranks, queries, q, n):
    """Copy query q to `ranks`, in rank order, with lambdas and hessians of 0."""
    start, relevant, precisions = queries.rowptr[q], 0.0, 0.0
    scores, gains = queries.scores, queries.gains
    for r in range(n):
        ranks.scores[r] = scores[start + r]
        ranks.gains[r] = gains[start + r]
        ranks.lambdas[r] = 0.0
        ranks.hessians[r] = 0.0
        relevant += ranks.gains[r]
        precisions += ranks.gains[r] / (r + 1.0)
        ranks.relevant[r] = relevant
        ranks.precisions[r] = precisions


@jit
def lambda_gradients_in_turn(queries, form, pairing, bias, first, last, memory, grad, hess):
    """Same as `lambdas.lambda_gradients`; `bias` is None or a `Bias` whose ratios divide the pairs."""
    ranks = memory.ranks
    for q in range(queries.indptr.size - 1):
        n = queries.rowptr[q + 1] - queries.rowptr[q]
        if n == 0:
            continue
        if first == 0:
            load_query(ranks, queries, q, n)
            memory.total[0] = 0.0
            if bias is not None:
                begin_bias(memory.shares, queries, q, n, bias)
                if form.delta >= FIRST_TRADE:
                    prepare(form.delta - FIRST_TRADE, ranks.gains, n, queries.discounts, memory.trades)
                if form.arithmetic == EXACT and ranks.scores[0] - ranks.scores[n - 1] > WIDEST:
                    return row_at(queries.order, queries.indptr[q] + queries.rows[queries.rowptr[q + 1] - 1])
        if form.samples:
            add_sampled_pairs(form, queries, q, memory, n, pairing, bias)
            scale = 1.0 / form.samples if pairing.by_sum else 1.0
        else:
            end = min(pairing.limit, n - 1)
            total = add_top_pairs(form, queries, q, memory, n, first, min(last, end), pairing, bias)
            if last < end:
                continue
            scale = sum_scale(total, pairing.by_sum)
        if form.arithmetic == IN_FLOAT32:
            scale = np.float64(np.float32(scale))
        write_gradients(queries, q, ranks.lambdas, ranks.hessians, scale, scale, grad, hess)
        if bias is not None:
            write_costs(memory.shares, queries, q, n, bias.costs)
    return ALL_FINITE
