"""Numpy form of `kernels.losses`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rankadapters.core.kernels.in_numpy.ranking import ALL_FINITE
from rankadapters.core.kernels.in_numpy.segments import numbers, places_within, sums

TOGETHER = 8
AT_ONCE = 2**18  # logarithms of pairs in a block


def squared_error(scores: Any, order: Any, indptr: Any, labels: Any, weights: Any, numerators: Any) -> int:
    """Weighted squares of label - score, after the shift of each query that makes them smallest."""
    bad, own = _gathered(scores, order, indptr)
    if bad >= 0:
        return bad
    part, query, n = slice(indptr[0], indptr[-1]), numbers(indptr), numerators.size
    residuals, weight = labels[part] - own, weights[part]
    mass = sums(weight, query, n)
    mean = np.where(mass > 0, sums(weight * residuals, query, n) / mass, 0.0)
    rest = residuals - mean[query]
    numerators[:] = sums(weight * (rest * rest), query, n)
    return ALL_FINITE


def softmax_cross_entropy(
    scores: Any, order: Any, indptr: Any, shares: Any, weights: Any, logs: Any, beta: float, numerators: Any
) -> int:
    """Cross entropy of the shares against softmax(beta s) with weights, whose logarithms are `logs`."""
    bad, own = _gathered(scores, order, indptr)
    if bad >= 0:
        return bad
    part, query, n = slice(indptr[0], indptr[-1]), numbers(indptr), numerators.size
    share, weight = shares[part], weights[part]
    best = _largest(np.where(weight > 0, own, -np.inf), indptr)
    below, counted = beta * (own - best[query]), weight > 0
    parts = weight[counted] * _mapped(math.exp, below[counted])
    level = np.full(n, -np.inf)
    total = sums(parts, query[counted], n)
    level[total > 0] = _mapped(math.log, total[total > 0])
    wanted = share > 0
    terms = share[wanted] * (level[query[wanted]] - below[wanted] - logs[part][wanted])
    numerators[:] = sums(terms, query[wanted], n)
    return ALL_FINITE


def shifted_cross_entropy(
    scores: Any, order: Any, indptr: Any, labels: Any, weights: Any, alpha: float, farthest: float, halvings: int,
    numerators: Any,
) -> int:  # fmt: skip
    """Log loss of the scores, and of the scores after the shift of each query, mixed by alpha."""
    bad, own = _gathered(scores, order, indptr)
    if bad >= 0:
        return bad
    part, query, n = slice(indptr[0], indptr[-1]), numbers(indptr), numerators.size
    label, weight, shifted = labels[part], weights[part], np.zeros(n)
    plain = sums(weight * _log_loss(label, own), query, n)
    firsts = label[(indptr[:-1] - indptr[0])[query]] if label.size else label
    several = np.zeros(n, np.bool_)
    several[query[label != firsts]] = alpha > 0
    kept = several[query]
    query, label, weight, own = query[kept], label[kept], weight[kept], own[kept]
    shift = _halved_shifts(own, label, weight, query, n, farthest, halvings)
    shifted = sums(weight * _log_loss(label, own + shift[query]), query, n)
    numerators[:] = (1.0 - alpha) * plain + alpha * shifted
    return ALL_FINITE


def _halved_shifts(
    own: Any, label: Any, weight: Any, query: Any, n: int, farthest: float, halvings: int
) -> Any:  # fmt: skip
    """Shift of each query, all halved at once."""
    inverse = _mapped(math.exp, np.minimum(-own, 700.0))
    low, high, middle = np.full(n, -farthest), np.full(n, farthest), np.zeros(n)
    for _ in range(halvings):
        factor = _mapped(math.exp, -middle)
        excess = sums(weight * (label - 1.0 / (1.0 + inverse * factor[query])), query, n)
        low, high = np.where(excess > 0, middle, low), np.where(excess > 0, high, middle)
        middle = (low + high) / 2
    return middle


def logistic_of_labels(scores: Any, order: Any, indptr: Any, lower: Any, least: float, numerators: Any) -> int:
    """log(1 + e_j / e_i) of all pairs of different labels; rows stand by ascending label, `lower` before each."""
    bad, own = _gathered(scores, order, indptr)
    if bad >= 0:
        return bad
    query, n = numbers(indptr), numerators.size
    grown = _exponentials_below(own, query, indptr, least)
    starts, below = (indptr[:-1] - indptr[0])[query], lower[indptr[0] : indptr[-1]]
    several = -(-below // TOGETHER)  # logarithms of each row
    logptr = np.concatenate([[0], np.cumsum(several)])
    # Whole rows in each block; what they add is summed over all of them, from left to right.
    ends = np.unique(np.searchsorted(logptr, np.arange(0, logptr[-1] + AT_ONCE, AT_ONCE), side="right") - 1)
    ends[-1] = below.size
    terms = [_logs_of(grown, starts, below, logptr, slice(a, b)) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    numerators[:] = sums(np.concatenate(terms), np.repeat(query, several), n)
    return ALL_FINITE


def _logs_of(grown: Any, starts: Any, below: Any, logptr: Any, part: slice) -> Any:
    """Logarithms of some rows' products, of up to eight pairs each."""
    indptr = logptr[part.start : part.stop + 1]
    row = numbers(indptr) + part.start
    first = places_within(indptr) * TOGETHER
    inverse, total = 1.0 / grown[row], np.zeros(row.size)
    for place in range(TOGETHER):
        there = first + place < below[row]
        ratio = np.where(there, grown[starts[row] + np.where(there, first + place, 0)] * inverse, 0.0)
        total += ratio + ratio * total
    return _mapped(math.log1p, total)


def logistic_of_given_pairs(
    scores: Any, order: Any, indptr: Any, winners: Any, losers: Any, weights: Any, pairptr: Any, least: float,
    numerators: Any,
) -> int:  # fmt: skip
    """Weighted log(1 + e_loser / e_winner) of the given pairs, whose rows are places in the caller's order."""
    bad, own = _gathered(scores, order, indptr)
    if bad >= 0:
        return bad
    part, query = slice(pairptr[0], pairptr[-1]), numbers(pairptr)
    best = _largest(own, indptr)[query]
    ahead, behind = (
        _mapped(math.exp, scores[rows[part]].astype(np.float64) - best) + least for rows in (winners, losers)
    )
    numerators[:] = sums(weights[part] * _mapped(math.log1p, behind / ahead), query, numerators.size)
    return ALL_FINITE


def _gathered(scores: Any, order: Any, indptr: Any) -> tuple[int, Any]:
    """Scores query by query in float64; the first row whose score is not finite, else -1."""
    places = order[indptr[0] : indptr[-1]] if order.size else np.arange(indptr[0], indptr[-1])
    own = scores[places].astype(np.float64)
    finite = np.isfinite(own)
    return (ALL_FINITE if finite.all() else int(places[np.argmin(finite)])), own


def _largest(own: Any, indptr: Any) -> Any:
    """Largest of each query."""
    found, some = np.full(indptr.size - 1, -np.inf), np.flatnonzero(np.diff(indptr))
    if some.size:
        found[some] = np.maximum.reduceat(own, indptr[some] - indptr[0])
    return found


def _exponentials_below(own: Any, query: Any, indptr: Any, least: float) -> Any:
    """exp(s - largest s) + least."""
    return _mapped(math.exp, own - _largest(own, indptr)[query]) + least


def _log_loss(label: Any, score: Any) -> Any:
    """log(1 + exp(s)) - l s, without overflow."""
    small = _mapped(math.log1p, _mapped(math.exp, -np.abs(score)))
    return np.maximum(score, 0.0) + small - label * score


def _mapped(function: Callable[[float], float], values: Any) -> Any:
    """Apply the C library's function, whose last bit numpy's packed instructions do not share on every machine."""
    return np.fromiter(map(function, values.tolist()), np.float64, values.size)
