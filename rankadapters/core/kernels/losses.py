"""Losses of each query: pairs, squares, softmax, and log loss after the best shift."""

from __future__ import annotations

import math

from rankadapters.core.kernels import inlined, internal, kernel, unsigned, zeros
from rankadapters.core.ranking.ranked_rows import ALL_FINITE, all_finite, first_non_finite, longest_of

COST = 16  # time per row in plain Python, relative to ranking
LANES = 8  # partial sums computed in parallel
EPSILON = 2.0**-53
NEAR = 2.0**-26  # about half the last step of the bisection; a bracket this narrow decides almost all steps
MOST_STEPS = 12
PAIRS_PER_LOG = 8  # pairs per logarithm: each factor is below 1e38 + 1, so that the product stays finite


@inlined
def gather(scores, order, start, out):
    """Copy a query's scores into `out`."""
    for i in range(len(out)):
        out[i] = scores[order[start + i] if len(order) else start + i]


@kernel(cost=COST)
def squared_error(scores, order, indptr, labels, weights, numerators):
    """Sum of weight x (label - score - shift)^2 of each query, with the shift that minimizes it."""
    space = zeros(longest_of(indptr))
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        residuals = space[:n]
        gather(scores, order, start, residuals)
        if not all_finite(residuals):
            return first_non_finite(scores, order, start, start + n)
        total, mass = 0.0, 0.0
        for i in range(n):
            residuals[i] = labels[start + i] - residuals[i]
            total += weights[start + i] * residuals[i]
            mass += weights[start + i]
        mean, loss = total / mass if mass > 0 else 0.0, 0.0
        for i in range(n):
            rest = residuals[i] - mean
            loss += weights[start + i] * (rest * rest)
        numerators[q] = loss
    return ALL_FINITE


@kernel(cost=COST)
def softmax_cross_entropy(scores, order, indptr, shares, weights, logs, beta, numerators):
    """Cross entropy of `shares` against the weighted softmax of beta x scores; `logs` = log(weights)."""
    space = zeros(longest_of(indptr))
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        exponents = space[:n]
        gather(scores, order, start, exponents)
        if not all_finite(exponents):
            return first_non_finite(scores, order, start, start + n)
        best, total, loss = -math.inf, 0.0, 0.0
        for i in range(n):
            if weights[start + i] > 0:
                best = max(best, exponents[i])
        for i in range(n):
            exponents[i] = beta * (exponents[i] - best)
            if weights[start + i] > 0:
                total += weights[start + i] * math.exp(exponents[i])
        level = math.log(total) if total > 0 else -math.inf
        for i in range(n):
            if shares[start + i] > 0:
                loss += shares[start + i] * (level - exponents[i] - logs[start + i])
        numerators[q] = loss
    return ALL_FINITE


@inlined
def log_loss(label, score):
    """Return log(1 + exp(score)) - label x score, without overflow."""
    return max(score, 0.0) + math.log1p(math.exp(-abs(score))) - label * score


@inlined
def excess_in_lanes(inverse, labels, weights, factor, lanes):
    """Return the sum of weight x (label - probability) and its slope, added in lanes that the compiler vectorizes."""
    for j in range(2 * LANES):
        lanes[j] = 0.0
    first = 0
    while first + LANES <= len(inverse):
        for j in range(LANES):
            i = unsigned(first + j)
            chance = 1.0 / (1.0 + inverse[i] * factor)
            lanes[j] += weights[i] * (labels[i] - chance)
            lanes[LANES + j] += weights[i] * (chance * (1.0 - chance))
        first += LANES
    for i in range(first, len(inverse)):
        chance = 1.0 / (1.0 + inverse[i] * factor)
        lanes[0] += weights[i] * (labels[i] - chance)
        lanes[LANES] += weights[i] * (chance * (1.0 - chance))
    excess, slope = 0.0, 0.0
    for j in range(LANES):
        excess += lanes[j]
        slope += lanes[LANES + j]
    return excess, slope


@internal
def bracket(inverse, labels, weights, farthest, lanes):
    """Return shifts low < high around the root: the excess is surely positive up to low, surely negative from high on.

    The excess falls as the shift grows. Rounding cannot change its sign if it is further from 0 than `doubt`.
    """
    doubt = 0.0
    for i in range(len(weights)):
        doubt += weights[i]
    doubt *= 4.0 * (len(weights) + 8.0) * EPSILON
    low, high, shift = -math.inf, math.inf, 0.0
    for _ in range(MOST_STEPS):
        excess, slope = excess_in_lanes(inverse, labels, weights, math.exp(-shift), lanes)
        if excess > doubt:
            low = max(low, shift)
        elif excess < -doubt:
            high = min(high, shift)
        if high - low < 4.0 * NEAR:
            break
        target = shift + excess / slope if slope > 0 else math.nan
        if abs(target - shift) < NEAR:  # near the root: try both sides of it
            target = target + NEAR if low >= target - 2.0 * NEAR else target - NEAR
        if not (max(low, -farthest) < target < min(high, farthest)):
            target = (max(low, -farthest) + min(high, farthest)) / 2.0
        shift = target
    return low, high


@internal
def halved_shift(inverse, labels, weights, farthest, halvings, lanes):
    """Find the shift by bisection of [-farthest, farthest]: up if the labels exceed the probabilities, else down.

    `inverse` is exp(-score), from which the probability after a shift needs one exponential per query.
    """
    positive, negative = bracket(inverse, labels, weights, farthest, lanes)
    low, high, middle = -farthest, farthest, 0.0
    for _ in range(halvings):
        up = middle <= positive
        if positive < middle < negative:
            factor, excess = math.exp(-middle), 0.0
            for i in range(len(inverse)):
                excess += weights[i] * (labels[i] - 1.0 / (1.0 + inverse[i] * factor))
            up = excess > 0
        if up:
            low = middle
        else:
            high = middle
        middle = (low + high) / 2
    return middle


@kernel(cost=COST)
def shifted_cross_entropy(scores, order, indptr, labels, weights, alpha, farthest, halvings, numerators):
    """Log loss of the scores, mixed by alpha with the log loss after the best shift of each query's scores."""
    width = longest_of(indptr)
    space, inverses, lanes = zeros(width), zeros(width), zeros(2 * LANES)
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        local, inverse, labels_differ = space[:n], inverses[:n], False
        gather(scores, order, start, local)
        if not all_finite(local):
            return first_non_finite(scores, order, start, start + n)
        plain, shifted = 0.0, 0.0
        for i in range(n):
            plain += weights[start + i] * log_loss(labels[start + i], local[i])
            labels_differ |= labels[start + i] != labels[start]
        if labels_differ and alpha > 0:
            for i in range(n):
                inverse[i] = math.exp(min(-local[i], 700.0))  # for lower scores the probability is 0 after any shift
            part = slice(start, start + n)
            shift = halved_shift(inverse, labels[part], weights[part], farthest, halvings, lanes)
            for i in range(n):
                shifted += weights[start + i] * log_loss(labels[start + i], local[i] + shift)
        numerators[q] = (1.0 - alpha) * plain + alpha * shifted
    return ALL_FINITE


@inlined
def exponentials_below(scores, order, start, least, out):
    """Write exp(s - largest s) + least for each row of a query; return False if a score is not finite."""
    gather(scores, order, start, out)
    finite = all_finite(out)
    best = -math.inf
    for i in range(len(out)):
        best = max(best, out[i])
    for i in range(len(out)):
        out[i] = math.exp(out[i] - best) + least
    return finite


@kernel(cost=COST)
def logistic_of_labels(scores, order, indptr, lower, least, numerators):
    """Sum of log(1 + e_j / e_i) over pairs of different labels: row i should rank above the first `lower[i]` rows."""
    space = zeros(longest_of(indptr))
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        local, total = space[:n], 0.0
        if not exponentials_below(scores, order, start, least, local):
            return first_non_finite(scores, order, start, start + n)
        for i in range(n):
            inverse, m = 1.0 / local[i], int(lower[start + i])
            for first in range(0, m, PAIRS_PER_LOG):
                growth = 0.0  # (1 + a)(1 + b) ... - 1, which loses no digits if all ratios are small
                for j in range(first, min(first + PAIRS_PER_LOG, m)):
                    ratio = local[j] * inverse
                    growth += ratio + ratio * growth
                total += math.log1p(growth)
        numerators[q] = total
    return ALL_FINITE


@kernel(cost=COST)
def logistic_of_given_pairs(scores, order, indptr, winners, losers, weights, pairptr, least, numerators):
    """Weighted sum of log(1 + e_loser / e_winner) over the given pairs of row numbers in the caller's order."""
    for q in range(len(indptr) - 1):
        start, last = indptr[q], indptr[q + 1]
        bad = first_non_finite(scores, order, start, last)
        if bad >= 0:
            return bad
        best, total = -math.inf, 0.0
        for i in range(start, last):
            best = max(best, float(scores[order[i] if len(order) else i]))
        for p in range(pairptr[q], pairptr[q + 1]):
            winner = math.exp(float(scores[winners[p]]) - best) + least
            total += weights[p] * math.log1p((math.exp(float(scores[losers[p]]) - best) + least) / winner)
        numerators[q] = total
    return ALL_FINITE
