"""Exact Shapley values: each player's average contribution over all orders in which the players can join."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Floats


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
    return list(map(float, _split(np.array(list(map(Fraction, values)), object), Fraction)))


def split_columns(values: Floats) -> Floats:
    """Return the Shapley values of many games at once, shape (n, n_games), from `values` of shape (2^n, n_games)."""
    return np.array(_split(values, float)).reshape(-1, values.shape[1])


def _split(values: NDArray[Any], kind: type) -> list[Any]:
    """Weigh what a player adds to each set of s others by s! (n - 1 - s)! / n!, in numbers of a kind."""
    n_players, numbers = (len(values) - 1).bit_length(), np.arange(len(values))
    weights = [
        kind(Fraction(factorial(s) * factorial(n_players - 1 - s), factorial(n_players))) for s in range(n_players)
    ]
    parts = []
    for player in range(n_players):
        without = numbers[numbers >> player & 1 == 0]
        of_sizes = np.array([weights[number.bit_count()] for number in without.tolist()])
        # Subtract first, so that a player without any effect gets exactly 0.
        parts.append(of_sizes @ (values[without | 1 << player] - values[without]))
    return parts
