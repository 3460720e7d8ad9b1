"""ERR: the reciprocal rank at which a reader who may stop at every row is expected to stop."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

from tests.oracles.rows import Row, as_float32, discount, graded, tied


def err(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Sum over the ranks of discount x chance to stop there, in the mean over the orders of averaged ties."""
    total, look, rank = 0.0, 1.0, 0
    for tie in tied(rows, convention, lambda row: _gain(row, convention)):
        several = [tie] if convention.ties == "average" else [[row] for row in tie]
        for group in several:
            chances = [_gain(row, convention) / convention.scale for row in group]
            stops, looks = _expectations(chances, [_complement(chance, convention) for chance in chances])
            for place, stop in enumerate(stops, start=rank + 1):
                if place <= (convention.k or place):
                    total += look * stop * discount(place, convention.discount)
            look *= looks
            rank += len(group)
    return total, 1.0


def _gain(row: Row, convention: Any) -> float:
    return graded(row, convention)


def _complement(chance: float, convention: Any) -> float:
    return as_float32(1 - chance) if convention.complement == "float32" else 1 - chance


def _expectations(chances: list[float], rests: list[float]) -> tuple[list[float], float]:
    """Chance to stop at each rank of a tie whose orders are all as likely, and to look beyond it.

    From symmetric polynomials: products of m rests, and of one chance and m other rests, summed over all choices.
    """
    n = len(chances)
    rest, stop = [1.0] + [0.0] * n, [0.0] * n
    for p, q in zip(chances, rests, strict=True):
        for m in range(n - 1, -1, -1):
            stop[m] += p * rest[m] + (q * stop[m - 1] if m else 0.0)
            rest[m + 1] += q * rest[m]
    return [each / (n * comb(n - 1, m)) for m, each in enumerate(stop)], rest[n]
