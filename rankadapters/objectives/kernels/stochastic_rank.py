"""StochasticRank: what moving one row through all places of a noisy ranking changes of a measure."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.kernels import internal, kernel
from rankadapters.core.kernels.ranked_rows import ALL_FINITE
from rankadapters.objectives.kernels.generators import draw_normals
from rankadapters.objectives.kernels.queries import WIDEST, longest, row_at

# What a measure adds up: gains, chances to stop, or hits up to each relevant rank, which those found may divide.
DISCOUNTED, CASCADE, HITS, SHARE_OF_FOUND = 0, 1, 2, 3
FAITHFUL, AS_CATBOOST, CATBOOST_ERR, CATBOOST_PFOUND = 0, 1, 2, 3
FEWEST = 3  # rows of which scores and derivatives have more than one direction
ROOT_2_PI = np.sqrt(2.0 * np.pi)


# How scores are disturbed, and estimates corrected: `share` of what is along the scores is taken away.
Exploring = namedtuple("Exploring", "sigma mu nu share estimations departure")  # noqa: PYI024 - numba knows this kind

# What rows are worth at their ranks: `discounts` of every rank and one more, 0 beyond the cutoff, and what adds up.
Measure = namedtuple("Measure", "discounts k kind")  # noqa: PYI024 - as above

# Centred scores, every copy of them with noise, the first rows of each copy, and the derivatives so far, 0 at first.
Noise = namedtuple("Noise", "means noisy ranked rankedptr ders")  # noqa: PYI024 - as above

# A row that moves, from its place in a copy; given the others, its score has this mean and deviation.
Moving = namedtuple("Moving", "worth rest place mean spread")  # noqa: PYI024 - as above


@kernel
def noisy_scores(queries, labels, sigma, mu, seeds, means, noisy):
    """Centre each query's scores, less `sigma mu` times the label, as `means`, and add normal noise to them.

    Returns a row whose score is too far from the others of its query, else -1.
    """
    scores, indptr, copies = queries.scores, queries.indptr, queries.copies
    for q in range(indptr.size - 1):
        start, n = indptr[q] - indptr[0], indptr[q + 1] - indptr[q]
        begin, end = queries.copyptr[q * copies], queries.copyptr[(q + 1) * copies]
        if begin == end:
            continue
        top, lowest = scores[start], start
        for i in range(start, start + n):
            top = max(top, scores[i])
            lowest = i if scores[i] < scores[lowest] else lowest
        if top - scores[lowest] > WIDEST:
            return row_at(queries.order, indptr[0] + lowest)
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
def discounted_sum(moving, top, discounts, slots):
    """Sum of what the row's step across each other row changes of a discounted sum, times the density there."""
    worth, _, place, mean, spread = moving
    scores, worths = top[0], top[1]
    total = 0.0
    for j in range(slots):
        r = j + (j >= place)
        gap = worth - worths[r]
        if gap != 0.0:
            total += gap * (discounts[j] - discounts[j + 1]) * density((scores[r] - mean) / spread)
    return total


@internal
def cascade_sum(moving, scores, worths, rests, discounts, slots):
    """As discounted_sum, of a reader who goes on beyond each row with the chance `rests`."""
    worth, rest, place, mean, spread = moving
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
def hits_sum(moving, top, discounts, slots, found):
    """As discounted_sum, of the hits up to each relevant rank; with `found`, as a share of the hits that count.

    Only a last step across a cutoff changes how many are found: the row no longer counts, and another comes in.
    """
    worth, _, place, mean, spread = moving
    scores, worths = top[0], top[1]
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
def catboost_excess(moving, scores, worths, rests, discounts, slots, departure):
    """What CatBoost 1.2 adds to a cascade's sum by mistake.

    Under ERR a row that moves down to rank q counts (q + 1) / q of what it is worth there, and one that comes in from
    beyond the cutoff lowers what the row that it pushes out was worth. Under PFound a row of probability 1 that leaves
    the ranks which count takes the row that comes in with it.
    """
    worth, rest, place, mean, spread = moving
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
def moves_sum(moving, top, discounts, slots, kind, departure):
    """Derivative of the expected measure by the mean of one row's score, given how the others stand to each other."""
    if kind == DISCOUNTED:
        return discounted_sum(moving, top, discounts, slots)
    if kind == CASCADE:
        scores, worths, rests = top[0], top[1], top[2]
        total = cascade_sum(moving, scores, worths, rests, discounts, slots)
        if departure >= CATBOOST_ERR:
            total += catboost_excess(moving, scores, worths, rests, discounts, slots, departure)
        return total
    return hits_sum(moving, top, discounts, slots, kind == SHARE_OF_FOUND)


@internal
def add_moves(queries, copy, measure, exploring, noise, top, places, first, last):
    """Add one estimation's derivatives of some rows, whose scores are drawn anew, relative to the mean of the others.

    Of n rows, that mean has a variance of sigma^2 / (n - 1), and the row's own score one of sigma^2.
    """
    sigma, estimations, q = exploring.sigma, exploring.estimations, copy // exploring.estimations
    start, n = queries.indptr[q] - queries.indptr[0], queries.indptr[q + 1] - queries.indptr[q]
    own = slice(start, start + n)
    means, worth, ders = noise.means[own], queries.worth[own], noise.ders[own]
    rest = queries.rest[own] if queries.rest.size else queries.rest
    noisy = noise.noisy[queries.copyptr[copy] : queries.copyptr[copy + 1]]
    rows = noise.ranked[noise.rankedptr[copy] : noise.rankedptr[copy + 1]]
    spread, scale, slots = sigma * np.sqrt(n / (n - 1.0)), queries.inverse[q] / estimations, min(measure.k, n - 1)
    discounts, kind, departure, shift = measure.discounts, measure.kind, exploring.departure, 0.0
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
        moving = Moving(worth[i], rest[i] if rest.size else 0.0, places[i], mean, spread)
        total = moves_sum(moving, top, discounts, slots, kind, departure)
        ders[i] += total * scale / (spread * ROOT_2_PI)


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
def stochastic_rank_gradients(queries, measure, exploring, noise, first, last, grad):
    """Write the gradients of queries with room for copies.

    Only each query's rows from `first` to before `last` are moved, and a query ends with the call that moves its last
    row.
    """
    width, indptr, estimations = longest(queries.indptr), queries.indptr, exploring.estimations
    places, top = np.empty(width, np.int32), np.empty((3, width + 1))
    for q in range(indptr.size - 1):
        start, n = indptr[q] - indptr[0], indptr[q + 1] - indptr[q]
        if queries.copyptr[q * estimations] == queries.copyptr[(q + 1) * estimations]:
            continue
        for copy in range(q * estimations, (q + 1) * estimations):
            add_moves(queries, copy, measure, exploring, noise, top, places, first, last)
        if last < n:
            continue
        ders = noise.ders[start : start + n]
        orthogonal(ders, queries.scores[start : start + n], exploring.nu, exploring.share)
        for i in range(n):
            grad[row_at(queries.order, indptr[q] + i)] = -ders[i]
