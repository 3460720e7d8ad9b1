"""StochasticRank: what moving one row through all places of a noisy ranking changes of a measure."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import internal, kernel
from rankadapters.core.kernels.ranked_rows import ALL_FINITE
from rankadapters.objectives.kernels.generators import draw_normals
from rankadapters.objectives.kernels.lambdas import longest

# What a measure adds up: gains, chances to stop, or hits up to each relevant rank, which those found may divide.
DISCOUNTED, CASCADE, HITS, SHARE_OF_FOUND = 0, 1, 2, 3
FAITHFUL, AS_CATBOOST, CATBOOST_ERR, CATBOOST_PFOUND = 0, 1, 2, 3
FEWEST = 3  # rows of which scores and derivatives have more than one direction
WIDEST = 1e300  # scores further apart than this have no distance to reckon with
ROOT_2_PI = np.sqrt(2.0 * np.pi)


@kernel
def noisy_scores(scores, labels, indptr, noisyptr, estimations, sigma, mu, seeds, means, noisy):
    """Centre each query's scores, less `sigma mu` times the label, as `means`, and add normal noise to them.

    `noisyptr` has a place for each estimation of each query, and room for queries with a gradient only. Returns a place
    whose score is too far from the others of its query, else -1.
    """
    for q in range(indptr.size - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        begin, end = noisyptr[q * estimations], noisyptr[(q + 1) * estimations]
        if begin == end:
            continue
        top, lowest = scores[start], start
        for i in range(start, start + n):
            top = max(top, scores[i])
            lowest = i if scores[i] < scores[lowest] else lowest
        if top - scores[lowest] > WIDEST:
            return lowest
        mean = 0.0
        for i in range(start, start + n):
            means[i] = (scores[i] - top) - sigma * mu * labels[i]
            mean += means[i] / n
        for i in range(start, start + n):
            means[i] -= mean
        draw_normals(seeds[q], end - begin, noisy[begin:end])
        for i in range(end - begin):
            noisy[begin + i] = means[start + i % n] + sigma * noisy[begin + i]
    return ALL_FINITE


@internal
def density(x):
    """Of the standard normal distribution, times the root of 2 pi."""
    return np.exp(-0.5 * x * x)


@internal
def discounted_sum(worth, place, mean, spread, scores, worths, discounts, slots):
    """Sum of what the row's step across each other row changes of a discounted sum, times the density there."""
    total = 0.0
    for j in range(slots):
        r = j + (j >= place)
        gap = worth - worths[r]
        if gap != 0.0:
            total += gap * (discounts[j] - discounts[j + 1]) * density((scores[r] - mean) / spread)
    return total


@internal
def cascade_sum(worth, rest, place, mean, spread, scores, worths, rests, discounts, slots):
    """As discounted_sum, of a reader who goes on beyond each row with the chance `rests`."""
    total, look = 0.0, 1.0
    for j in range(slots):
        r = j + (j >= place)
        first = (worth - worths[r]) * discounts[j]
        change = look * (first + (rest * worths[r] - rests[r] * worth) * discounts[j + 1])
        if change != 0.0:
            total += change * density((scores[r] - mean) / spread)
        look *= rests[r]
    return total


@internal
def hits_sum(worth, place, mean, spread, scores, worths, discounts, slots, found):
    """As discounted_sum, of the hits up to each relevant rank; with `found`, as a share of the hits that count.

    Only a last step across a cutoff changes how many are found: the row no longer counts, and another comes in.
    """
    total, hits, kept, above = 0.0, 0.0, 0.0, 0.0
    last = slots - 1 if found and discounts[slots] == 0.0 else slots
    for j in range(last):
        hits += worths[j + (j >= place)]
    divisor = max(hits + worth, 1.0) if found else 1.0
    for j in range(slots):
        r = j + (j >= place)
        if worth != worths[r]:
            change = (worth - worths[r]) * (above + 1.0) * (discounts[j] - discounts[j + 1]) / divisor
            if j == last:
                inside, outside = (above + 1.0) * worth * discounts[j], (above + 1.0) * worths[r] * discounts[j]
                change = (kept + inside) / divisor - (kept + outside) / max(hits + worths[r], 1.0)
            total += change * density((scores[r] - mean) / spread)
        kept += worths[r] * (above + 1.0) * discounts[j]
        above += worths[r]
    return total


@internal
def catboost_excess(worth, rest, place, mean, spread, scores, worths, rests, discounts, slots, departure):
    """What CatBoost 1.2 adds to a cascade's sum by mistake.

    Under ERR a row that moves down to rank q counts (q + 1) / q of what it is worth there, and one that comes in from
    beyond the cutoff lowers what the row that it pushes out was worth. Under PFound a row of probability 1 that leaves
    the ranks which count takes the row that comes in with it.
    """
    total, look, last, cut = 0.0, 1.0, slots - 1, discounts[slots] == 0.0
    for j in range(slots):
        r = j + (j >= place)
        below = density((scores[r] - mean) / spread)
        if departure == CATBOOST_PFOUND and cut and worth == 1.0 and place < slots and j == last:
            total += look * worths[r] * discounts[j] * below
        if departure == CATBOOST_ERR and j > place and worth != 1.0:
            above = density((scores[r - 1] - mean) / spread)
            total += look * worth * discounts[j] / (j + 1.0) * (below - above)
        if departure == CATBOOST_ERR and cut and place >= slots and j == last:
            total -= look * worths[r] * discounts[j] * rest / (slots + 1.0) * below
        look *= rests[r]
    if departure == CATBOOST_ERR and not cut and place < slots and worth != 1.0:
        total -= look * worth * discounts[slots] / (slots + 1.0) * density((scores[slots] - mean) / spread)
    return total


@internal
def moves_sum(worth, rest, place, mean, spread, top, discounts, slots, kind, departure):
    """Derivative of the expected measure by the mean of one row's score, given how the others stand to each other."""
    scores, worths, rests = top[0], top[1], top[2]
    if kind == DISCOUNTED:
        return discounted_sum(worth, place, mean, spread, scores, worths, discounts, slots)
    if kind == CASCADE:
        total = cascade_sum(worth, rest, place, mean, spread, scores, worths, rests, discounts, slots)
        if departure >= CATBOOST_ERR:
            total += catboost_excess(
                worth, rest, place, mean, spread, scores, worths, rests, discounts, slots, departure
            )
        return total
    return hits_sum(worth, place, mean, spread, scores, worths, discounts, slots, kind == SHARE_OF_FOUND)


@internal
def add_moves(
    means, noisy, rows, worth, rest, scale, discounts, kind, departure, slots, sigma, top, places, first, last, ders
):
    """Add one estimation's derivatives of some rows, whose scores are drawn anew, relative to the mean of the others.

    Of n rows, that mean has a variance of sigma^2 / (n - 1), and the row's own score one of sigma^2.
    """
    n = means.size
    spread = sigma * np.sqrt(n / (n - 1.0))
    shift = 0.0
    for i in range(n):
        places[i] = n
        shift += noisy[i] - means[i]
    for r in range(rows.size):
        row = rows[r]
        places[row] = r
        top[0, r], top[1, r] = noisy[row], worth[row]
        top[2, r] = rest[row] if rest.size else 0.0
    whole = shift if departure == FAITHFUL else shift / sigma
    for i in range(first, min(last, n)):
        mean = means[i] + (whole - (noisy[i] - means[i])) / (n - 1.0)
        left = rest[i] if rest.size else 0.0
        found = moves_sum(worth[i], left, places[i], mean, spread, top, discounts, slots, kind, departure)
        ders[i] += found * scale / (spread * ROOT_2_PI)


@internal
def orthogonal(ders, scores, nu, share):
    """Centre a query's derivatives, and take away that share of what is along its centred scores."""
    n, top, mean, mean_score = ders.size, scores[0], 0.0, 0.0
    for i in range(n):
        top = max(top, scores[i])
    for i in range(n):
        mean += ders[i] / n
        mean_score += (scores[i] - top) / n
    largest = 0.0
    for i in range(n):
        ders[i] -= mean
        largest = max(largest, abs(scores[i] - top - mean_score))
    if n < FEWEST or largest == 0.0:
        return
    square, along = 0.0, 0.0
    for i in range(n):
        unit = (scores[i] - top - mean_score) / largest  # whose square does not overflow
        square += unit * unit
        along += ders[i] * unit
    norm = np.sqrt(square) + nu / largest
    for i in range(n):
        ders[i] -= share * along / (norm * norm) * ((scores[i] - top - mean_score) / largest)


@kernel
def stochastic_rank_gradients(
    scores, means, noisy, noisyptr, ranked, rankedptr, worth, rest, inverse, discounts, kind, departure, k, estimations,
    sigma, nu, share, order, indptr, first, last, ders, grad,
):  # fmt: skip
    """Write the gradients of queries with room in `rankedptr`; `ranked` has their first rows by noisy score.

    Only each query's rows from `first` to before `last` are moved: `ders`, 0 at first, has what calls found so far, and
    a query ends with the call that moves its last row. `order` is as in ranked_rows; all else is query by query,
    `scores`, `worth` and `rest` from the first query on.
    """
    width = longest(indptr)
    places, top = np.empty(width, np.int32), np.empty((3, width + 1))
    for q in range(indptr.size - 1):
        start, n = indptr[q] - indptr[0], indptr[q + 1] - indptr[q]
        if rankedptr[q * estimations] == rankedptr[(q + 1) * estimations]:
            continue
        own, moved = slice(start, start + n), ders[start : start + n]
        for e in range(q * estimations, (q + 1) * estimations):
            rows = ranked[rankedptr[e] : rankedptr[e + 1]]
            add_moves(
                means[own], noisy[noisyptr[e] : noisyptr[e + 1]], rows, worth[own], rest[own] if rest.size else rest,
                inverse[q] / estimations, discounts, kind, departure, min(k, n - 1), sigma, top, places, first,
                last, moved,
            )  # fmt: skip
        if last < n:
            continue
        orthogonal(moved, scores[own], nu, share)
        for i in range(n):
            place = indptr[q] + i
            grad[order[place] if order.size else place] = -moved[i]
