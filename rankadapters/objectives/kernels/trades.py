"""Lambda gradients for AP, RR and ERR: a pair is weighted by the measure's change when its two rows swap ranks.

After one pass over a query, running sums give each pair's change in a few operations, however far apart its ranks are.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import ALL_FINITE
from rankadapters.objectives.kernels.catboost_trades import (
    catboost_changes_of_cascade,
    catboost_changes_of_first_rank,
    catboost_changes_of_precisions,
)
from rankadapters.objectives.kernels.lambdas import Weighing, add_row, divided_ranks, end_query, keep_powers
from rankadapters.objectives.kernels.lanes import LANES
from rankadapters.objectives.kernels.queries import Ranks, begin_query, columns

PRECISIONS, PRECISIONS_FOUND, FIRST_RANK, CASCADE = range(4)
CATBOOST_PRECISIONS, CATBOOST_FIRST_RANK, CATBOOST_CASCADE = range(4, 7)

# Arrays by rank: `changes` when the current rank swaps with a later rank, two running sums, and `later`, which is 0 at
# the current rank and 1 at later ranks. `numbers` has two numbers per query, which depend on the measure.
Trades = namedtuple("Trades", "changes running sums later numbers")  # noqa: PYI024 - for numba

Memory = namedtuple("Memory", "ranks total trades")  # noqa: PYI024 - as lambdas.Memory


def make_trades(width: int) -> Trades:
    """Allocate the sums and changes of queries of up to `width` rows."""
    changes, running, sums = (np.zeros(width + LANES) for _ in range(3))
    return Trades(changes, running, sums, np.ones(width + LANES), np.zeros(2))


def make_memory(width: int) -> Memory:
    """Allocate memory for queries of up to `width` rows."""
    return Memory(columns(Ranks, width), np.zeros(1), make_trades(width))


@internal
def count_hits(relevant, n, reciprocals, hits, sums, numbers):
    """Write to `hits` how many rows are relevant up to each rank, and to `sums` the sum of 1 / rank of those above it.

    Also write to `numbers` the sum of all precisions, and the relevant rows above the cutoff.
    """
    count, total, precisions, relevant_inside = 0.0, 0.0, 0.0, 0.0
    for r in range(n):
        sums[r] = total
        count += relevant[r]
        total += relevant[r] * reciprocals[r]
        precisions += relevant[r] * count * reciprocals[r]
        relevant_inside += relevant[r] if reciprocals[r] > 0.0 else 0.0
        hits[r] = count
    sums[n] = total
    numbers[0], numbers[1] = precisions, relevant_inside


@internal
def changes_of_precisions(relevant, i, n, reciprocals, hits, sums, changes):
    """Write the loss of (AP x its divisor) when rank i swaps with each later rank.

    A relevant row adds hits / a at the upper rank a, and hits / b at the lower rank b. While it is at a, every relevant
    row in between has one hit more.
    """
    above = (hits[i] + 1.0 - relevant[i]) * reciprocals[i] - sums[i + 1]
    for j in range(np.uint64(i + 1), np.uint64(n)):
        lost = abs(above + sums[j] - hits[j] * reciprocals[j])
        changes[j] = (relevant[i] - relevant[j]) * lost


@internal
def divide_by_found(relevant, i, n, reciprocals, numbers, changes):
    """Turn changes of the sum of precisions into changes of AP with (relevant rows above the cutoff) as the divisor."""
    total, relevant_inside = numbers[0], numbers[1]
    before = total / relevant_inside if relevant_inside > 0.0 else 0.0
    counts = 1.0 if reciprocals[i] > 0.0 else 0.0
    for j in range(np.uint64(i + 1), np.uint64(n)):
        sign = relevant[i] - relevant[j]
        inside_after = relevant_inside - sign * (counts - (1.0 if reciprocals[j] > 0.0 else 0.0))
        after = (total - changes[j]) / inside_after if inside_after > 0.0 else 0.0
        changes[j] = sign * abs(before - after)


@internal
def find_first(relevant, n, firsts):
    """Write the ranks of the first and the second relevant row; n for one that does not exist."""
    firsts[0], firsts[1] = n, n
    for r in range(n):
        if relevant[r] > 0.0:
            firsts[1 if firsts[0] < n else 0] = r
            if firsts[1] < n:
                break


@internal
def changes_of_first_rank(relevant, i, n, reciprocals, firsts, changes):
    """Write the loss of RR when rank i swaps with each later rank; i must not come after the first relevant rank."""
    first, second = np.int64(firsts[0]), np.int64(firsts[1])
    for j in range(i + 1, n):
        moved = abs(reciprocals[first] - reciprocals[min(j, second) if i == first else i])
        changes[j] = (relevant[i] - relevant[j]) * moved


@internal
def multiply_rests(chances, n, in_float32, looks, rests):
    """Write to `looks` the probability that a reader reaches each rank, and to `rests` that of continuing there."""
    look = 1.0
    for r in range(n):
        looks[r] = look
        rests[r] = np.float64(np.float32(1.0 - chances[r])) if in_float32 else 1.0 - chances[r]
        look *= rests[r]


@internal
def changes_of_cascade(chances, i, n, discounts, looks, rests, changes):
    """Write the loss of ERR when rank i swaps with each later rank.

    For a reader past rank i, `look` is the probability to pass all ranks in between, and `stop` the value of these
    ranks. Nothing is divided, so a probability to stop may be 1.
    """
    upper_chance, rest, discount = chances[i], rests[i], discounts[i]
    look, stop = 1.0, 0.0
    for j in range(np.uint64(i + 1), np.uint64(n)):
        chance = chances[j]
        change = discount * (upper_chance - chance) + (rest - rests[j]) * stop
        lost = looks[i] * abs(change + look * discounts[j] * (rest * chance - rests[j] * upper_chance))
        changes[j] = lost if upper_chance > chance else -lost
        stop += look * discounts[j] * chance
        look *= rests[j]


@internal
def prepare(kind, gains, n, discounts, trades):
    """Compute the running sums of a query."""
    if kind <= PRECISIONS_FOUND:
        count_hits(gains, n, discounts, trades.running, trades.sums, trades.numbers)
    elif kind == FIRST_RANK or kind == CATBOOST_FIRST_RANK:  # noqa: PLR1714, SIM109 - numba searches a tuple slowly
        find_first(gains, n, trades.numbers)
    elif kind != CATBOOST_PRECISIONS:
        multiply_rests(gains, n, kind == CATBOOST_CASCADE, trades.running, trades.sums)


@internal
def fill_changes(kind, gains, i, n, discounts, trades):
    """Write the change of the measure when rank i swaps with each later rank."""
    changes, running, sums = trades.changes, trades.running, trades.sums
    if kind <= PRECISIONS_FOUND:
        changes_of_precisions(gains, i, n, discounts, running, sums, changes)
        if kind == PRECISIONS_FOUND:
            divide_by_found(gains, i, n, discounts, trades.numbers, changes)
    elif kind == FIRST_RANK:
        changes_of_first_rank(gains, i, n, discounts, trades.numbers, changes)
    elif kind == CASCADE:
        changes_of_cascade(gains, i, n, discounts, running, sums, changes)
    elif kind == CATBOOST_PRECISIONS:
        catboost_changes_of_precisions(gains, i, n, changes)
    elif kind == CATBOOST_FIRST_RANK:
        catboost_changes_of_first_rank(gains, i, n, trades.numbers, changes)
    else:
        catboost_changes_of_cascade(gains, i, n, running, sums, changes)


@internal
def last_changing(kind, n, last, firsts):
    """Return the end of the ranks whose swaps with later ranks matter: for RR, the first relevant rank, else `last`."""
    if kind != FIRST_RANK and kind != CATBOOST_FIRST_RANK:  # noqa: PLR1714 - as above
        return last
    return min(last, np.int64(firsts[0]) + 1) if firsts[0] < n else 0


@internal
def add_trades(kind, memory, n, first, last, discounts, pairing):
    """Same as `lambdas.add_pairs`, for AP, RR and ERR."""
    trades, gains, total = memory.trades, memory.ranks.gains, memory.total[0]
    # add_row weights a pair by (later[i] - later[j]) * (changes[i] - changes[j]), which is (0 - 1) * (0 - changes[j]).
    ranks, offset = divided_ranks(memory.ranks, trades.changes, n, pairing)
    weighing = Weighing(trades.later, False, offset, pairing.floor)  # noqa: FBT003 - numba knows no keywords here
    for i in range(np.uint64(first), np.uint64(last_changing(kind, n, last, trades.numbers))):
        keep_powers(memory.ranks, i, n, pairing.sigma)
        fill_changes(kind, gains, np.int64(i), n, discounts, trades)
        trades.changes[i], trades.later[i] = 0.0, 0.0
        total += add_row(ranks, weighing, i, n)
        trades.later[i] = 1.0
    memory.total[0] = total
    return total


@jit
def trade_gradients(queries, kind, pairing, first, last, memory, grad, hess):
    """Same as `lambdas.lambda_gradients`, for AP, RR and ERR; `kind` selects the measure."""
    for q in range(queries.indptr.size - 1):
        n = queries.rowptr[q + 1] - queries.rowptr[q]
        if n == 0:
            continue
        if first == 0:
            far = begin_query(memory.ranks, queries, q)
            if far >= 0:
                return far
            memory.total[0] = 0.0
            prepare(kind, memory.ranks.gains, n, queries.discounts, memory.trades)
        end = min(pairing.limit, n - 1)
        total = add_trades(kind, memory, n, first, min(last, end), queries.discounts, pairing)
        if last >= end:
            end_query(memory.ranks, queries, q, total, pairing, grad, hess)
    return ALL_FINITE
