"""Measures that count relevant rows: Precision, Recall, FMeasure, FallOut, RPrecision, Success, RR, Coverage, Bpref."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

from tests.oracles.rows import Row, by_rank, degree, is_beyond, tied


def precision(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Relevant rows at ranks 1..k, by the divisor."""
    relevant = sum(degree(row, convention.relevant) != 0 for row in rows)
    if not relevant:
        return None
    n, found = (
        sum(row.retrieved for row in rows),
        by_rank(rows, convention, lambda row: degree(row, convention.relevant)),
    )
    k = convention.k or n
    divisor = {"k": k, "retrieved": min(k, n), "relevant": min(k, relevant), "one": 1}[convention.divisor]
    return (sum(found[: convention.k]) / divisor if divisor else 0.0), 1.0


def recall(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Relevant rows at ranks 1..k, by all relevant rows."""
    relevant = sum(degree(row, convention.relevant) for row in rows)
    found = by_rank(rows, convention, lambda row: degree(row, convention.relevant))
    return (sum(found[: convention.k]) / relevant, 1.0) if relevant else None


def f_measure(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """(x + 1) P R / (x P + R)."""
    relevant, n = sum(degree(row, convention.relevant) for row in rows), sum(row.retrieved for row in rows)
    if not relevant:
        return None
    hits = sum(by_rank(rows, convention, lambda row: degree(row, convention.relevant))[: convention.k])
    if not hits:
        return 0.0, 1.0
    k = convention.k or n
    precision, recall, x = (
        hits / (k if convention.divisor == "k" else min(k, n)),
        hits / relevant,
        convention.beta_squared,
    )
    return (x + 1) * precision * recall / (x * precision + recall), 1.0


def fall_out(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Irrelevant rows at ranks 1..k, by all irrelevant rows."""

    def irrelevant(row: Row) -> float:
        return float(row.judged) - degree(row, convention.relevant)

    all_of_them = sum(map(irrelevant, rows))
    found = by_rank(rows, convention, irrelevant, by=lambda row: -irrelevant(row))
    return (sum(found[: convention.k]) / all_of_them, 1.0) if all_of_them else None


def r_precision(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Relevant rows at ranks 1..R, by R."""
    relevant = int(sum(degree(row, convention.relevant) for row in rows))
    found = by_rank(rows, convention, lambda row: degree(row, convention.relevant))
    return (sum(found[:relevant]) / relevant, 1.0) if relevant else None


def success(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """1 or 0, or the share of the orders of a tie that have a relevant row in reach."""

    def worth(row: Row) -> float:
        return degree(row, convention.relevant)

    if not any(map(worth, rows)):
        return None
    above, k = 0, convention.k or len(rows)
    for tie in tied(rows, convention, worth):
        n, r, m = len(tie), int(sum(map(worth, tie))), min(len(tie), k - above)
        if r and m > 0 and convention.ties == "average":
            return (comb(n, m) - comb(n - r, m)) / comb(n, m), 1.0
        if r and m > 0:
            return float(any(map(worth, tie[:m]))), 1.0
        above += n
    return 0.0, 1.0


def rr(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """1 by the rank of the first relevant row, in the mean over the orders of its tie where ties are averaged."""

    def worth(row: Row) -> float:
        return float(row.judged and is_beyond(row.label, convention.relevant))

    if not any(map(worth, rows)):
        return None
    above, k = 0, convention.k or len(rows)
    for tie in tied(rows, convention, worth):
        n, r = len(tie), int(sum(map(worth, tie)))
        if r and convention.ties == "average":
            chances = ((above + j, comb(n - j, r - 1) / comb(n, r)) for j in range(1, n - r + 2))
            return sum(chance / rank for rank, chance in chances if rank <= k), 1.0
        if r:
            rank = above + 1 + [worth(row) for row in tie].index(1.0)
            return (1 / rank if rank <= k else 0.0), 1.0
        above += n
    return 0.0, 1.0


def coverage(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Rank of the last relevant row."""

    def worth(row: Row) -> float:
        return degree(row, convention.relevant)

    found = [worth(row) for tie in tied(rows, convention, worth) for row in tie]
    last = max((rank for rank, each in enumerate(found, start=1) if each), default=0)
    return (float(last), 1.0) if any(map(worth, rows)) else None


def bpref(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Mean over the relevant rows."""
    relevant = sum(degree(row, convention.relevant) for row in rows)
    least = min(relevant, sum(row.judged for row in rows) - relevant)
    above, total = 0, 0.0
    for row in (row for tie in tied(rows, convention, lambda row: degree(row, convention.relevant)) for row in tie):
        if degree(row, convention.relevant):
            total += 1 - min(above, relevant) / least if above else 1.0
        else:
            above += row.judged
    return (total / relevant, 1.0) if relevant else None
