"""NDCG, DCG, FilteredDCG and RBP: sums of gain x discount over the ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.oracles.rows import Row, discount, gain, row_gain, worth_by_rank


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


def filtered_dcg(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return sum of gain x discount over the ranks 1..k."""
    return _dcg(_ranked_gains(rows, convention), convention.k, convention.discount), 1.0


def rbp(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return (1 - p) x sum of gain x p^(i - 1) over the ranks 1..k."""
    gains = worth_by_rank(rows, convention, lambda row: gain(row.label, convention.gain) if row.judged else 0.0)
    p = convention.persistence
    return sum((1 - p) * p**i * gain for i, gain in enumerate(gains[: convention.k])), 1.0
