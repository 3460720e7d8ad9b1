"""Measures that count relevant rows: Precision, Recall, FMeasure, FallOut, RPrecision, Success, RR, Coverage, Bpref."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

from tests.oracles.rows import Row, relevance_of, ties_by_score, worth_by_rank


def precision(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return relevant rows at ranks 1..k / divisor."""
    relevant = sum(relevance_of(row, convention.relevant) != 0 for row in rows)
    n = sum(row.retrieved for row in rows)
    k = convention.k or n
    divisor = {"k": k, "retrieved": min(k, n), "relevant": min(k, relevant), "one": 1}[convention.divisor]
    hits = _hits(rows, convention, convention.k)
    if convention.pool == "sums":
        return (hits, divisor) if divisor else None
    return (hits / divisor if divisor else 0.0, 1.0) if relevant else None


def recall(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return relevant rows at ranks 1..k / relevant rows."""
    relevant, hits = _relevant(rows, convention), _hits(rows, convention, convention.k)
    if convention.pool == "sums":
        return (hits, relevant) if relevant else None
    return (hits / relevant, 1.0) if relevant else None


def f_measure(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return (x + 1) P R / (x P + R); over sums, (x + 1) hits / (x relevant rows + divisors of the precision)."""
    relevant, n = _relevant(rows, convention), sum(row.retrieved for row in rows)
    hits, k, x = _hits(rows, convention, convention.k), convention.k or n, convention.beta_squared
    retrieved = k if convention.divisor == "k" else min(k, n)
    if convention.pool == "sums":
        mass = (x * relevant + retrieved) / (x + 1)
        return (hits, mass) if mass else None
    if not relevant:
        return None
    if not hits:
        return 0.0, 1.0
    p, r = hits / retrieved, hits / relevant
    return (x + 1) * p * r / (x * p + r), 1.0


def fall_out(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return irrelevant rows at ranks 1..k / irrelevant rows."""

    def irrelevance(row: Row) -> float:
        return float(row.judged) - relevance_of(row, convention.relevant)

    irrelevant = sum(map(irrelevance, rows))
    ranked = worth_by_rank(rows, convention, irrelevance, order_by=lambda row: -irrelevance(row))
    return (sum(ranked[: convention.k]) / irrelevant, 1.0) if irrelevant else None


def r_precision(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return relevant rows at ranks 1..R / R."""
    relevant = int(_relevant(rows, convention))
    return (_hits(rows, convention, relevant) / relevant, 1.0) if relevant else None


def success(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return 1 for a relevant row at ranks 1..k, else 0; or the share of a tie's orders that have one there."""
    if not _relevant(rows, convention):
        return None
    above, k = 0, convention.k or len(rows)
    for tie in _relevance_by_tie(rows, convention):
        n, r, m = len(tie), int(sum(tie)), min(len(tie), k - above)
        if r and m > 0 and convention.ties == "average":
            return (comb(n, m) - comb(n - r, m)) / comb(n, m), 1.0
        if r and m > 0:
            return float(any(tie[:m])), 1.0
        above += n
    return 0.0, 1.0


def rr(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return 1 / rank of the first relevant row; its mean over the orders of a tie where ties are averaged.

    With the count `all` or `found`, return the sum over the relevant rows at ranks 1..k / relevant rows, all or these.
    """
    relevant = _relevant(rows, convention)
    if not relevant:
        return None
    above, k = 0, convention.k or len(rows)
    if convention.count != "first":
        ranked = worth_by_rank(rows, convention, lambda row: relevance_of(row, convention.relevant))[:k]
        divisor = relevant if convention.count == "all" else sum(ranked)
        return (sum(hit / rank for rank, hit in enumerate(ranked, start=1)) / divisor if divisor else 0.0), 1.0
    for tie in _relevance_by_tie(rows, convention):
        n, r = len(tie), int(sum(tie))
        if r and convention.ties == "average":
            chances = ((above + j, comb(n - j, r - 1) / comb(n, r)) for j in range(1, n - r + 2))
            return sum(chance / rank for rank, chance in chances if rank <= k), 1.0
        if r:
            rank = above + 1 + tie.index(1.0)
            return (1 / rank if rank <= k else 0.0), 1.0
        above += n
    return 0.0, 1.0


def coverage(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return the rank of the last relevant row."""
    ranked = [relevance for tie in _relevance_by_tie(rows, convention) for relevance in tie]
    last = max((rank for rank, relevance in enumerate(ranked, start=1) if relevance), default=0)
    return (float(last), 1.0) if _relevant(rows, convention) else None


def bpref(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return the mean over the relevant rows of 1 - min(irrelevant rows above, R) / min(N, R)."""

    def relevance(row: Row) -> float:
        return relevance_of(row, convention.relevant)

    relevant = _relevant(rows, convention)
    counted = [row.judged and row.label >= 0 and not relevance(row) for row in rows]
    least = min(relevant, sum(counted))
    above, total = 0, 0.0
    for row in (row for tie in ties_by_score(rows, convention, relevance) for row in tie):
        if relevance(row):
            total += 1 - min(above, relevant) / least if above else 1.0
        else:
            above += row.judged and row.label >= 0
    return (total / relevant, 1.0) if relevant else None


def _relevant(rows: Sequence[Row], convention: Any) -> float:
    return sum(relevance_of(row, convention.relevant) for row in rows)


def _hits(rows: Sequence[Row], convention: Any, k: int | None) -> float:
    return sum(worth_by_rank(rows, convention, lambda row: relevance_of(row, convention.relevant))[:k])


def _relevance_by_tie(rows: Sequence[Row], convention: Any) -> list[list[float]]:
    ties = ties_by_score(rows, convention, lambda row: relevance_of(row, convention.relevant))
    return [[relevance_of(row, convention.relevant) for row in tie] for tie in ties]
