"""How measures change when two rows swap ranks: the weights of the pairs of one rank with each later rank.

After one pass over a query, running sums give each pair's change in a few operations, however far apart its ranks are.
A change is positive if the row at the upper rank has the larger gain. DCG's change needs no running sums, so that the
kernels compute it in their loops over pairs.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.objectives.kernels import LANES

# The weight of a pair. CATBOOST_ and YETIRANK_ are CatBoost 1.2.10's weights in LambdaMart and in YetiRank.
DCG, ONE, CLASSIC = range(3)  # the change of DCG, no weight, and YetiRank's weight without a measure: no running sums
XGBOOST_PRECISIONS, PRECISIONS, PRECISIONS_FOUND = range(3, 6)  # changes of AP; the last with divisor="found"
FIRST_RANK, CATBOOST_FIRST_RANK, YETIRANK_FIRST_RANK = range(6, 9)  # changes of RR
CASCADE, CATBOOST_CASCADE, YETIRANK_CASCADE = range(9, 12)  # changes of ERR
CATBOOST_PRECISIONS, YETIRANK_PRECISIONS = range(12, 14)  # changes of AP

# Arrays by rank: the `changes` when the current rank swaps with each later rank, and two running sums. `numbers` has,
# for AP, the sum of all precisions and the relevant rows above the cutoff; for RR, the first two relevant ranks.
Swaps = namedtuple("Swaps", "changes running sums numbers")  # noqa: PYI024 - numba knows this kind


def make_swaps(width: int) -> Swaps:
    """Allocate memory for queries of up to `width` rows."""
    changes, running, sums = (np.zeros(width + LANES) for _ in range(3))
    return Swaps(changes, running, sums, np.zeros(2))


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
    """AP x its divisor: a relevant row adds hits / a at the upper rank a, and hits / b at the lower rank b.

    While it is at a, every relevant row in between has one hit more.
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
def catboost_changes_of_precisions(relevant, i, n, in_yetirank, changes):
    """MAP: 1 / upper rank, and 1 / rank of each relevant row in between; no divisor.

    LambdaMart adds the rows in between only if the upper row is irrelevant.
    """
    upper_relevance, total = relevant[i], 1.0 / (i + 1.0)
    counted = 1.0 if in_yetirank else 1.0 - upper_relevance
    for j in range(i + 1, n):
        changes[j] = (upper_relevance - relevant[j]) * total
        total += counted * relevant[j] / (j + 1.0)


@jit(inline="always")
def xgboost_change_of_precision(upper_is_relevant, above, below, hits, sums):
    """(Number of relevant rows) x (change of AP when a relevant and an irrelevant row swap)."""
    between = sums[below] - sums[above + np.uint64(1)]
    if upper_is_relevant:
        return hits[above] / (above + 1.0) - hits[below] / (below + 1.0) + between
    # The relevant row moves up, so it is one more hit at the upper rank.
    return hits[below] / (below + 1.0) - (hits[above] + 1.0) / (above + 1.0) - between


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
def changes_of_first_rank(kind, relevant, i, n, reciprocals, firsts, changes):
    """RR, for a rank i that does not come after the first relevant rank.

    If a relevant row moves up, CatBoost takes 1 / the row's old rank as RR before the move. In YetiRank, it also takes
    1 / the new rank of a row that moves down as RR after the move.
    """
    first, second = np.int64(firsts[0]), np.int64(firsts[1])
    for j in range(i + 1, n):
        other = j
        if i == first and kind != YETIRANK_FIRST_RANK:
            other = min(j, second)
        elif kind == FIRST_RANK:
            other = first
        changes[j] = (relevant[i] - relevant[j]) * (reciprocals[i] - reciprocals[other])


@internal
def multiply_rests(chances, n, in_float32, looks, rests):
    """Write to `looks` the probability that a reader reaches each rank, and to `rests` that of continuing there."""
    look = 1.0
    for r in range(n):
        looks[r] = look
        rests[r] = np.float64(np.float32(1.0 - chances[r])) if in_float32 else 1.0 - chances[r]
        look *= rests[r]


@internal
def changes_of_cascade(chances, i, n, in_yetirank, discounts, looks, rests, changes):
    """ERR: for a reader past rank i, `look` is the probability to pass all ranks in between, `stop` their value.

    Nothing is divided, so a probability to stop may be 1. CatBoost's YetiRank rounds the value at rank i to float32.
    """
    upper_chance, rest, discount = chances[i], rests[i], discounts[i]
    look, stop = 1.0, 0.0
    for j in range(np.uint64(i + 1), np.uint64(n)):
        chance = chances[j]
        upper = discount * (upper_chance - chance)
        if in_yetirank:
            upper = np.float64(np.float32((upper_chance - chance) / (i + 1.0)))
        change = upper + (rest - rests[j]) * stop
        lost = looks[i] * abs(change + look * discounts[j] * (rest * chance - rests[j] * upper_chance))
        changes[j] = lost if upper_chance > chance else -lost
        stop += look * discounts[j] * chance
        look *= rests[j]


@internal
def catboost_changes_of_cascade(chances, i, n, looks, rests, changes):
    """ERR: the true change without the rows in between whose stop probability is that of rank i; partly in float32."""
    upper_chance, look, stop = np.float32(chances[i]), 1.0, 0.0
    for j in range(i + 1, n):
        difference = np.float32(chances[j]) - upper_chance
        changes[j] = 0.0
        if difference != 0:
            change = np.float64(-difference / np.float32(i + 1)) + stop * difference + look * difference / (j + 1.0)
            size = looks[i] * abs(change)
            changes[j] = -size if difference > 0 else size
            stop += look * chances[j] / (j + 1.0)
            look *= rests[j]


@internal
def prepare(kind, gains, n, discounts, swaps):
    """Compute the running sums of a query."""
    if kind <= PRECISIONS_FOUND:
        count_hits(gains, n, discounts, swaps.running, swaps.sums, swaps.numbers)
    elif kind <= YETIRANK_FIRST_RANK:
        find_first(gains, n, swaps.numbers)
    elif kind <= YETIRANK_CASCADE:
        multiply_rests(gains, n, kind == CATBOOST_CASCADE, swaps.running, swaps.sums)


@internal
def compute_changes(kind, gains, i, n, discounts, changes, running, sums, numbers):
    """Write the change of the measure when rank i swaps with each later rank; the last arguments are `Swaps`."""
    if kind <= PRECISIONS_FOUND:
        changes_of_precisions(gains, i, n, discounts, running, sums, changes)
        if kind == PRECISIONS_FOUND:
            divide_by_found(gains, i, n, discounts, numbers, changes)
    elif kind <= YETIRANK_FIRST_RANK:
        changes_of_first_rank(kind, gains, i, n, discounts, numbers, changes)
    elif kind == CATBOOST_CASCADE:
        catboost_changes_of_cascade(gains, i, n, running, sums, changes)
    elif kind <= YETIRANK_CASCADE:
        changes_of_cascade(gains, i, n, kind == YETIRANK_CASCADE, discounts, running, sums, changes)
    else:
        catboost_changes_of_precisions(gains, i, n, kind == YETIRANK_PRECISIONS, changes)


@internal
def last_changing(kind, n, last, firsts):
    """Return the end of the ranks whose swaps with later ranks matter: for RR, the first relevant rank, else `last`."""
    if kind < FIRST_RANK or kind > YETIRANK_FIRST_RANK:
        return last
    return min(last, np.int64(firsts[0]) + 1) if firsts[0] < n else 0
