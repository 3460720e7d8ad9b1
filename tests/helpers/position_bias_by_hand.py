"""Position bias in plain Python, row by row and pair by pair as its formulas say: what the library is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log
from typing import Any

import numpy as np

from rankadapters import objectives
from tests.helpers.pairwise_gradients_by_hand import query_gradients
from tests.oracles.rows import Row

Queries = Sequence[Sequence[Row]]
Derivatives = tuple[list[float], list[float]]


def moved(queries: Queries, by: Sequence[float]) -> list[list[Row]]:
    """The rows with something added to their scores."""
    added = iter(by)
    return [[replace(row, score=row.score + next(added)) for row in query] for query in queries]


class AddedByHand:
    """What `AdditiveBias` learns."""

    def __init__(self, value: objectives.AdditiveBias, positions: Sequence[int]) -> None:
        self.value, self.positions = value, positions
        self.biases = dict.fromkeys(sorted(set(positions)), np.float32(0))

    def scores(self, scores: Sequence[float]) -> list[float]:
        """Scores with the biases so far."""
        return [score + float(self.biases[p]) for score, p in zip(scores, self.positions, strict=True)]

    def learn(self, grad: Sequence[float], hess: Sequence[float]) -> None:
        """A Newton step."""
        for position, bias in self.biases.items():
            rows = [row for row, other in enumerate(self.positions) if other == position]
            shrinking = self.value.regularization * len(rows)
            push = -sum(float(grad[row]) for row in rows) - float(bias) * shrinking
            bend = -sum(float(hess[row]) for row in rows) - shrinking
            step = self.value.learning_rate * push / (abs(bend) + 0.001)
            self.biases[position] = np.float32(float(bias) + step)


class RatiosByHand:
    """What `BiasRatios` learns."""

    def __init__(self, value: objectives.BiasRatios, longest: int) -> None:
        self.value = value
        self.limit = min(value.limit or longest, longest)
        self.higher, self.lower = [1.0] * self.limit, [1.0] * self.limit

    def gradients(self, queries: Queries, objective: Any) -> Derivatives:
        """Gradients of a round, after which the ratios are those of the next."""
        gained, lost = [0.0] * self.limit, [0.0] * self.limit

        def divisor(a: int, b: int, delta: float, distance: float) -> float:
            if max(a, b) >= self.limit:
                return 1.0
            up, down = self.higher[a], self.lower[b]
            cost = self._cost(objective.sigma * distance) * delta
            gained[a] += cost / down if down >= 1e-16 else 0.0
            lost[b] += cost / up if up >= 1e-16 else 0.0
            return up * down if min(up, down) >= 1e-16 else 1.0

        pairs = [query_gradients(query, objective, divisor) for query in queries]
        # Trades that change nothing but for rounding make a first cost by which nobody can divide.
        self.settled = all(costs[0] >= 1e-9 or max(costs) == 0 for costs in (gained, lost))
        for costs, ratios in ((gained, self.higher), (lost, self.lower)):
            if costs[0] >= 1e-16:
                ratios[:] = [(cost / costs[0]) ** (1 / (1 + self.value.norm)) for cost in costs]
        return [g for grad, _ in pairs for g in grad], [h for _, hess in pairs for h in hess]

    def _cost(self, x: float) -> float:
        """-log of 1 / (1 + exp(-x)) or, mirrored, of 1 / (1 + exp(x))."""
        x = x if self.value.cost == "mirrored" else -x
        return x + log(1 + exp(-x)) if x > 0 else log(1 + exp(x))
