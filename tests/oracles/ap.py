"""AP: the precision at the relevant ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.oracles.rows import Row, is_relevant, ties_by_score, weighs_rows


def ap(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return sum of the precisions at relevant ranks / divisor."""

    def weight(row: Row) -> float:
        return row.weight if weighs_rows(convention) else 1.0

    def worth(row: Row) -> float:
        return weight(row) if row.judged and is_relevant(row.label, convention.relevant) else 0.0

    relevant = sum(worth(row) for row in rows)
    if not relevant:
        return None
    ties = [[(worth(row), weight(row)) for row in tie] for tie in ties_by_score(rows, convention, worth)]
    total, hits = _SUMS.get(convention.ties, _sum_of_rows)(ties, convention.k or len(rows))
    divisors = {"relevant": relevant, "cutoff": min(convention.k or relevant, relevant), "found": hits}
    divisor = divisors[convention.divisor]
    return (total / divisor if divisor else 0.0), 1.0


Ties = list[list[tuple[float, float]]]  # for each row of a tie: its worth, 0 if it is not relevant, and its weight


def _sum_of_rows(ties: Ties, k: int) -> tuple[float, float]:
    hits = seen = total = 0.0
    for worth, weight in [row for tie in ties for row in tie][:k]:
        hits, seen = hits + worth, seen + weight
        total += worth * hits / seen if worth else 0.0
    return total, hits


def _sum_of_ties(ties: Ties, k: int) -> tuple[float, float]:
    hits = seen = total = 0.0
    rank = 0
    for tie in ties:
        rank += len(tie)
        if rank > k:
            break
        worth = sum(row[0] for row in tie)
        hits, seen = hits + worth, seen + sum(row[1] for row in tie)
        total += worth * hits / seen if worth else 0.0
    return total, hits


def _expected_sum(ties: Ties, k: int) -> tuple[float, float]:
    above = before = 0
    total = 0.0
    for tie in ties:
        n, r = len(tie), sum(worth > 0 for worth, _ in tie)
        for j in range(1, n + 1):
            if r and above + j <= k:
                others = (j - 1) * (r - 1) / (n - 1) if n > 1 else 0.0
                total += r / n * (before + 1 + others) / (above + j)
        above, before = above + n, before + r
    return total, 0.0


_SUMS = {"average": _expected_sum, "together": _sum_of_ties}
