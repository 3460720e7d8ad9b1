"""How measures change when two rows swap ranks: the weights of the pairs of one rank with each later rank.

After one pass over a query, running sums give each pair's change in a few operations, however far apart its ranks are.
A change is positive if the row at the upper rank has the larger gain. DCG's change needs no running sums, so that the
kernels compute it in their loops over pairs.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from rankadapters.core.ranking.jit import internal, jit

# The weight of a pair. `pairs.weigh` computes the first two, and the rest of this module those that need running sums.
# `replicas.add_pairs_in_turn` computes those of DCG and ONE once more. `make_swaps` reads the measure from the order.
# CATBOOST_ and YETIRANK_ are CatBoost 1.2.10's weights in LambdaMart and in YetiRank.
DCG, ONE, CLASSIC = range(3)  # the change of DCG, 1, and YetiRank's weight without a measure
XGBOOST_PRECISIONS, PRECISIONS, PRECISIONS_FOUND = range(3, 6)  # changes of AP; the last with divisor="found"
CATBOOST_PRECISIONS, YETIRANK_PRECISIONS = range(6, 8)  # changes of AP
FIRST_RANK, CATBOOST_FIRST_RANK, YETIRANK_FIRST_RANK = range(8, 11)  # changes of RR
CASCADE, CATBOOST_CASCADE, YETIRANK_CASCADE = range(11, 14)  # changes of ERR

# Arrays by rank: the `changes` when the current rank swaps with each later rank, and two running sums. `numbers` has,
# for AP, the sum of all precisions and the relevant rows above the cutoff; for RR, the first two relevant ranks.
Swaps = namedtuple("Swaps", "changes running sums numbers")  # noqa: PYI024 - numba knows this kind


def make_swaps(width: int, kind: int) -> tuple[Any, Any, Any]:
    """Allocate memory for queries of up to `width` rows as one of three arguments, for AP, RR and ERR; others are None.

    numba compiles kernels for the measure whose argument is not None. In a tuple, numba would count references to the
    arrays at every rank, which takes half as long as the pairs of a short query.
    """
    changes, running, sums = np.zeros((3, width + 1))
    swaps = Swaps(changes, running, sums, np.zeros(2))
    return (
        swaps if XGBOOST_PRECISIONS <= kind <= YETIRANK_PRECISIONS else None,
        swaps if FIRST_RANK <= kind <= YETIRANK_FIRST_RANK else None,
        swaps if CASCADE <= kind <= YETIRANK_CASCADE else None,
    )


@internal
def count_hits(relevant, reciprocals, hits, sums, numbers):
    """Write to `hits` how many rows are relevant up to each rank, and to `sums` the sum of 1 / rank of those above it.

    Also write to `numbers` the sum of all precisions, and the relevant rows above the cutoff.
    """
    n, count, total, precisions, relevant_inside = relevant.size, 0.0, 0.0, 0.0, 0.0
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
    between = sums[below] - sums[np.uint64(above) + np.uint64(1)]
    if upper_is_relevant:
        return hits[above] / (above + 1.0) - hits[below] / (below + 1.0) + between
    # The relevant row moves up, so it is one more hit at the upper rank.
    return hits[below] / (below + 1.0) - (hits[above] + 1.0) / (above + 1.0) - between


@internal
def find_first(relevant, firsts):
    """Write the ranks of the first two relevant rows; -1 if there is none, the number of rows if only one."""
    firsts[0], firsts[1] = -1, relevant.size
    count = 0
    for r in range(relevant.size):
        if relevant[r] > 0.0:
            firsts[count] = r
            count += 1
            if count == firsts.size:
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
def multiply_rests(chances, in_float32, looks, rests):
    """Write to `looks` the probability that a reader reaches each rank, and to `rests` that of continuing there."""
    look = 1.0
    for r in range(chances.size):
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


@internal(forceinline=True)
def prepare_changes(kind, gains, discounts, precisions, first_ranks, cascade):
    """Compute the running sums of a query; the last three arguments are as `make_swaps` returns them."""
    if precisions is not None:  # noqa: SIM102 - numba omits a branch only if its condition is nothing else
        if kind <= PRECISIONS_FOUND:
            count_hits(gains, discounts, precisions.running, precisions.sums, precisions.numbers)
    if first_ranks is not None:
        find_first(gains, first_ranks.numbers)
    if cascade is not None:
        multiply_rests(gains, kind == CATBOOST_CASCADE, cascade.running, cascade.sums)


@internal(forceinline=True)
def compute_changes(kind, gains, i, end, discounts, precisions, first_ranks, cascade):
    """Return the changes of the measure when rank i swaps with each later rank before `end`; None for DCG and ONE."""
    if precisions is not None:
        changes, hits, sums, numbers = precisions
        if kind >= CATBOOST_PRECISIONS:
            catboost_changes_of_precisions(gains, i, end, kind == YETIRANK_PRECISIONS, changes)
        elif kind != XGBOOST_PRECISIONS:
            changes_of_precisions(gains, i, end, discounts, hits, sums, changes)
        if kind == PRECISIONS_FOUND:
            divide_by_found(gains, i, end, discounts, numbers, changes)
        return changes
    if first_ranks is not None:
        changes_of_first_rank(kind, gains, i, end, discounts, first_ranks.numbers, first_ranks.changes)
        return first_ranks.changes
    if cascade is not None:
        changes, looks, rests, _ = cascade
        if kind == CATBOOST_CASCADE:
            catboost_changes_of_cascade(gains, i, end, looks, rests, changes)
        else:
            changes_of_cascade(gains, i, end, kind == YETIRANK_CASCADE, discounts, looks, rests, changes)
        return changes
    return None


@internal(forceinline=True)
def last_changing(last, first_ranks):
    """Return the end of the ranks whose swaps with later ranks matter: for RR, the first relevant rank, else `last`."""
    if first_ranks is not None:
        return min(last, np.int64(first_ranks.numbers[0]) + 1)
    return last
