"""YetiRank: rankings under noise decide what the pairs weigh whose logistic loss is differentiated."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.kernels import internal, kernel
from rankadapters.objectives.kernels.generators import MULTIPLIER, draw_normals, real, started
from rankadapters.objectives.kernels.queries import longest, row_at
from rankadapters.objectives.kernels.stochastic_rank import CASCADE, DISCOUNTED, SHARE_OF_FOUND

CLASSIC, CATBOOST_RR, CATBOOST_AP, CATBOOST_ERR = 10, 11, 12, 13  # what a pair weighs, beside the changes of measures
LOGISTIC, GAUSS, NO_NOISE = 0, 1, 2
BEYOND_ONE = np.float32(1.000001)
SMALLEST_RATIO = 1e-300  # whose logarithm is finite
SHARE = 0.15  # CatBoost's "magic const, like in GPU"
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # spreads keys over the upper bits
UPPER = np.uint64(32)
FREE = -1

# The pairs of a query, found by winner and loser in an open hash table, and listed in the order in which they came.
Pairs = namedtuple("Pairs", "keys weights listed")  # noqa: PYI024 - numba knows this kind

# How rankings are drawn, and what their pairs weigh: `reach` ranks of the first row of a pair, each with the next
# `neighbors`.
Permuting = namedtuple("Permuting", "kind permutations reach neighbors decay noise power")  # noqa: PYI024 - as above

# One ranking: what the rows at the ranks are worth, the chances to go on beyond them, and which they are.
Permuted = namedtuple("Permuted", "worths rests rows")  # noqa: PYI024 - as above


@kernel
def noise_keys(queries, permuting, seeds, keys):
    """Write each query's scores with noise, once for each permutation.

    CatBoost multiplies exp(s); its logarithm ranks alike, and does not underflow.
    """
    scores, indptr, copyptr = queries.scores, queries.indptr, queries.copyptr
    permutations, noise, power = permuting.permutations, permuting.noise, permuting.power
    for q in range(indptr.size - 1):
        start, n = indptr[q] - indptr[0], indptr[q + 1] - indptr[q]
        begin, end = copyptr[q * permutations], copyptr[(q + 1) * permutations]
        if noise == LOGISTIC and end > begin:
            first, second, one, other = started(seeds[q])
            for i in range(begin, end):
                first, second = first * MULTIPLIER + one, second * MULTIPLIER + other
                uniform = np.float32(real(first, second))
                keys[i] = uniform / (BEYOND_ONE - uniform)
            for i in range(begin, end):
                keys[i] = np.log(max(keys[i], SMALLEST_RATIO))
        elif noise == GAUSS:
            draw_normals(seeds[q], end - begin, keys[begin:end])
            for i in range(begin, end):
                keys[i] *= power
        else:
            for i in range(begin, end):
                keys[i] = 0.0
        for p in range(begin, end, max(n, 1)):
            for i in range(n):
                keys[p + i] += scores[start + i]


@internal
def room_for(n, permutations, neighbors):
    """Size of a table for the pairs of a query, a power of two that is at least twice their number."""
    most = min(permutations * neighbors * n, n * (n - 1) // 2)
    room = 2
    while room < 2 * most:
        room *= 2
    return room


@internal
def add_pair(pairs, room, count, n, rows, worths, a, b, weight):
    """Add to the weight of the pair at the ranks a and b, which the row that is worth more wins; return how many."""
    if weight == 0.0 or worths[a] == worths[b]:
        return count
    winner, loser = (rows[a], rows[b]) if worths[a] > worths[b] else (rows[b], rows[a])
    key = np.int64(winner) * n + loser
    place = np.int64((np.uint64(key) * GOLDEN) >> UPPER) & (room - 1)
    while pairs.keys[place] != key and pairs.keys[place] != FREE:
        place = (place + 1) & (room - 1)
    if pairs.keys[place] == FREE:
        pairs.keys[place], pairs.weights[place] = key, np.float32(0.0)
        pairs.listed[count] = place
        count += 1
    pairs.weights[place] += weight
    return count


@internal
def add_classic(permuted, permuting, pairs, room, count):
    """Neighbours, by the difference of their labels and their rank."""
    (worths, _, rows), decay = permuted, permuting.decay
    n, share = rows.size, SHARE
    for a in range(n - 1):
        weight = np.float32(share * abs(np.float32(worths[a]) - np.float32(worths[a + 1])))
        count = add_pair(pairs, room, count, n, rows, worths, a, a + 1, weight)
        share *= decay
    return count


@internal
def add_discounted(permuted, permuting, scale, discounts, pairs, room, count):
    """By the change of a discounted sum."""
    (worths, _, rows), reach, neighbors = permuted, permuting.reach, permuting.neighbors
    n = rows.size
    for a in range(min(reach, n)):
        for b in range(a + 1, min(n, a + 1 + neighbors)):
            change = scale * ((worths[a] - worths[b]) * (discounts[a] - discounts[b]))
            count = add_pair(pairs, room, count, n, rows, worths, a, b, np.float32(abs(change)))
    return count


@internal
def add_cascade(permuted, permuting, narrow, discounts, pairs, room, count):
    """By the change of a discounted sum of a reader who goes on beyond each row with the chance `rests`.

    With `narrow` what the upper rank adds is rounded to float32, as in CatBoost.
    """
    (worths, rests, rows), reach, neighbors = permuted, permuting.reach, permuting.neighbors
    n, look = rows.size, 1.0
    for a in range(min(reach, n)):
        between, middle = 1.0, 0.0
        for b in range(a + 1, min(n, a + 1 + neighbors)):
            later = between * (rests[a] * worths[b] - rests[b] * worths[a]) * discounts[b]
            upper = (worths[a] - worths[b]) * discounts[a]
            if narrow:
                upper = np.float64(np.float32((worths[a] - worths[b]) / (a + 1.0)))
            change = look * (upper + middle * (rests[a] - rests[b]) + later)
            count = add_pair(pairs, room, count, n, rows, worths, a, b, np.float32(abs(change)))
            middle += between * worths[b] * discounts[b]
            between *= rests[b]
        look *= rests[a]
    return count


@internal
def found_sums(worths, n, discounts):
    """Hits up to each relevant rank that counts, discounted and added up, and how many there are."""
    total, hits = 0.0, 0.0
    for r in range(n):
        if discounts[r] > 0.0:
            hits += worths[r]
            total += worths[r] * hits * discounts[r]
    return total, hits


@internal
def add_hits(permuted, permuting, scale, of_found, discounts, pairs, room, count):
    """By the change of the hits up to each relevant rank; as a share of those found, where `of_found`."""
    (worths, _, rows), reach, neighbors = permuted, permuting.reach, permuting.neighbors
    n, above = rows.size, 0.0
    total, found = found_sums(worths, n, discounts)
    for a in range(min(reach, n)):
        middle, hits = 0.0, above + 1.0
        for b in range(a + 1, min(n, a + 1 + neighbors)):
            change = (above + 1.0) * discounts[a] + middle - hits * discounts[b]
            if of_found:
                gone = 1.0 if discounts[b] == 0.0 else 0.0
                signed, gone = (change, gone) if worths[a] > worths[b] else (-change, -gone)
                change = total / max(found, 1.0) - (total - signed) / max(found - gone, 1.0)
            weight = np.float32(abs(scale * change))
            count = add_pair(pairs, room, count, n, rows, worths, a, b, weight)
            middle += worths[b] * discounts[b]
            hits += worths[b]
        above += worths[a]
    return count


@internal
def add_as_catboost(permuted, permuting, precision, pairs, room, count):
    """Reciprocal ranks as CatBoost counts them: of the first relevant row, or of all in between (`precision`)."""
    (worths, _, rows), reach, neighbors = permuted, permuting.reach, permuting.neighbors
    n = rows.size
    for a in range(min(reach, n)):
        total = 1.0 / (a + 1.0)
        for b in range(a + 1, min(n, a + 1 + neighbors)):
            weight = np.float32(total if precision else total - 1.0 / (b + 1.0))
            count = add_pair(pairs, room, count, n, rows, worths, a, b, weight)
            if precision and worths[b] > 0.0:
                total += 1.0 / (b + 1.0)
        if not precision and worths[a] > 0.0:
            break
    return count


@internal
def add_pairs(permuted, permuting, scale, discounts, pairs, room, count):
    """Add the pairs of one permutation; return how many pairs there are."""
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
    """Add the derivatives of the pairs' logistic losses, and free the table."""
    n = scores.size
    for t in range(count):
        place = pairs.listed[t]
        winner, loser = pairs.keys[place] // n, pairs.keys[place] % n
        pairs.keys[place] = FREE
        weight = np.float64(pairs.weights[place] / np.float32(permutations))
        ahead = scores[winner] - scores[loser]
        small = np.exp(-abs(ahead))
        push = weight * (small if ahead > 0.0 else 1.0) / (1.0 + small)
        bend = weight * small / ((1.0 + small) * (1.0 + small))
        pulls[winner] -= push
        pulls[loser] += push
        bends[winner] += bend
        bends[loser] += bend


@kernel
def yetirank_gradients(queries, permuting, discounts, ranked, grad, hess):
    """Write the gradients of queries with room for copies; `ranked` has their rows under noise, best first."""
    indptr, copyptr, worth, rest = queries.indptr, queries.copyptr, queries.worth, queries.rest
    width, permutations, neighbors = longest(indptr), permuting.permutations, permuting.neighbors
    room = room_for(width, permutations, min(neighbors, width))
    pairs = Pairs(np.full(room, FREE, np.int64), np.zeros(room, np.float32), np.empty(room // 2, np.int32))
    pulls, bends, worths, rests = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    for q in range(indptr.size - 1):
        start, n = indptr[q] - indptr[0], indptr[q + 1] - indptr[q]
        if copyptr[q * permutations] == copyptr[(q + 1) * permutations]:
            continue
        count, room = 0, room_for(n, permutations, min(neighbors, n))
        for p in range(q * permutations, (q + 1) * permutations):
            rows = ranked[copyptr[p] : copyptr[p + 1]]
            for r in range(n):
                worths[r] = worth[start + rows[r]]
                rests[r] = rest[start + rows[r]] if rest.size else 0.0
            permuted = Permuted(worths, rests, rows)
            count = add_pairs(permuted, permuting, queries.inverse[q], discounts, pairs, room, count)
        for i in range(n):
            pulls[i] = bends[i] = 0.0
        pull_apart(pairs, count, queries.scores[start : start + n], permutations, pulls, bends)
        for i in range(n):
            row = row_at(queries.order, indptr[q] + i)
            grad[row], hess[row] = pulls[i], bends[i]
