"""StochasticRank: change of a measure when one row moves through all ranks of a noisy ranking."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import ALL_FINITE
from rankadapters.objectives.kernels.queries import WIDEST, longest, row_at

# What a measure sums: discounted gains, stop probabilities, hits up to each relevant rank, or these / all hits.
DISCOUNTED, CASCADE, HITS, SHARE_OF_FOUND = 0, 1, 2, 3
FAITHFUL, AS_CATBOOST, CATBOOST_ERR, CATBOOST_PFOUND = 0, 1, 2, 3
LEAST_ROWS = 3  # the centered derivatives of two rows are parallel to the centered scores, so nothing would be left
ROOT_2_PI = np.sqrt(2.0 * np.pi)


# Settings of the noise, and `share`: how much of the derivatives' component along the scores is removed.
Exploring = namedtuple("Exploring", "sigma nu share estimations departure")  # noqa: PYI024 - numba knows this kind

# A measure. `discounts` has one entry more than there are ranks, and 0 beyond the cutoff; `kind` is a sum as above.
Measure = namedtuple("Measure", "discounts k kind")  # noqa: PYI024 - as above

# Centered scores, noisy copies of them, the top rows of each copy, and the sums of derivatives so far.
Noise = namedtuple("Noise", "means noisy ranked rankedptr ders")  # noqa: PYI024 - as above

# The moving row, at `rank` in a copy. Given the other rows' scores, its score has this mean and standard deviation.
Moving = namedtuple("Moving", "gain rest rank mean spread")  # noqa: PYI024 - as above


@jit
def centered_scores(queries, labels, sigma, mu, means):
    """Write each query's scores minus `sigma mu label`, centered.

    Return a row whose score is too far from the others of its query, or -1.
    """
    scores, indptr, copies = queries.scores, queries.indptr, queries.copies
    for q in range(indptr.size - 1):
        start, n = indptr[q] - indptr[0], indptr[q + 1] - indptr[q]
        if queries.copyptr[q * copies] == queries.copyptr[(q + 1) * copies]:
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
    return ALL_FINITE


@internal
def density(x):
    """Return the standard normal density at x, times sqrt(2 pi)."""
    return np.exp(-0.5 * x * x)


@internal(forceinline=True)
def moves_sum(moving, top, discounts, slots, kind):
    """Return the sum over other rows of (change of the measure if the moving row passes it) x (density at its score).

    Under ERR and PFound, a reader continues after a row with its probability in `rests`. Under AP, only the last step,
    across a cutoff, changes the number of all hits: one row leaves the ranks that count, one enters.
    """
    gain, rest, rank, mean, spread = moving
    scores, gains, rests = top[0], top[1], top[2]
    total, look, hits, total_above, above = 0.0, 1.0, 0.0, 0.0, 0.0
    share = kind == SHARE_OF_FOUND
    last = slots - 1 if share and discounts[slots] == 0.0 else slots
    for j in range(last if share else 0):
        hits += gains[j + (j >= rank)]
    divisor = max(hits + gain, 1.0) if share else 1.0
    for j in range(slots):
        r = j + (j >= rank)
        if kind == DISCOUNTED:
            change = (gain - gains[r]) * (discounts[j] - discounts[j + 1])
        elif kind == CASCADE:
            first = (gain - gains[r]) * discounts[j]
            change = look * (first + (rest * gains[r] - rests[r] * gain) * discounts[j + 1])
            look *= rests[r]
        else:
            change = 0.0
            if gain != gains[r]:
                change = (gain - gains[r]) * (above + 1.0) * (discounts[j] - discounts[j + 1]) / divisor
                if j == last:
                    inside, outside = (above + 1.0) * gain * discounts[j], (above + 1.0) * gains[r] * discounts[j]
                    change = (total_above + inside) / divisor - (total_above + outside) / max(hits + gains[r], 1.0)
            total_above += gains[r] * (above + 1.0) * discounts[j]
            above += gains[r]
        if change != 0.0:
            total += change * density((scores[r] - mean) / spread)
    return total


@internal
def catboost_excess(moving, top, discounts, slots, departure):
    """Return what CatBoost 1.2 adds by mistake to the sum of ERR or PFound.

    Under ERR, a row that moves down to rank q counts (q + 1) / q times too much. A row that enters from beyond the
    cutoff lowers the value of the row that it pushes out. Under PFound, when a row of probability 1 leaves the ranks
    that count, the row that enters is lost too.
    """
    gain, rest, rank, mean, spread = moving
    scores, gains, rests = top[0], top[1], top[2]
    total, look, last, cut = 0.0, 1.0, slots - 1, discounts[slots] == 0.0
    for j in range(slots):
        r = j + (j >= rank)
        below = density((scores[r] - mean) / spread)
        if departure == CATBOOST_PFOUND and cut and gain == 1.0 and rank < slots and j == last:
            total += look * gains[r] * discounts[j] * below
        if departure == CATBOOST_ERR and j > rank and gain != 1.0:
            above = density((scores[r - 1] - mean) / spread)
            total += look * gain * discounts[j] / (j + 1.0) * (below - above)
        if departure == CATBOOST_ERR and cut and rank >= slots and j == last:
            total -= look * gains[r] * discounts[j] * rest / (slots + 1.0) * below
        look *= rests[r]
    if departure == CATBOOST_ERR and not cut and rank < slots and gain != 1.0:
        total -= look * gain * discounts[slots] / (slots + 1.0) * density((scores[slots] - mean) / spread)
    return total


@internal
def add_moves(queries, copy, measure, exploring, noise, top, ranks, first, last):
    """Add one estimate of the derivatives of rows `first` to `last - 1`.

    A row's score minus the mean of the n - 1 others has variance sigma^2 + sigma^2 / (n - 1).
    """
    sigma, estimations, q = exploring.sigma, exploring.estimations, copy // exploring.estimations
    start, n = queries.indptr[q] - queries.indptr[0], queries.indptr[q + 1] - queries.indptr[q]
    query_rows = slice(start, start + n)
    means, gains, ders = noise.means[query_rows], queries.gains[query_rows], noise.ders[query_rows]
    rest = queries.rest[query_rows] if queries.rest.size else queries.rest
    noisy = noise.noisy[queries.copyptr[copy] : queries.copyptr[copy + 1]]
    rows = noise.ranked[noise.rankedptr[copy] : noise.rankedptr[copy + 1]]
    spread, scale, slots = sigma * np.sqrt(n / (n - 1.0)), queries.inverse[q] / estimations, min(measure.k, n - 1)
    discounts, departure, shift = measure.discounts, exploring.departure, 0.0
    for i in range(n):
        ranks[i] = n
        shift += noisy[i] - means[i]
    for r in range(rows.size):
        row = rows[r]
        ranks[row] = r
        top[0, r], top[1, r] = noisy[row], gains[row]
        top[2, r] = rest[row] if rest.size else 0.0
    whole = shift if departure == FAITHFUL else shift / sigma
    for i in range(first, min(last, n)):
        mean = means[i] + (whole - (noisy[i] - means[i])) / (n - 1.0)
        moving = Moving(gains[i], rest[i] if rest.size else 0.0, ranks[i], mean, spread)
        # One call for each kind, so that the compiler takes the choice out of the loop.
        if measure.kind == DISCOUNTED:
            total = moves_sum(moving, top, discounts, slots, DISCOUNTED)
        elif measure.kind == CASCADE:
            total = moves_sum(moving, top, discounts, slots, CASCADE)
        else:
            total = moves_sum(moving, top, discounts, slots, measure.kind)
        if departure >= CATBOOST_ERR:
            total += catboost_excess(moving, top, discounts, slots, departure)
        ders[i] += total * scale / (spread * ROOT_2_PI)


@internal
def orthogonal(ders, scores, nu, share):
    """Center a query's derivatives and remove `share` of their component along its centered scores."""
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
    if n < LEAST_ROWS or largest == 0.0:
        return
    square, along = 0.0, 0.0
    for i in range(n):
        unit = (scores[i] - top - mean_score) / largest  # divided by the largest, so that squares do not overflow
        square += unit * unit
        along += ders[i] * unit
    norm = np.sqrt(square) + nu / largest
    for i in range(n):
        ders[i] -= share * along / (norm * norm) * ((scores[i] - top - mean_score) / largest)


@jit
def stochastic_rank_gradients(queries, measure, exploring, noise, first, last, grad):
    """Write the gradients of queries from their noisy copies.

    A call moves only rows `first` to `last - 1` of each query. The call that moves a query's last row writes it.
    """
    width, indptr, estimations = longest(queries.indptr), queries.indptr, exploring.estimations
    ranks, top = np.empty(width, np.int32), np.empty((3, width + 1))
    for q in range(indptr.size - 1):
        start, n = indptr[q] - indptr[0], indptr[q + 1] - indptr[q]
        if queries.copyptr[q * estimations] == queries.copyptr[(q + 1) * estimations]:
            continue
        for copy in range(q * estimations, (q + 1) * estimations):
            add_moves(queries, copy, measure, exploring, noise, top, ranks, first, last)
        if last < n:
            continue
        ders = noise.ders[start : start + n]
        orthogonal(ders, queries.scores[start : start + n], exploring.nu, exploring.share)
        for i in range(n):
            grad[row_at(queries.order, indptr[q] + i)] = -ders[i]
