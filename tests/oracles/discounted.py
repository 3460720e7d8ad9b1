"""NDCG, DCG, FilteredDCG and RBP: sums of gain x discount over the ranks; and ERR, which stops at a rank."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

from tests.oracles.rows import Row, discount, gain, row_gain, ties_by_score, worth_by_rank


def ndcg(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return DCG of the ranking / DCG of the ideal list."""
    n_retrieved, gains = sum(row.retrieved for row in rows), _ranked_gains(rows, convention)
    cut = {"retrieved": min(convention.k or len(rows), n_retrieved), "all": None}.get(convention.ideal, convention.k)
    best = [gain(row.label, convention.gain) for row in rows if row.judged]
    if convention.ideal == "retrieved-only":
        best = [row_gain(row, convention) for row in rows if row.retrieved]
    ideal = _dcg(sorted(best, reverse=True), cut, convention.discount)
    if ideal <= 0:
        return None
    if convention.ideal == "ones":
        ideal = _dcg([1.0] * (convention.k or max(n_retrieved, 1)), None, convention.discount)
    if convention.ideal == "top-only":
        ideal = _dcg(sorted(gains[: convention.k], reverse=True), convention.k, convention.discount)
    return (_dcg(gains, convention.k, convention.discount) / ideal if ideal > 0 else 0.0), 1.0


def dcg(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return sum of gain x discount over the ranks 1..k."""
    return _dcg(_ranked_gains(rows, convention), convention.k, convention.discount), 1.0


def _ranked_gains(rows: Sequence[Row], convention: Any) -> list[float]:
    return worth_by_rank(rows, convention, lambda row: row_gain(row, convention))


def _dcg(gains: Sequence[float], k: int | None, name: str) -> float:
    return sum(g * discount(rank, name) for rank, g in enumerate(gains[:k], start=1))


def rbp(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return (1 - p) x sum of gain x p^(i - 1) over the ranks 1..k."""
    gains = worth_by_rank(rows, convention, lambda row: gain(row.label, convention.gain) if row.judged else 0.0)
    p = convention.persistence
    return sum((1 - p) * p**i * gain for i, gain in enumerate(gains[: convention.k])), 1.0


def err(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return sum over the ranks of discount x chance to stop there, or its mean over the orders of averaged ties."""
    total, look, rank = 0.0, 1.0, 0
    for tie in ties_by_score(rows, convention, lambda row: row_gain(row, convention)):
        groups = [tie] if convention.ties == "average" else [[row] for row in tie]
        for group in groups:
            chances = [row_gain(row, convention) / convention.scale for row in group]
            stops, looks = _expectations(chances, [1 - chance for chance in chances])
            for stop_rank, stop in enumerate(stops, start=rank + 1):
                if stop_rank <= (convention.k or stop_rank):
                    total += look * stop * discount(stop_rank, convention.discount)
            look *= looks
            rank += len(group)
    return total, 1.0


def _expectations(chances: list[float], rests: list[float]) -> tuple[list[float], float]:
    """Return the probability to stop at each rank of a tie in random order, and to look beyond the tie.

    The latter sums products of m rests over all choices of rows, the former products of one chance and m other rests.
    """
    n = len(chances)
    rest, stop = [1.0] + [0.0] * n, [0.0] * n
    for p, q in zip(chances, rests, strict=True):
        for m in range(n - 1, -1, -1):
            stop[m] += p * rest[m] + (q * stop[m - 1] if m else 0.0)
            rest[m + 1] += q * rest[m]
    return [total / (n * comb(n - 1, m)) for m, total in enumerate(stop)], rest[n]
