"""Exact Shapley values: each player's average contribution over all orders in which the players can join."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import factorial

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def subsets(players: Sequence[str]) -> list[tuple[str, ...]]:
    """Return all sets of players; the set at index n contains player i if bit i of n is 1.

    >>> subsets(["a", "b"])
    [(), ('a',), ('b',), ('a', 'b')]
    """
    return [tuple(p for i, p in enumerate(players) if number >> i & 1) for number in range(1 << len(players))]


def split(values: Sequence[float]) -> list[float]:
    """Return each player's Shapley value, given the values of all sets of players in the order of `subsets`.

    The values are exact fractions, each rounded once at the end. But for that rounding they add up to the last entry
    of `values` minus the first.

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
    """Return the Shapley values of many games at once, shape (n, n_games), from `values` of shape (2^n, n_games)."""
    n_players = (len(values) - 1).bit_length()
    numbers = np.arange(len(values))
    weights = np.array([float(weight) for weight in _weights(n_players)])
    parts = np.empty((n_players, values.shape[1]))
    for player in range(n_players):
        without = numbers[numbers >> player & 1 == 0]
        sizes = [number.bit_count() for number in without.tolist()]
        # Subtract first, so that a player without any effect gets exactly 0.
        parts[player] = weights[sizes] @ (values[without | 1 << player] - values[without])
    return parts


@lru_cache(maxsize=16)
def _weights(n_players: int) -> tuple[Fraction, ...]:
    """Return the Shapley weight s! (n - 1 - s)! / n! of what a player adds to a set of s players, for each s."""
    sizes = range(n_players)
    return tuple(Fraction(factorial(s) * factorial(n_players - 1 - s), factorial(n_players)) for s in sizes)
