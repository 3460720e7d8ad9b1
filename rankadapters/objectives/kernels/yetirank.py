"""YetiRank: gradients of the logistic loss of pairs, whose weights come from noisy rankings."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.objectives.kernels.queries import longest, row_at
from rankadapters.objectives.kernels.stochastic_rank import CASCADE, DISCOUNTED, SHARE_OF_FOUND

CLASSIC, CATBOOST_RR, CATBOOST_AP, CATBOOST_ERR = 10, 11, 12, 13  # pair weights other than a measure's true change
SHARE = 0.15  # CatBoost's "magic const, like in GPU"
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # spreads hash keys over the upper bits
UPPER = np.uint64(32)
FREE = -1

# The pairs of a query: a hash table with open addressing, keyed by winner and loser, and its used slots, oldest first.
Pairs = namedtuple("Pairs", "keys weights listed")  # noqa: PYI024 - numba knows this kind

# How pairs are weighted. Each of the top `reach` ranks is paired with the next `neighbors` ranks.
Permuting = namedtuple("Permuting", "kind permutations reach neighbors decay")  # noqa: PYI024 - as above

# One ranking: gains and probabilities to continue, by rank, and the rows themselves.
Permuted = namedtuple("Permuted", "gains rests rows")  # noqa: PYI024 - as above


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
    if weight == 0.0 or gains[a] == gains[b]:
        return count
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


@internal
def add_classic(permuted, permuting, pairs, room, count):
    """Add pairs of adjacent ranks, weighted by (difference of the labels) x (factor that decays by rank)."""
    (gains, _, rows), decay = permuted, permuting.decay
    n, share = rows.size, SHARE
    for a in range(n - 1):
        weight = np.float32(share * abs(np.float32(gains[a]) - np.float32(gains[a + 1])))
        count = add_pair(pairs, room, count, n, rows, gains, a, a + 1, weight)
        share *= decay
    return count


@internal
def add_discounted(permuted, permuting, scale, discounts, pairs, room, count):
    """Add pairs weighted by the change of DCG when they swap."""
    (gains, _, rows), reach, neighbors = permuted, permuting.reach, permuting.neighbors
    n = rows.size
    for a in range(min(reach, n)):
        for b in range(a + 1, min(n, a + 1 + neighbors)):
            change = scale * ((gains[a] - gains[b]) * (discounts[a] - discounts[b]))
            count = add_pair(pairs, room, count, n, rows, gains, a, b, np.float32(abs(change)))
    return count


@internal
def add_cascade(permuted, permuting, narrow, discounts, pairs, room, count):
    """Add pairs weighted by the change of ERR or PFound when they swap.

    With `narrow`, the term of the upper rank is rounded to float32, as in CatBoost.
    """
    (gains, rests, rows), reach, neighbors = permuted, permuting.reach, permuting.neighbors
    n, look = rows.size, 1.0
    for a in range(min(reach, n)):
        between, middle = 1.0, 0.0
        for b in range(a + 1, min(n, a + 1 + neighbors)):
            later = between * (rests[a] * gains[b] - rests[b] * gains[a]) * discounts[b]
            upper = (gains[a] - gains[b]) * discounts[a]
            if narrow:
                upper = np.float64(np.float32((gains[a] - gains[b]) / (a + 1.0)))
            change = look * (upper + middle * (rests[a] - rests[b]) + later)
            count = add_pair(pairs, room, count, n, rows, gains, a, b, np.float32(abs(change)))
            middle += between * gains[b] * discounts[b]
            between *= rests[b]
        look *= rests[a]
    return count


@internal
def found_sums(gains, n, discounts):
    """Return the sum of hits x discount over the relevant ranks above the cutoff, and the number of these ranks."""
    total, hits = 0.0, 0.0
    for r in range(n):
        if discounts[r] > 0.0:
            hits += gains[r]
            total += gains[r] * hits * discounts[r]
    return total, hits


@internal
def add_hits(permuted, permuting, scale, of_found, discounts, pairs, room, count):
    """Add pairs weighted by the change of AP when they swap; with `of_found`, AP's divisor is the hits in the top k."""
    (gains, _, rows), reach, neighbors = permuted, permuting.reach, permuting.neighbors
    n, above = rows.size, 0.0
    total, total_hits = found_sums(gains, n, discounts)
    for a in range(min(reach, n)):
        middle, hits = 0.0, above + 1.0
        for b in range(a + 1, min(n, a + 1 + neighbors)):
            change = (above + 1.0) * discounts[a] + middle - hits * discounts[b]
            if of_found:
                lost_hits = 1.0 if discounts[b] == 0.0 else 0.0
                signed, lost_hits = (change, lost_hits) if gains[a] > gains[b] else (-change, -lost_hits)
                change = total / max(total_hits, 1.0) - (total - signed) / max(total_hits - lost_hits, 1.0)
            weight = np.float32(abs(scale * change))
            count = add_pair(pairs, room, count, n, rows, gains, a, b, weight)
            middle += gains[b] * discounts[b]
            hits += gains[b]
        above += gains[a]
    return count


@internal
def add_as_catboost(permuted, permuting, precision, pairs, room, count):
    """Add pairs with CatBoost's weights for RR or, with `precision`, for AP."""
    (gains, _, rows), reach, neighbors = permuted, permuting.reach, permuting.neighbors
    n = rows.size
    for a in range(min(reach, n)):
        total = 1.0 / (a + 1.0)
        for b in range(a + 1, min(n, a + 1 + neighbors)):
            weight = np.float32(total if precision else total - 1.0 / (b + 1.0))
            count = add_pair(pairs, room, count, n, rows, gains, a, b, weight)
            if precision and gains[b] > 0.0:
                total += 1.0 / (b + 1.0)
        if not precision and gains[a] > 0.0:
            break
    return count


@internal
def add_pairs(permuted, permuting, scale, discounts, pairs, room, count):
    """Add the pairs of one permutation; return the number of pairs so far."""
    kind = permuting.kind
    if kind == CLASSIC:
        return add_classic(permuted, permuting, pairs, room, count)
    if kind == DISCOUNTED:
        return add_discounted(permuted, permuting, scale, discounts, pairs, room, count)
    if kind in (CASCADE, CATBOOST_ERR):
        return add_cascade(permuted, permuting, kind == CATBOOST_ERR, discounts, pairs, room, count)
    if kind in (CATBOOST_RR, CATBOOST_AP):
        return add_as_catboost(permuted, permuting, kind == CATBOOST_AP, pairs, room, count)
    of_found = kind == SHARE_OF_FOUND
    return add_hits(permuted, permuting, scale, of_found, discounts, pairs, room, count)


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
def yetirank_gradients(queries, permuting, discounts, ranked, grad, hess):
    """Write the gradients of queries; `ranked` lists the rows of each noisy copy, best first."""
    indptr, copyptr, row_gains, row_rests = queries.indptr, queries.copyptr, queries.gains, queries.rest
    width, permutations, neighbors = longest(indptr), permuting.permutations, permuting.neighbors
    room = room_for(width, permutations, min(neighbors, width))
    pairs = Pairs(np.full(room, FREE, np.int64), np.zeros(room, np.float32), np.empty(room // 2, np.int32))
    pulls, bends, gains, rests = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    for q in range(indptr.size - 1):
        start, n = indptr[q] - indptr[0], indptr[q + 1] - indptr[q]
        if copyptr[q * permutations] == copyptr[(q + 1) * permutations]:
            continue
        count, room = 0, room_for(n, permutations, min(neighbors, n))
        for p in range(q * permutations, (q + 1) * permutations):
            rows = ranked[copyptr[p] : copyptr[p + 1]]
            for r in range(n):
                gains[r] = row_gains[start + rows[r]]
                rests[r] = row_rests[start + rows[r]] if row_rests.size else 0.0
            permuted = Permuted(gains, rests, rows)
            count = add_pairs(permuted, permuting, queries.inverse[q], discounts, pairs, room, count)
        for i in range(n):
            pulls[i] = bends[i] = 0.0
        pull_apart(pairs, count, queries.scores[start : start + n], permutations, pulls, bends)
        for i in range(n):
            row = row_at(queries.order, indptr[q] + i)
            grad[row], hess[row] = pulls[i], bends[i]
