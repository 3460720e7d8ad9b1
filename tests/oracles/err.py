"""ERR: the expected reciprocal rank at which a reader stops who may stop at every row."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

from tests.oracles.rows import Row, discount, row_gain, ties_by_score


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
