"""Pairwise objectives in plain Python, pair by pair as in their formulas; tests compare the kernels with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp, log2

import numpy as np

from rankadapters.core.measures import AP, NDCG, RR
from rankadapters.objectives import LambdaRank, RankNet
from tests.oracles import oracle
from tests.oracles.rows import Row, discount, gain, is_relevant, ranked_rows, row_gain

Pairwise = LambdaRank | RankNet


def query_gradients(
    rows: Sequence[Row], value: Pairwise, bias_divisor: Callable[[int, int, float, float], float] | None = None
) -> tuple[list[float], list[float]]:
    """Return gradients and hessians of one query.

    `bias_divisor` returns the number by which a position bias divides a pair, given the indices of the more and the
    less relevant row, the weight of the pair and the difference of the scores.
    """
    grad, hess = [0.0] * len(rows), [0.0] * len(rows)
    if isinstance(value, LambdaRank) and not _has_gradient(rows, value):
        return grad, hess
    order = _ranking(rows, value)
    worth = [_worth(rows[i], value) for i in order]
    scores = [float(np.float32(rows[i].score)) if _rounds_scores(value) else rows[i].score for i in order]
    total = 0.0
    for i in range(min(len(order), value.truncation or len(order))):
        for j in range(i + 1, len(order)):
            if worth[i] == worth[j]:
                continue
            high, low = (i, j) if worth[i] > worth[j] else (j, i)
            weight = _delta(rows, worth, high, low, value) / _distance(scores, high, low, value)
            distance = scores[high] - scores[low]
            p = 1 / (1 + exp(min(value.sigma * distance, 700)))
            divisor = bias_divisor(order[high], order[low], weight, distance) if bias_divisor else 1.0
            push, bend = value.sigma * weight * p / divisor, value.sigma**2 * weight * p * (1 - p) / divisor
            total += 2 * push
            for index, sign in ((high, -1), (low, 1)):
                grad[order[index]] += sign * push
                hess[order[index]] += bend * (2 if value.hessian == "doubled" else 1)
    summed = value.normalization in {"lightgbm", "xgboost", "xgboost-sum"} and total > 0
    scale = log2(1 + total) / total if summed else 1.0
    return [g * scale for g in grad], [h * scale for h in hess]


def _rounds_scores(value: Pairwise) -> bool:
    return isinstance(value, LambdaRank) and value.convention.precision == "float32"


def _retrieved(rows: Sequence[Row], value: Pairwise) -> list[int]:
    if not isinstance(value, LambdaRank):
        return [i for i, row in enumerate(rows) if row.retrieved]
    return ranked_rows(rows, value.convention.unjudged)


def _has_gradient(rows: Sequence[Row], value: LambdaRank) -> bool:
    convention = value.convention
    short = convention.k is not None and len(_retrieved(rows, value)) < convention.k and convention.short != "pad"
    if isinstance(convention, NDCG):
        return not short and _own_ideal(rows, value) > 0
    return not short and oracle(rows, convention) is not None


def _ideal(rows: Sequence[Row], value: LambdaRank) -> float:
    if value.convention.ideal != "ones":
        return _own_ideal(rows, value)
    n = value.convention.k or len(_retrieved(rows, value))
    return sum(discount(rank, value.convention.discount) for rank in range(1, n + 1))


def _own_ideal(rows: Sequence[Row], value: LambdaRank) -> float:
    convention = value.convention
    gains = sorted((gain(row.label, convention.gain) for row in rows if row.judged), reverse=True)
    retrieved = len(_retrieved(rows, value))
    if convention.ideal == "retrieved-only":
        gains = sorted((_worth(rows[i], value) for i in _retrieved(rows, value)), reverse=True)
    cut = {"cutoff": convention.k, "retrieved": min(convention.k or len(rows), retrieved), "all": None}
    ranked = enumerate(gains[: cut.get(convention.ideal, convention.k)], start=1)
    return sum(g * discount(rank, convention.discount) for rank, g in ranked)


def _worth(row: Row, value: Pairwise) -> float:
    if isinstance(value, RankNet):
        return row.label
    if isinstance(value.convention, AP | RR):
        return float(row.judged and is_relevant(row.label, value.convention.relevant))
    return row_gain(row, value.convention)


def _ranking(rows: Sequence[Row], value: Pairwise) -> list[int]:
    ties = value.convention.ties if isinstance(value, LambdaRank) else "input"
    keys = {
        "reverse": lambda i: -i,
        "worst": lambda i: _worth(rows[i], value),
        "best": lambda i: -_worth(rows[i], value),
        "docid-ascending": lambda i: rows[i].docid.encode(),
        "docid-descending": lambda i: [-byte for byte in rows[i].docid.encode()] + [1],
    }
    scores = [np.float32(row.score) if _rounds_scores(value) else row.score for row in rows]
    return sorted(sorted(_retrieved(rows, value), key=keys.get(ties, lambda i: i)), key=lambda i: -scores[i])


def _discount(index: int, value: LambdaRank) -> float:
    k = value.convention.k
    is_cut = value.beyond_k == "cut" and k and index >= k
    return 0.0 if is_cut else discount(index + 1, value.convention.discount)


def _delta(rows: Sequence[Row], worth: list[float], high: int, low: int, value: Pairwise) -> float:
    if isinstance(value, RankNet):
        return 1.0
    if not isinstance(value.convention, NDCG):
        order = _ranking(rows, value)
        return abs(_value(rows, order, value) - _value(rows, _swapped(order, high, low), value))
    gap = abs(_discount(high, value) - _discount(low, value))
    return (worth[high] - worth[low]) * gap / _ideal(rows, value)


def _swapped(order: list[int], first: int, second: int) -> list[int]:
    swapped = list(order)
    swapped[first], swapped[second] = order[second], order[first]
    return swapped


def _value(rows: Sequence[Row], order: list[int], value: LambdaRank) -> float:
    """Return the measure of the rows in this order, by its definition."""
    convention = value.convention.replace(ties="input", precision="float64")
    ranks = {row: rank for rank, row in enumerate(order)}
    reranked = [
        replace(row, score=-ranks[i]) if i in ranks else replace(row, score=0.0, retrieved=False)
        for i, row in enumerate(rows)
    ]
    if value.beyond_k == "cut":
        return oracle(reranked, convention)[0]
    measured = oracle(reranked, convention.replace(k=None))[0]
    if isinstance(convention, AP) and convention.divisor == "cutoff":  # without a cutoff the divisor is R
        relevant = sum(_worth(row, value) for row in rows)
        return measured * relevant / min(convention.k, relevant)
    return measured


def _distance(scores: list[float], high: int, low: int, value: Pairwise) -> float:
    offset = {"lightgbm": float(np.float32(0.01)), "xgboost": 0.01, "xgboost-distance": 0.01}.get(value.normalization)
    return 1.0 if offset is None or scores[0] == scores[-1] else offset + abs(scores[high] - scores[low])
