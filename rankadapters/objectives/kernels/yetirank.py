"""YetiRank: gradients of the logistic loss of pairs, whose weights come from noisy rankings."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.objectives.kernels.changes import DCG, compute_changes, last_changing, prepare_changes
from rankadapters.objectives.kernels.queries import longest, row_at

SHARE = 0.15  # CatBoost's "magic const, like in GPU"
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # spreads hash keys over the upper bits
UPPER = np.uint64(32)
FREE = -1

# The pairs of a query: a hash table with open addressing, keyed by winner and loser, and its used slots, oldest first.
Pairs = namedtuple("Pairs", "keys weights listed")  # noqa: PYI024 - numba knows this kind

# How pairs are weighted; `kind` is one of `changes`. Each of the top `reach` ranks is paired with the next `neighbors`.
Permuting = namedtuple("Permuting", "kind permutations reach neighbors decay")  # noqa: PYI024 - as above


@internal
def room_for(n, permutations, neighbors):
    """Return the size of a query's hash table: a power of two, at least twice the number of pairs."""
    most = min(permutations * neighbors * n, n * (n - 1) // 2)
    room = 2
    while room < 2 * most:
        room *= 2
    return room


@internal
def add_pair(pairs, room, count, n, rows, gains, a, b, weight):
    """Add `weight` to the pair at ranks a and b, in which the larger gain wins; return the number of pairs so far."""
    winner, loser = (rows[a], rows[b]) if gains[a] > gains[b] else (rows[b], rows[a])
    key = np.int64(winner) * n + loser
    slot = np.int64((np.uint64(key) * GOLDEN) >> UPPER) & (room - 1)
    while pairs.keys[slot] != key and pairs.keys[slot] != FREE:
        slot = (slot + 1) & (room - 1)
    if pairs.keys[slot] == FREE:
        pairs.keys[slot], pairs.weights[slot] = key, np.float32(0.0)
        pairs.listed[count] = slot
        count += 1
    pairs.weights[slot] += weight
    return count


@internal(forceinline=True)
def weight_of(kind, gains, a, b, discounts, changes, share):
    """Return the weight of the pair at ranks a and b: the change of a measure or, under CLASSIC, of the labels."""
    if changes is not None:
        return changes[b]
    if kind == DCG:
        return (gains[a] - gains[b]) * (discounts[a] - discounts[b])
    return share * abs(np.float32(gains[a]) - np.float32(gains[b]))


@internal
def add_ranking(gains, rows, permuting, scale, discounts, precisions, first_ranks, cascade, pairs, room, count):
    """Add the pairs of one permutation; return the number of pairs so far.

    A pair's weight is the change of a measure when its rows swap or, under CLASSIC, for adjacent ranks, (difference of
    the labels) x (factor that decays by rank).
    """
    kind, neighbors, n, share = permuting.kind, permuting.neighbors, rows.size, SHARE
    prepare_changes(kind, gains, discounts, precisions, first_ranks, cascade)
    for a in range(last_changing(min(permuting.reach, n), first_ranks)):
        end = min(n, a + 1 + neighbors)
        changes = compute_changes(kind, gains, a, end, discounts, precisions, first_ranks, cascade)
        for b in range(a + 1, end):
            weight = np.float32(abs(scale * weight_of(kind, gains, a, b, discounts, changes, share)))
            if weight != 0.0 and gains[a] != gains[b]:
                count = add_pair(pairs, room, count, n, rows, gains, a, b, weight)
        share *= permuting.decay
    return count


@internal
def pull_apart(pairs, count, scores, permutations, pulls, bends):
    """Add the derivatives of the pairs' logistic losses, and empty the hash table."""
    n = scores.size
    for t in range(count):
        slot = pairs.listed[t]
        winner, loser = pairs.keys[slot] // n, pairs.keys[slot] % n
        pairs.keys[slot] = FREE
        weight = np.float64(pairs.weights[slot] / np.float32(permutations))
        ahead = scores[winner] - scores[loser]
        small = np.exp(-abs(ahead))
        push = weight * (small if ahead > 0.0 else 1.0) / (1.0 + small)
        bend = weight * small / ((1.0 + small) * (1.0 + small))
        pulls[winner] -= push
        pulls[loser] += push
        bends[winner] += bend
        bends[loser] += bend


@jit
def yetirank_gradients(queries, permuting, discounts, ranked, precisions, first_ranks, cascade, grad, hess):
    """Write the gradients of queries; `ranked` lists the rows of each noisy copy, best first.

    `precisions`, `first_ranks` and `cascade` are what `changes.make_swaps` returns.
    """
    indptr, copyptr, row_gains = queries.indptr, queries.copyptr, queries.gains
    width, permutations, neighbors = longest(indptr), permuting.permutations, permuting.neighbors
    room = room_for(width, permutations, min(neighbors, width))
    pairs = Pairs(np.full(room, FREE, np.int64), np.zeros(room, np.float32), np.empty(room // 2, np.int32))
    pulls, bends, gains = np.empty(width), np.empty(width), np.empty(width)
    for q in range(indptr.size - 1):
        start, n = indptr[q] - indptr[0], indptr[q + 1] - indptr[q]
        if copyptr[q * permutations] == copyptr[(q + 1) * permutations]:
            continue
        count, room = 0, room_for(n, permutations, min(neighbors, n))
        for p in range(q * permutations, (q + 1) * permutations):
            rows = ranked[copyptr[p] : copyptr[p + 1]]
            for r in range(n):
                gains[r] = row_gains[start + rows[r]]
            count = add_ranking(
                gains[:n], rows, permuting, queries.inverse[q], discounts, precisions, first_ranks, cascade, pairs,
                room, count,
            )  # fmt: skip
        for i in range(n):
            pulls[i] = bends[i] = 0.0
        pull_apart(pairs, count, queries.scores[start : start + n], permutations, pulls, bends)
        for i in range(n):
            row = row_at(queries.order, indptr[q] + i)
            grad[row], hess[row] = pulls[i], bends[i]
