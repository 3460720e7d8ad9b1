"""Pairwise objectives in plain Python, pair by pair as their formulas say: what the kernels are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp, log2

import numpy as np

from rankadapters.core.measures import AP, NDCG, RR
from rankadapters.objectives import LambdaRank, RankNet
from tests.oracles import oracle
from tests.oracles.rows import Row, discount, gain, graded, is_beyond

Pairwise = LambdaRank | RankNet


def query_gradients(
    rows: Sequence[Row], value: Pairwise, divisor: Callable[[int, int, float, float], float] | None = None
) -> tuple[list[float], list[float]]:
    """Gradients and hessians of one query; `divisor` is what a position bias divides the pair by.

    It is called with the indexes of the more and the less relevant row, the weight and the distance of their scores.
    """
    grad, hess = [0.0] * len(rows), [0.0] * len(rows)
    if isinstance(value, LambdaRank) and not _has_gradient(rows, value):
        return grad, hess
    order = _ranking(rows, value)
    worth = [_worth(rows[i], value) for i in order]
    scores = [float(np.float32(rows[i].score)) if _narrow(value) else rows[i].score for i in order]
    total = 0.0
    for i in range(min(len(order), value.truncation or len(order))):
        for j in range(i + 1, len(order)):
            if worth[i] == worth[j]:
                continue
            high, low = (i, j) if worth[i] > worth[j] else (j, i)
            weight = _delta(rows, worth, high, low, value) / _distance(scores, high, low, value)
            distance = scores[high] - scores[low]
            p = 1 / (1 + exp(min(value.sigma * distance, 700)))
            biased = divisor(order[high], order[low], weight, distance) if divisor else 1.0
            push, bend = value.sigma * weight * p / biased, value.sigma**2 * weight * p * (1 - p) / biased
            total += 2 * push
            for place, sign in ((high, -1), (low, 1)):
                grad[order[place]] += sign * push
                hess[order[place]] += bend * (2 if value.hessian == "doubled" else 1)
    summed = value.normalization in {"lightgbm", "xgboost", "xgboost-sum"} and total > 0
    scale = log2(1 + total) / total if summed else 1.0
    return [g * scale for g in grad], [h * scale for h in hess]


def _narrow(value: Pairwise) -> bool:
    return isinstance(value, LambdaRank) and value.convention.precision == "float32"


def _retrieved(rows: Sequence[Row], value: Pairwise) -> list[int]:
    drops = isinstance(value, LambdaRank) and value.convention.unjudged == "drop"
    return [i for i, row in enumerate(rows) if row.retrieved and (row.judged or not drops)]


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
        return float(row.judged and is_beyond(row.label, value.convention.relevant))
    return graded(row, value.convention)


def _ranking(rows: Sequence[Row], value: Pairwise) -> list[int]:
    ties = value.convention.ties if isinstance(value, LambdaRank) else "input"
    keys = {
        "reverse": lambda i: -i,
        "worst": lambda i: _worth(rows[i], value),
        "best": lambda i: -_worth(rows[i], value),
        "docid-ascending": lambda i: rows[i].docid.encode(),
        "docid-descending": lambda i: [-byte for byte in rows[i].docid.encode()] + [1],
    }
    scores = [np.float32(row.score) if _narrow(value) else row.score for row in rows]
    return sorted(sorted(_retrieved(rows, value), key=keys.get(ties, lambda i: i)), key=lambda i: -scores[i])


def _discount(place: int, value: LambdaRank) -> float:
    k = value.convention.k
    beyond = value.beyond_k == "cut" and k and place >= k
    return 0.0 if beyond else discount(place + 1, value.convention.discount)


def _delta(rows: Sequence[Row], worth: list[float], high: int, low: int, value: Pairwise) -> float:
    if isinstance(value, RankNet):
        return 1.0
    if not isinstance(value.convention, NDCG):
        order = _ranking(rows, value)
        return abs(_value(rows, order, value) - _value(rows, _traded(order, high, low), value))
    gap = abs(_discount(high, value) - _discount(low, value))
    return (worth[high] - worth[low]) * gap / _ideal(rows, value)


def _traded(order: list[int], one: int, other: int) -> list[int]:
    traded = list(order)
    traded[one], traded[other] = order[other], order[one]
    return traded


def _value(rows: Sequence[Row], order: list[int], value: LambdaRank) -> float:
    """What the measure's own definition says of rows in this order."""
    convention = value.convention.replace(ties="input", precision="float64")
    places = {row: place for place, row in enumerate(order)}
    given = [
        replace(row, score=-places[i]) if i in places else replace(row, score=0.0, retrieved=False)
        for i, row in enumerate(rows)
    ]
    if value.beyond_k == "cut":
        return oracle(given, convention)[0]
    found = oracle(given, convention.replace(k=None))[0]
    if isinstance(convention, AP) and convention.divisor == "cutoff":  # without a cutoff the divisor is R
        relevant = sum(_worth(row, value) for row in rows)
        return found * relevant / min(convention.k, relevant)
    return found


def _distance(scores: list[float], high: int, low: int, value: Pairwise) -> float:
    offset = {"lightgbm": float(np.float32(0.01)), "xgboost": 0.01, "xgboost-distance": 0.01}.get(value.normalization)
    return 1.0 if offset is None or scores[0] == scores[-1] else offset + abs(scores[high] - scores[low])
