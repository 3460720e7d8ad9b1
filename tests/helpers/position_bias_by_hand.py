"""Position bias in plain Python, row by row and pair by pair as in its formulas; tests compare the package with it."""

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


def add_to_scores(queries: Queries, summands: Sequence[float]) -> list[list[Row]]:
    """Return the rows with one summand added to the score of each."""
    summand = iter(summands)
    return [[replace(row, score=row.score + next(summand)) for row in query] for query in queries]


class AdditiveBiasByHand:
    """The biases that `AdditiveBias` learns."""

    def __init__(self, value: objectives.AdditiveBias, positions: Sequence[int]) -> None:
        self.value, self.positions = value, positions
        self.biases = dict.fromkeys(sorted(set(positions)), np.float32(0))

    def scores(self, scores: Sequence[float]) -> list[float]:
        """Return scores with the current biases added."""
        return [score + float(self.biases[p]) for score, p in zip(scores, self.positions, strict=True)]

    def learn(self, grad: Sequence[float], hess: Sequence[float]) -> None:
        """Change every bias by a Newton step."""
        for position, bias in self.biases.items():
            rows = [row for row, row_position in enumerate(self.positions) if row_position == position]
            shrinking = self.value.regularization * len(rows)
            push = -sum(float(grad[row]) for row in rows) - float(bias) * shrinking
            bend = -sum(float(hess[row]) for row in rows) - shrinking
            step = self.value.learning_rate * push / (abs(bend) + 0.001)
            self.biases[position] = np.float32(float(bias) + step)


class BiasRatiosByHand:
    """The ratios that `BiasRatios` learns."""

    def __init__(self, value: objectives.BiasRatios, longest: int) -> None:
        self.value = value
        self.limit = min(value.limit or longest, longest)
        self.higher, self.lower = [1.0] * self.limit, [1.0] * self.limit

    def gradients(self, queries: Queries, objective: Any) -> Derivatives:
        """Return gradients and hessians of a round, and update the ratios for the next round."""
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
        # Swaps that change the measure by a rounding error only make a first cost too small to divide by.
        self.well_conditioned = all(costs[0] >= 1e-9 or max(costs) == 0 for costs in (gained, lost))
        for costs, ratios in ((gained, self.higher), (lost, self.lower)):
            if costs[0] >= 1e-16:
                ratios[:] = [(cost / costs[0]) ** (1 / (1 + self.value.norm)) for cost in costs]
        return [g for grad, _ in pairs for g in grad], [h for _, hess in pairs for h in hess]

    def _cost(self, x: float) -> float:
        """Return -log(1 / (1 + exp(x))) if the cost is mirrored, else -log(1 / (1 + exp(-x)))."""
        x = x if self.value.cost == "mirrored" else -x
        return x + log(1 + exp(-x)) if x > 0 else log(1 + exp(x))
