"""Losses: PairLogit, QueryRMSE, QuerySoftMax, QueryCrossEntropy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import exp, fsum, log, log1p
from typing import Any

from tests.oracles.rows import Row, labels_scores_weights

LEAST = 1e-38  # CatBoost adds it to exp(s - largest s of the query)
FARTHEST_SHIFT, HALVINGS = 20.0, 30  # CatBoost's


def pair_logit(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return weighted losses of the pairs, and their weights."""
    best = max((row.score for row in rows if row.retrieved), default=0.0)
    terms = [
        (weight, log1p((exp(worse.score - best) + LEAST) / (exp(better.score - best) + LEAST)))
        for better, worse, weight in _pairs(rows, convention)
    ]
    mass = fsum(weight for weight, _ in terms)
    return (fsum(weight * loss for weight, loss in terms), mass) if mass else None


def _pairs(rows: Sequence[Row], convention: Any) -> Iterator[tuple[Row, Row, float]]:
    if convention.pairs == "given":
        pairs = ((row, rows[loser], weight) for row in rows for loser, weight in row.beats)
        retrieved = (pair for pair in pairs if pair[0].retrieved and pair[1].retrieved)
        yield from ((i, j, weight if convention.average == "pair" else 1.0) for i, j, weight in retrieved)
        return
    retrieved_rows = [(row.label if row.judged else 0.0, row) for row in rows if row.retrieved]
    for (label_a, a), (label_b, b) in combinations(retrieved_rows, 2):
        if label_a != label_b:
            yield (a, b, 1.0) if label_a > label_b else (b, a, 1.0)


def query_rmse(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return weighted squares of the residuals around their mean, and the weights."""
    weighted = labels_scores_weights(rows, convention.average)
    mass = fsum(weight for _, _, weight in weighted)
    if not mass:
        return None
    mean = fsum(weight * (label - score) for label, score, weight in weighted) / mass
    return fsum(weight * (label - score - mean) ** 2 for label, score, weight in weighted), mass


def query_soft_max(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return labels x weights x -log p, and labels x weights."""
    weighted = [row for row in labels_scores_weights(rows, convention.average) if row[2] > 0]
    mass = fsum(weight * max(label, 0.0) for label, _, weight in weighted)
    if not mass:
        return None
    best = max(score for _, score, _ in weighted)
    total = log(fsum(weight * exp(convention.beta * (score - best)) for _, score, weight in weighted))
    terms = ((w * max(l, 0.0), total - convention.beta * (s - best) - log(w)) for l, s, w in weighted)  # noqa: E741
    return fsum(share * cost for share, cost in terms), mass


def query_cross_entropy(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return weighted losses, and the weights."""
    weighted = labels_scores_weights(rows, convention.average)
    mass = fsum(weight for _, _, weight in weighted)
    if not mass:
        return None
    loss = (1 - convention.alpha) * fsum(weight * _cost(label, score) for label, score, weight in weighted)
    if len({label for label, _, _ in weighted}) > 1:
        excess = lambda shift: fsum(w * (label - _logistic(s + shift)) for label, s, w in weighted)  # noqa: E731
        shift = best_shift(excess)
        loss += convention.alpha * fsum(weight * _cost(label, score + shift) for label, score, weight in weighted)
    return loss, mass


def best_shift(excess: Callable[[float], float]) -> float:
    """Return the shift after CatBoost's number of bisections: up if labels exceed probabilities, else down."""
    low, high, middle = -FARTHEST_SHIFT, FARTHEST_SHIFT, 0.0
    for _ in range(HALVINGS):
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        middle = (low + high) / 2
    return middle


def _logistic(score: float) -> float:
    small = exp(-abs(score))
    return (1.0 if score >= 0 else small) / (1 + small)


def _cost(label: float, score: float) -> float:
    """Return log(1 + e^s) - l s, without overflow."""
    return max(score, 0.0) + log1p(exp(-abs(score))) - label * score
