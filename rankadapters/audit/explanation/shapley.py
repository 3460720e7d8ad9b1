"""Exact Shapley values: a gap split over the choices that make it, by what each adds to every set of the others."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import factorial

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def subsets(players: Sequence[str]) -> list[tuple[str, ...]]:
    """All sets of players; the i-th player is in those whose number has bit i.

    >>> subsets(["a", "b"])
    [(), ('a',), ('b',), ('a', 'b')]
    """
    return [tuple(p for i, p in enumerate(players) if number >> i & 1) for number in range(1 << len(players))]


def split(values: Sequence[float]) -> list[float]:
    """Shapley value of each player, where `values` has the worth of each set as `subsets` numbers them.

    Computed in fractions and rounded once, so that the parts add up to the last value minus the first but for that
    rounding.

    References
    ----------
    Shapley (1953), A value for n-person games.

    Examples
    --------
    >>> split([0, 1, 1, 4])
    [2.0, 2.0]
    """
    exact = [Fraction(value) for value in values]
    n_players = (len(values) - 1).bit_length()
    weights = _weights(n_players)
    return [
        float(
            sum(
                weights[number.bit_count()] * (exact[number | 1 << player] - exact[number])
                for number in range(len(values))
                if not number >> player & 1
            )
        )
        for player in range(n_players)
    ]


def split_columns(values: Floats) -> Floats:
    """Shapley values of many games at once; shape (2^n, n_games) to (n, n_games)."""
    n_players = (len(values) - 1).bit_length()
    numbers = np.arange(len(values))
    weights = np.array([float(weight) for weight in _weights(n_players)])
    parts = np.empty((n_players, values.shape[1]))
    for player in range(n_players):
        without = numbers[numbers >> player & 1 == 0]
        sizes = [number.bit_count() for number in without.tolist()]
        # Differences first: a player that changes nothing has exactly 0.
        parts[player] = weights[sizes] @ (values[without | 1 << player] - values[without])
    return parts


@lru_cache(maxsize=16)
def _weights(n_players: int) -> tuple[Fraction, ...]:
    """Share of the orders in which a player comes right after a given set, by the size of the set."""
    sizes = range(n_players)
    return tuple(Fraction(factorial(s) * factorial(n_players - 1 - s), factorial(n_players)) for s in sizes)
