"""Correlations: Spearman, Kendall, Pearson, from exact fractions and from all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import sqrt
from typing import Any

from tests.oracles.rows import Row, as_float32

Numbers = Sequence[float]


def spearman(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return Pearson's correlation of the ranks."""
    labels, scores = _labels_and_scores(rows, convention)
    in_order = [Fraction(index) for index in range(len(scores))]  # ranks within a tie
    order = {"mean-rank": None, "input": in_order[::-1], "reverse": in_order}[convention.ties]
    return _defined(labels, scores, convention, lambda: _cosine(_ranks(labels, None), _ranks(scores, order)))


def kendall(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return concordant less discordant pairs, by the divisor of the variant."""
    labels, scores = _labels_and_scores(rows, convention)
    return _defined(labels, scores, convention, lambda: _tau(labels, scores, convention.variant))


def pearson(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return the correlation of the labels and scores themselves."""
    labels, scores = _labels_and_scores(rows, convention)
    fractions = [[Fraction(value) for value in column] for column in (labels, scores)]
    return _defined(labels, scores, convention, lambda: _cosine(*fractions))


def _labels_and_scores(rows: Sequence[Row], convention: Any) -> tuple[Numbers, Numbers]:
    score = as_float32 if getattr(convention, "precision", "float64") == "float32" else float
    retrieved = [row for row in rows if row.retrieved]
    return [row.label if row.judged else 0.0 for row in retrieved], [score(row.score) for row in retrieved]


def _defined(labels: Numbers, scores: Numbers, convention: Any, value: Any) -> tuple[float, float] | None:
    if len(set(labels)) < 2:
        return None
    return (value() if len(set(scores)) > 1 else convention.constant), 1.0


def _ranks(values: Numbers, order: Sequence[Fraction] | None) -> list[Fraction]:
    """Return ranks: the number of rows below, plus half of the tie or the rank within the tie."""
    ranks = []
    for i, value in enumerate(values):
        below = Fraction(sum(smaller < value for smaller in values))
        tied = [j for j, value_j in enumerate(values) if value_j == value]
        ranks.append(below + (Fraction(len(tied), 2) if order is None else sum(order[j] < order[i] for j in tied)))
    return ranks


def _cosine(a: Sequence[Fraction], b: Sequence[Fraction]) -> float:
    a, b = ([value - sum(column) / len(column) for value in column] for column in (a, b))
    product = sum((x * y for x, y in zip(a, b, strict=True)), Fraction())
    squares = sum(x * x for x in a) * sum(y * y for y in b)
    return (1 if product > 0 else -1) * sqrt(product * product / squares)


def _tau(labels: Numbers, scores: Numbers, variant: str) -> float:
    signs = [(_sign(labels[i], labels[j]), _sign(scores[i], scores[j])) for i, j in combinations(range(len(labels)), 2)]
    surplus = sum(label * score for label, score in signs)
    if variant == "b":
        return surplus / sqrt(sum(label != 0 for label, _ in signs) * sum(score != 0 for _, score in signs))
    m, n = min(len(set(labels)), len(set(scores))), len(labels)
    return float(Fraction(2 * m * surplus, n * n * (m - 1)))


def _sign(a: float, b: float) -> int:
    return (a > b) - (a < b)
