"""Losses: PairLogit, QueryRMSE, QuerySoftMax, QueryCrossEntropy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import exp, fsum, log, log1p
from typing import Any

from tests.oracles.rows import Row, weighed

LEAST = 1e-38  # CatBoost's, which is added to exp(s - largest s of the query)
FARTHEST_SHIFT, HALVINGS = 20.0, 30  # CatBoost's


def pair_logit(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Weighted losses of the pairs, and the weights."""
    best = max((row.score for row in rows if row.retrieved), default=0.0)
    terms = [
        (weight, log1p((exp(worse.score - best) + LEAST) / (exp(better.score - best) + LEAST)))
        for better, worse, weight in _pairs(rows, convention)
    ]
    mass = fsum(weight for weight, _ in terms)
    return (fsum(weight * loss for weight, loss in terms), mass) if mass else None


def _pairs(rows: Sequence[Row], convention: Any) -> Iterator[tuple[Row, Row, float]]:
    """Every pair: the better row, the worse one, the weight."""
    if convention.pairs == "given":
        every = ((row, rows[place], weight) for row in rows for place, weight in row.beats)
        several = (pair for pair in every if pair[0].retrieved and pair[1].retrieved)
        yield from ((i, j, weight if convention.average == "pair" else 1.0) for i, j, weight in several)
        return
    kept = [(row.label if row.judged else 0.0, row) for row in rows if row.retrieved]
    for (one, a), (other, b) in combinations(kept, 2):
        if one != other:
            yield (a, b, 1.0) if one > other else (b, a, 1.0)


def query_rmse(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Weighted squares of the residuals around their mean, and the weights."""
    several = weighed(rows, convention.average)
    mass = fsum(weight for _, _, weight in several)
    if not mass:
        return None
    mean = fsum(weight * (label - score) for label, score, weight in several) / mass
    return fsum(weight * (label - score - mean) ** 2 for label, score, weight in several), mass


def query_soft_max(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Labels times weights times -log p, and labels times weights."""
    several = [row for row in weighed(rows, convention.average) if row[2] > 0]
    mass = fsum(weight * max(label, 0.0) for label, _, weight in several)
    if not mass:
        return None
    best = max(score for _, score, _ in several)
    total = log(fsum(weight * exp(convention.beta * (score - best)) for _, score, weight in several))
    terms = ((w * max(l, 0.0), total - convention.beta * (s - best) - log(w)) for l, s, w in several)  # noqa: E741
    return fsum(share * cost for share, cost in terms), mass


def query_cross_entropy(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Weighted losses, and the weights."""
    several = weighed(rows, convention.average)
    mass = fsum(weight for _, _, weight in several)
    if not mass:
        return None
    loss = (1 - convention.alpha) * fsum(weight * _cost(label, score) for label, score, weight in several)
    if len({label for label, _, _ in several}) > 1:
        excess = lambda shift: fsum(w * (label - _logistic(s + shift)) for label, s, w in several)  # noqa: E731
        shift = halved(excess)
        loss += convention.alpha * fsum(weight * _cost(label, score + shift) for label, score, weight in several)
    return loss, mass


def halved(excess: Callable[[float], float]) -> float:
    """Halve the interval of shifts as often as CatBoost: up where labels exceed probabilities, else down."""
    low, high, middle = -FARTHEST_SHIFT, FARTHEST_SHIFT, 0.0
    for _ in range(HALVINGS):
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        middle = (low + high) / 2
    return middle


def _logistic(score: float) -> float:
    small = exp(-abs(score))
    return (1.0 if score >= 0 else small) / (1 + small)


def _cost(label: float, score: float) -> float:
    """log(1 + e^s) - l s, without overflow."""
    return max(score, 0.0) + log1p(exp(-abs(score))) - label * score
